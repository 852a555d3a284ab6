//! Takes in what `make ui` built, if it did.

use std::path::Path;

/// From the crate's folder. The folder is always there, so that cargo can watch it.
const BUILT: &str = "../../ui/dist";

#[expect(clippy::disallowed_methods, reason = "this is how cargo speaks to a build script")]
fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed={BUILT}");
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::env::var("OUT_DIR").expect("cargo says where");
    for name in ["page.js", "page.css"] {
        // Either both or none: without its style the graph is of no use.
        let whole =
            Path::new(BUILT).join("page.js").exists() && Path::new(BUILT).join("page.css").exists();
        let text = if whole { std::fs::read(Path::new(BUILT).join(name))? } else { Vec::new() };
        std::fs::write(Path::new(&out).join(name), text)?;
    }
    Ok(())
}
