//! The account of captures as JSON: `cargo run --release -p ackord-diagnose --example account -- JOBS FILE...`.

use ackord_diagnose::{Options, Reader, diagnose, without_progress};
use std::error::Error;
use std::path::Path;

#[expect(clippy::disallowed_methods, reason = "an example is a command line")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut readers = Vec::new();
    let mut arguments = std::env::args().skip(1);
    let jobs = arguments.next().ok_or("account JOBS FILE...")?.parse()?;
    for (number, name) in (0..).zip(arguments) {
        readers.push(Reader::open(Path::new(&name), number)?);
    }
    let options = Options { jobs, ..Options::default() };
    let (diagnosis, _) = diagnose(readers, &options, &mut without_progress)?;
    println!("{}", serde_json::to_string_pretty(&diagnosis)?);
    Ok(())
}
