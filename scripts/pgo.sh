#!/bin/sh
# Builds the program with the profile `dist` and what the compiler learns from runs of it (profile-guided
# optimisation): a seventh fewer instructions per packet (docs/performance.md).
#
# Usage: scripts/pgo.sh [WORDS FOR cargo build...]     the package is ackord-cli
#
# Builds it twice, the first time so that it counts what it executes, into target/pgo. What it is to be quick at is
# below: the dumbbell of the benches, and scenarios of the library with everything a report wants to know.
set -eu

target=${CARGO_TARGET_DIR:-target}
counting=$target/pgo
profile=$counting/ackord.profdata
find_profdata() {
    find "$(rustc --print sysroot)" -name llvm-profdata -type f | head -n 1
}
profdata=$(find_profdata)
if [ -z "$profdata" ] && rustup component add llvm-tools; then
    profdata=$(find_profdata)
fi
if [ -z "$profdata" ]; then
    echo "pgo: no llvm-profdata, which rustup has as llvm-tools: built without" >&2
    exec cargo build --profile dist --package ackord-cli "$@"
fi

mkdir -p "$counting"
rm -rf "$counting"/*.profraw "$profile"
counting=$(cd "$counting" && pwd)
RUSTFLAGS="${RUSTFLAGS:-} -Cprofile-generate=$counting" \
    cargo build --profile dist --target-dir "$counting" --package ackord-cli --no-default-features
trained=$counting/dist/ackord
# What the build's own programs counted is of no use.
rm -f "$counting"/*.profraw
for topology in host leaf; do
    "$trained" bench dumbbell --flows 10 --topology "$topology" --duration "4 s" >/dev/null
    "$trained" bench dumbbell --flows 300 --topology "$topology" --duration "1500 ms" >/dev/null
done
for scenario in dumbbell lossy-wifi cellular-hop reno-against-cubic request-response bufferbloat; do
    "$trained" run "$scenario" --set "duration=10 s" --json "$counting/run.json" >/dev/null
done
"$profdata" merge --output "$profile" "$counting"/*.profraw
RUSTFLAGS="${RUSTFLAGS:-} -Cprofile-use=$counting/ackord.profdata" \
    cargo build --profile dist --package ackord-cli "$@"
