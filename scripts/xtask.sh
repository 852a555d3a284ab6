#!/bin/sh
# Runs checks of the workspace: scripts/xtask.sh layers sizes docs. The features of the dependencies follow from the
# packages that are selected: with all of them selected, this and `make test` share what they compile.
set -eu

# shellcheck disable=SC2046 # two words, or none
cargo build --quiet --workspace $(scripts/features.sh) --bin ackord-xtask
exec "${CARGO_TARGET_DIR:-target}/debug/ackord-xtask" "$@"
