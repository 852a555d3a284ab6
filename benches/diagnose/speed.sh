#!/bin/sh
# How fast captures are diagnosed, beside tcptrace, capinfos and tshark: the same file, processor time, three times each.
#
# Usage: benches/diagnose/speed.sh [FILE.pcap]
#
# Without a file it makes one of a gigabyte: a hundred connections over a bottleneck of 1 Gbit/s, 8 s. Tools that are not
# there are left out.
set -eu

ackord=${ACKORD:-${CARGO_TARGET_DIR:-target}/release/ackord}
. "$(dirname "$0")/../quiet.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

file=${1:-}
if [ -z "$file" ]; then
    "$ackord" run dumbbell-100 --set 'duration=8 s' --set 'record.captures=["bottleneck","bottleneck.reverse"]' \
        --pcap "$folder" >/dev/null 2>&1
    file=$folder/bottleneck.at-n1.pcapng
    if command -v editcap >/dev/null; then
        # tcptrace does not read pcapng.
        editcap -F pcap "$file" "$folder/all.pcap"
        file=$folder/all.pcap
    fi
fi
packets=$("$ackord" diagnose "$file" --no-predict --json - | sed -n 's/^ *"frames": \([0-9]*\),$/\1/p' | head -1)
ls -l "$file" | awk -v packets="$packets" '{ printf "%d packets, %.0f MB\n\n", packets, $5 / 1e6 }'

echo '| tool | packets per second of processor time | memory, MB |'
echo '| --- | --- | --- |'
# measure NAME COMMAND...: a row of the table, if the command is there.
measure() {
    name=$1
    shift
    command -v "$1" >/dev/null || return 0
    nobody_compiles
    for _ in 1 2 3; do
        command time -f '%U %S %M' "$@" 2>&1 >"$folder/out" | tail -1
    done | awk -v name="$name" -v packets="$packets" '
        { spent = $1 + $2; if (!least || spent < least) least = spent; if ($3 > most) most = $3 }
        END { printf "| %s | %.2f million | %.0f |\n", name, packets / least / 1e6, most / 1024 }'
}
measure 'ackord diagnose, one thread' "$ackord" diagnose "$file" --no-predict --jobs 1 --json "$folder/json"
measure 'ackord diagnose, two threads' "$ackord" diagnose "$file" --no-predict --jobs 2 --json "$folder/json"
measure 'tcptrace -n -l -r' tcptrace -n -l -r "$file"
measure 'capinfos -c' capinfos -c "$file"
measure 'tshark -z conv,tcp' tshark -q -z conv,tcp -r "$file"
