#!/bin/sh
# Runs tests and says at the end which ones this machine could not run, and how long each part took.
#
# Usage: scripts/test.sh all          every test but the long ones
#        scripts/test.sh long         reproductions of papers, examples in documentation, packetdrill's suites, the
#                                     guide, fuzzing
#        scripts/test.sh quick CRATE  one crate's tests, or without a name those that only compute
#
# A test that lacks a tool or a right prints a line that starts with SKIPPED and passes, so that a
# machine without root still tests the rest. SKIPS=forbidden makes such a line a failure, except
# `SKIPPED NAME: busy (` and `SKIPPED NAME: this kernel lacks `: a neighbour that takes the processors is no fault of
# the change, and a kernel cannot be installed.
# Lines that start with SCRIPTS, the number of scripts per folder, are repeated at the end.
set -u

target=${CARGO_TARGET_DIR:-target}
features=$(scripts/features.sh)
log=$target/test.log
junit=target/nextest/default/junit.xml
status=0
took=""

# part NAME COMMAND...: runs a part and notes how long it took.
part() {
    name=$1
    shift
    began=$(date +%s)
    "$@" || status=1
    took="$took
  $name: $(($(date +%s) - began)) s"
}

doc_tests() {
    # shellcheck disable=SC2086 # two words, or none
    cargo test --quiet --doc --workspace $features >"$log.doc" 2>&1 || { cat "$log.doc" && return 1; }
}

# What passing tests printed, from the file in which nextest keeps it.
printed() {
    sed -e 's/.*<system-\(out\|err\)>//' -e 's/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&amp;/\&/g' "$junit"
}

all() {
    rm -f "$junit"
    # shellcheck disable=SC2086 # two words, or none
    part build cargo nextest run --workspace $features --no-run --cargo-quiet
    [ "$status" -eq 0 ] || return
    # shellcheck disable=SC2086
    part tests cargo nextest run --workspace $features --cargo-quiet
    [ -f "$junit" ] || return
    printed >"$log"
    scripts=$(sed -n 's/^SCRIPTS //p' "$log")
    [ -z "$scripts" ] || printf '\nScripts played:\n%s\n' "$scripts"
    skipped=$(grep -E '^SKIPPED[ :]' "$log" | sort -u)
    [ -n "$skipped" ] || return
    printf '\nNot run on this machine:\n%s\n' "$skipped"
    if [ "${SKIPS:-allowed}" = forbidden ] && printf '%s\n' "$skipped" | grep -qv '^SKIPPED [^ ]*: \(busy (\|this kernel lacks \)'; then
        echo "and SKIPS=forbidden: that is a failure"
        status=1
    fi
}

# The time limits are those of an optimised program on a machine with nothing else to do, hence the slack.
scenarios() {
    # shellcheck disable=SC2086 # two words, or none
    cargo build --quiet --workspace $features --bin ackord || return 1
    python3 scripts/fuzz-scenarios.py "$target/debug/ackord" --files 600 --slack 8
}

# In one process, since the tests of a paper share its runs. The program is the one that `make test` compiles: with a
# single package selected, cargo would compile the crates below it again, with fewer features of their dependencies.
papers() {
    # shellcheck disable=SC2086 # two words, or none
    built=$(cargo test --quiet --workspace $features --no-run --message-format json)
    program=$(printf '%s\n' "$built" | sed -n 's/.*crates\/papers#.*"executable":"\([^"]*\)".*/\1/p')
    [ -n "$program" ] || { echo "test: cargo built no tests of ackord-papers" && return 1; }
    (cd crates/papers && "$program" --quiet)
}

long() {
    part "reproductions of papers" papers
    part "tests in documentation" doc_tests
    part "packetdrill's suites" scripts/packetdrill-page.py
    part "pages of the guide" scripts/xtask.sh guide
    part "scenarios at the ends of their ranges" scenarios
    # The same inputs every time, so that a change is not blamed for another's; `make fuzz` is free.
    part fuzzing env SEED=1 scripts/fuzz.sh 6
}

# Crates whose tests need nothing but a processor.
CORE="units wire events tcp script path traffic scenario sim measure history report"

quick() {
    packages=""
    for crate in ${1:-$CORE}; do packages="$packages --package ackord-$crate"; done
    # shellcheck disable=SC2086 # a list of words
    part tests cargo nextest run $packages --cargo-quiet
}

case ${1:-} in
all) all ;;
long) long ;;
quick) quick "${2:-}" ;;
*)
    sed -n 's/^# \(Usage\|      \): */\1 /p' "$0" >&2
    exit 2
    ;;
esac
printf '\nTook:%s\n' "$took"
[ "$status" -eq 0 ] || echo "FAILED"
exit "$status"
