#!/bin/sh
# Runs the fuzzing targets of fuzz/ for a while each: first everything in their corpora, then what
# libFuzzer makes of it. docs/fuzzing.md says what they check and what to do with a finding.
#
# Usage: [SEED=N] scripts/fuzz.sh SECONDS_EACH [TARGET...]
#
# With a SEED the inputs tried are the same every time, as many of them as the seconds allow, and what
# earlier runs have found is left aside.
#
# Where cargo-fuzz is missing it prints a line that starts with SKIPPED, as tests do.
set -u
cd "$(dirname "$0")/../fuzz" || exit 2

seconds=${1:?usage: scripts/fuzz.sh SECONDS_EACH [TARGET...]}
shift
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "SKIPPED fuzzing: cargo-fuzz is not installed; scripts/install.sh fuzz installs it"
    exit 0
fi

case ${CARGO_TARGET_DIR:-} in
"") CARGO_TARGET_DIR=$PWD/target ;;
/*) CARGO_TARGET_DIR=$CARGO_TARGET_DIR/fuzz ;;
*) CARGO_TARGET_DIR=$PWD/../$CARGO_TARGET_DIR/fuzz ;;
esac
export CARGO_TARGET_DIR

# Without a sanitizer: it would need a nightly compiler, and only `live` and the packetdrill door
# have code that is not safe. Counters of coverage and comparisons are all there.
began=$(date +%s)
if ! cargo fuzz build --fuzz-dir . --sanitizer none >build.log 2>&1; then
    cat build.log
    echo "fuzz: the targets do not compile"
    exit 1
fi
rm -f build.log
echo "fuzz: built in $(($(date +%s) - began)) s"
programs=$CARGO_TARGET_DIR/$(rustc -vV | sed -n 's/^host: //p')/release

# one TARGET: replays its corpus and goes on from there; new inputs go to found/.
one() {
    target=$1
    case $target in
    agent) more=../packaging/agent ;;
    scenario) more=../scenarios ;;
    script) more=../scripts/tcp ;;
    trace) more="../scenarios/traces ../crates/scenario/tests/traces" ;;
    *) more="" ;;
    esac
    found=found/${SEED:+seed-$SEED/}$target
    [ -z "${SEED:-}" ] || rm -rf "$found"
    mkdir -p "$found" "artifacts/$target"
    log=$found.log
    # shellcheck disable=SC2086 # a list of folders
    "$programs/$target" -seed="${SEED:-0}" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="artifacts/$target/" \
        "$found" "corpus/$target" $more >"$log" 2>&1
    status=$?
    inputs=$(sed -n 's/.*INITED.*corp: \([0-9]*\).*/\1/p' "$log")
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    speed=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
    if [ "$status" -eq 0 ]; then
        echo "fuzz: $target: $runs runs, $speed a second, from a corpus of ${inputs:-0} inputs"
        return 0
    fi
    echo "fuzz: $target: FAILED"
    grep -v -E '^#|^INFO|^\s+[0-9]+: |^Base64' "$log" | tail -40
    echo "fuzz: the input is in fuzz/artifacts/$target; again: $programs/$target THE-INPUT"
    return 1
}

# shellcheck disable=SC2046 # a list of names
[ $# -gt 0 ] || set -- $(cargo fuzz list --fuzz-dir .)
# As many at a time as there are processors.
most=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
failed=0
running=""
for target; do
    one "$target" &
    running="$running $!"
    # shellcheck disable=SC2086 # a list of numbers
    set -- $running
    if [ $# -ge "$most" ]; then
        wait "$1" || failed=1
        shift
        running=$*
    fi
done
for job in $running; do wait "$job" || failed=1; done
exit $failed
