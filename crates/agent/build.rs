//! Compiles the programs in the kernel, where they are wanted.

fn main() {
    // Whatever changes in there: headers, too.
    println!("cargo::rerun-if-changed=src/kernel");
    #[cfg(feature = "bpf")]
    skeleton();
}

#[cfg(feature = "bpf")]
#[expect(clippy::disallowed_methods, reason = "this is how cargo speaks to a build script")]
fn skeleton() {
    let out = std::env::var("OUT_DIR").expect("cargo says where");
    let out = std::path::Path::new(&out).join("agent.skel.rs");
    // Debian keeps headers that depend on the processor here, and clang does not look there for `bpf`.
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").expect("cargo says which");
    let headers = format!("-I/usr/include/{arch}-linux-gnu");
    libbpf_cargo::SkeletonBuilder::new()
        .source("src/kernel/agent.bpf.c")
        .clang_args(["-Wall", "-Werror", &headers])
        .build_and_generate(&out)
        .expect("clang compiles the programs (`make agent` installs what that takes)");
}
