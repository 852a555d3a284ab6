#!/bin/sh
# Builds the program with the profile `dist` and what the compiler learns from runs of it (profile-guided
# optimisation): docs/performance.md says what that gains.
#
# Usage: scripts/pgo.sh [WORDS FOR cargo build...]     the package is ackord-cli
#
# Builds it twice, the first time so that it counts what it executes, into target/pgo. What it is to be quick at is
# below: the dumbbell of the benches, and scenarios of the library with everything a report wants to know. Both builds
# have the same features: the compiler finds a function again by the features of everything it depends on.
set -eu

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/pgo"
counting=$(cd "$target/pgo" && pwd)
find_profdata() {
    find "$(rustc --print sysroot)" -name llvm-profdata -type f | head -n 1
}
profdata=$(find_profdata)
if [ -z "$profdata" ] && rustup component add llvm-tools; then
    profdata=$(find_profdata)
fi
if [ -z "$profdata" ]; then
    echo "pgo: no llvm-profdata, which rustup has as llvm-tools: nothing is built" >&2
    exit 1
fi

RUSTFLAGS="${RUSTFLAGS:-} -Cprofile-generate=$counting" \
    cargo build --profile dist --target-dir "$counting" --package ackord-cli "$@" </dev/null
trained=$counting/dist/ackord
# What the build's own programs counted is of no use.
rm -f "$counting"/*.profraw
for topology in host leaf; do
    for tcp in newreno cubic; do
        "$trained" bench dumbbell --flows 10 --topology "$topology" --tcp "$tcp" --duration "4 s" >/dev/null
        "$trained" bench dumbbell --flows 300 --topology "$topology" --tcp "$tcp" --duration "1500 ms" >/dev/null
    done
done
for scenario in dumbbell lossy-wifi cellular-hop reno-against-cubic request-response bufferbloat; do
    "$trained" run "$scenario" --json "$counting/run.json" >/dev/null
done
"$profdata" merge --output "$counting/ackord.profdata" "$counting"/*.profraw
rm -f "$counting"/*.profraw "$counting/run.json"
RUSTFLAGS="${RUSTFLAGS:-} -Cprofile-use=$counting/ackord.profdata" \
    cargo build --profile dist --package ackord-cli "$@" </dev/null
