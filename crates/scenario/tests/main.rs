//! The file format from outside.
//!
//! One program for all of them: a test program for each would be linked, loaded and started anew.

mod broken;
mod canonical;
mod ends;
mod files;
mod generated;
mod groups;
mod library;
mod overrides;
mod schema;
mod standing;
