#!/bin/sh
# Whether a long capture takes more memory than a short one: a gigabyte of a hundred connections; ten times that, each
# time as other hosts; and the hundred connections for six times as long.
#
# Usage: benches/diagnose/large.sh
set -eu

ackord=${ACKORD:-${CARGO_TARGET_DIR:-target}/release/ackord}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$ackord" run dumbbell-100 --set 'duration=8 s' --set 'record.captures=["bottleneck","bottleneck.reverse"]' \
    --pcap "$folder" >/dev/null 2>&1

cat >"$folder/again.py" <<'PYTHON'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
blocks, at, first = [], 0, None
while at < len(data):
    kind, length = struct.unpack_from("<II", data, at)
    if kind == 6:  # enhanced packet block: time in two halves, then the packet, of raw IPv4 here
        first = at if first is None else first
        blocks.append((at, (struct.unpack_from("<I", data, at + 12)[0] << 32) + struct.unpack_from("<I", data, at + 16)[0]))
    at += length
span = blocks[-1][1] - blocks[0][1] + 1_000_000_000
sys.stdout.buffer.write(data[:first])
for turn in range(int(sys.argv[2])):
    for at, time in blocks:
        time += turn * span
        struct.pack_into("<II", data, at + 12, time >> 32, time & 0xFFFFFFFF)
        ip = at + 28 + (0 if data[at + 28] >> 4 == 4 else 14)
        data[ip + 13] = data[ip + 17] = 100 + turn
    sys.stdout.buffer.write(memoryview(data)[first:])
PYTHON

# row NAME: of what comes on standard input.
row() {
    spent=$(command time -f '%U %S %M' "$ackord" diagnose - --no-predict --jobs 1 --json "$folder/json" 2>&1 >/dev/null | tail -1)
    packets=$(sed -n 's/^ *"frames": \([0-9]*\),$/\1/p' "$folder/json" | head -1)
    connections=$(grep -c '"vantage":' "$folder/json")
    echo "$spent" | awk -v name="$1" -v packets="$packets" -v connections="$connections" '{
        printf "| %s | %.2f | %d | %.0f | %.2f |\n", name, packets / 1e6, connections, $3 / 1024, packets / ($1 + $2) / 1e6 }'
}

echo '| through a pipe | packets, million | connections | memory, MB | packets per second of processor time, million |'
echo '| --- | ---: | ---: | ---: | ---: |'
file=$folder/bottleneck.at-n1.pcapng
row "$(ls -l "$file" | awk '{ printf "%.1f GB", $5 / 1e9 }')" <"$file"
python3 "$folder/again.py" "$file" 10 | row '10 times that, other connections each time'
free=$(df -Pk "$folder" | awk 'NR == 2 { print int($4 / 1e6) }')
if [ "$free" -lt 16 ]; then
    echo "SKIPPED: six times as long, the same connections: $folder has $free GB free, 16 are needed"
    exit 0
fi
rm "$file"
"$ackord" run dumbbell-100 --set 'duration=48 s' --set 'record.captures=["bottleneck","bottleneck.reverse"]' \
    --pcap "$folder" >/dev/null 2>&1
row "$(ls -l "$file" | awk '{ printf "%.1f GB", $5 / 1e9 }'), six times as long, the same connections" <"$file"
