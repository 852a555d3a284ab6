//! The account of captures as JSON: `cargo run --release -p ackord-diagnose --example account FILE...`.

use ackord_diagnose::{Options, Reader, diagnose, without_progress};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut readers = Vec::new();
    #[expect(clippy::disallowed_methods, reason = "an example is a command line")]
    for (number, name) in (0..).zip(std::env::args().skip(1)) {
        readers.push(Reader::open(Path::new(&name), number)?);
    }
    let options = Options { jobs: 1, ..Options::default() };
    let (diagnosis, _) = diagnose(readers, &options, &mut without_progress)?;
    println!("{}", serde_json::to_string_pretty(&diagnosis)?);
    Ok(())
}
