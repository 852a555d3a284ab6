#!/bin/sh
# Formats every tracked Rust file, or with --check says which are not formatted. `cargo fmt` does not follow
# modules that a macro declares.
set -eu
git ls-files -z '*.rs' | xargs -0 rustfmt --edition 2024 "$@"
