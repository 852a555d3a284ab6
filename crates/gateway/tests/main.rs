//! The gateway on this machine's kernel.

mod in_path;
