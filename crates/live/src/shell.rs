//! A command, or a shell, behind an emulated link.

mod blocks;
mod link;
mod spelling;

pub use blocks::Block;
pub use link::{LinkError, LinkOptions, ShellLink};
