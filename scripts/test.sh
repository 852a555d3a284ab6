#!/bin/sh
# Runs every test and says at the end which ones this machine could not run.
#
# A test that lacks a tool or a right prints a line that starts with SKIPPED and passes, so that a
# machine without root still tests the rest. SKIPS=forbidden makes such a line a failure.
# Lines that start with SCRIPTS, the number of scripts per folder, are repeated at the end.
set -u

log=${CARGO_TARGET_DIR:-target}/test.log
mkdir -p "$(dirname "$log")"

# POSIX sh has no pipefail: the status of cargo goes around the pipe through a file.
{
    cargo test --no-fail-fast -- --show-output 2>&1
    echo $? >"$log.status"
} | tee "$log" | grep --line-buffered -E \
    '^(error|warning)|^ +--> |Running |Doc-tests |^test result|\.\.\. FAILED'
status=$(cat "$log.status")

# Every corpus, and a few seconds of what libFuzzer makes of it.
scripts/fuzz.sh 10 >"$log.fuzz" 2>&1 || status=1
cat "$log.fuzz" && cat "$log.fuzz" >>"$log"

scripts=$(sed -n 's/^SCRIPTS //p' "$log")
if [ -n "$scripts" ]; then
    printf '\nScripts played:\n%s\n' "$scripts"
fi
skipped=$(grep -E '^SKIPPED[ :]' "$log" | sort -u)
if [ -n "$skipped" ]; then
    printf '\nNot run on this machine:\n%s\n' "$skipped"
    if [ "${SKIPS:-allowed}" = forbidden ]; then
        echo "and SKIPS=forbidden: that is a failure"
        status=1
    fi
fi
passed=$(awk '/^test result/ { sum += $4 } END { print sum + 0 }' "$log")
if [ "$status" -eq 0 ]; then
    echo "all $passed tests passed; what they printed: $log"
else
    sed -n '/^failures:/,/^test result/p' "$log"
    grep '^fuzz: .*FAILED' "$log"
    echo "FAILED; what the tests printed: $log"
fi
exit "$status"
