#!/usr/bin/env bash
# What the agent's programs cost, by the kernel's own count (kernel.bpf_stats_enabled), what its process takes, and how
# much memory 100,000 connections do.
#
#   benches/agent/overhead.sh [SECONDS]        5 seconds
#
# iperf3 in a control group at 1 Gbit/s, segments of 1448 octets each by itself (GSO and GRO off by a device of one
# segment a packet: veth with gso_max_segs 1), with and without the agent; then as many connections as are asked for.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-5}
connections=${CONNECTIONS:-100000}
ackord=${CARGO_TARGET_DIR:-target}/release/ackord
for tool in ip iperf3 python3 bpftool nsenter clang; do
    command -v "$tool" >/dev/null || { echo "SKIPPED: no $tool"; exit 0; }
done
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: programs in the kernel take root"; exit 0; }
root=$(awk '$0 ~ / - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
[ -n "$root" ] || { echo "SKIPPED: no control groups of version 2"; exit 0; }
group=$root/ackord-overhead-$$
a=over-a-$$ b=over-b-$$
state=$(mktemp -d)
pin=$state/bpf/empty
stats=$(cat /proc/sys/kernel/bpf_stats_enabled)
pids=()
clean_up() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    echo "$stats" >/proc/sys/kernel/bpf_stats_enabled
    for name in $a $b; do ip netns del $name 2>/dev/null || true; done
    umount "$state/bpf" 2>/dev/null || true
    for _ in $(seq 50); do rmdir "$group" 2>/dev/null && break; sleep 0.1; done
    rm -rf "$state"
}
trap clean_up EXIT
mkdir "$group"
for name in $a $b; do ip netns add $name && ip -n $name link set lo up; done
ip -n $a link add eth0 type veth peer name eth0 netns $b
ip -n $a addr add 10.9.0.1/24 dev eth0 && ip -n $a link set eth0 up
ip -n $b addr add 10.9.0.2/24 dev eth0 && ip -n $b link set eth0 up
# One segment a packet.
ip -n $a link set eth0 gso_max_segs 1
ip -n $b link set eth0 gso_max_segs 1
bash -c 'echo $$ > "$0/cgroup.procs" && exec nsenter --net="$1" iperf3 --server' "$group" "/run/netns/$b" >/dev/null 2>&1 &
pids+=($!)
sleep 0.5
transfer() {
    bash -c 'echo $$ > "$0/cgroup.procs" && exec nsenter --net="$1" iperf3 --client 10.9.0.2 --bitrate 1G --time "$2" --json' \
        "$group" "/run/netns/$a" "$seconds" |
        python3 -c '
import json, sys
end = json.load(sys.stdin)["end"]
cpu = end["cpu_utilization_percent"]
rate = end["sum_received"]["bits_per_second"] / 1e9
print("%.3f Gbit/s, CPU of sender %.1f %%, of receiver %.1f %%" % (rate, cpu["host_total"], cpu["remote_total"]))'
}
begin() {
    nsenter --net=/run/netns/$b "$ackord" agent run --cgroup "$group" --state "$state" 2>/dev/null &
    agent=$!
    pids+=("$agent")
    for _ in $(seq 50); do "$ackord" agent status --state "$state" >/dev/null 2>&1 && return; sleep 0.1; done
    echo "the agent did not begin" >&2
    exit 1
}
# What a program takes that does nothing: counting, and being called.
clang -O2 -target bpf -x c -c -o "$state/empty.o" - <<'C'
__attribute__((section("cgroup_skb/ingress"), used)) int empty(void *packet) { return 1; }
char LICENSE[] __attribute__((section("license"), used)) = "GPL";
C
of_programs() { # names, ticks of the process
    bpftool --json prog show | python3 -c '
import json, sys
seconds, names, spent = float(sys.argv[1]), sys.argv[2].split(), float(sys.argv[3])
total = 0
for program in json.load(sys.stdin):
    if program.get("name") in names and program.get("run_cnt", 0) > 0:
        each = program["run_time_ns"] / program["run_cnt"]
        total += program["run_time_ns"]
        print("%-8s %8.0f calls a second, %.0f ns each" % (program["name"], program["run_cnt"] / seconds, each))
print("programs %.2f %% of a core, process %.2f %%" % (total / seconds / 1e7, spent / seconds * 100))
' "$seconds" "$1" "$(python3 -c "print($2 / $(getconf CLK_TCK))")"
}
. benches/quiet.sh
nobody_compiles
echo 1 >/proc/sys/kernel/bpf_stats_enabled
echo "without: $(transfer)"
mkdir "$state/bpf"
mount -t bpf none "$state/bpf"
bpftool prog load "$state/empty.o" "$pin"
bpftool cgroup attach "$group" cgroup_inet_ingress pinned "$pin"
echo "empty:   $(transfer)"
of_programs empty 0
bpftool cgroup detach "$group" cgroup_inet_ingress pinned "$pin"
umount "$state/bpf"
begin
ticks() { cut -d' ' -f14,15 "/proc/$agent/stat" | tr ' ' '+'; }
before=$(($(ticks)))
echo "with:    $(transfer)"
after=$(($(ticks)))
of_programs "told arrived" "$((after - before))"

echo
resident() { awk '/VmRSS/ { print $2 }' "/proc/$agent/status"; }
maps() { bpftool --json map show | python3 -c '
import json, sys
print(sum(one.get("bytes_memlock", 0) for one in json.load(sys.stdin) if one.get("name") in ("sockets", "reports", "orders", "classes", "applications")) // 1024)'; }
slab() { awk '/^(Slab|Percpu):/ { sum += $2 } END { print sum }' /proc/meminfo; }
rss0=$(resident)
# As many descriptors as a process may have here, two a connection.
each=8000
for number in $(seq $(((connections + 2 * each - 1) / (2 * each)))); do
    bash -c 'echo $$ > "$0/cgroup.procs" && ulimit -n "$(ulimit -Hn)" && exec python3 - "$1" "$2"' "$group" "$each" "$number" <<'P' &
import socket, sys, time
count, number = int(sys.argv[1]), int(sys.argv[2])
pairs = []
listener = socket.socket(); listener.bind((f"127.0.{1 + number}.1", 0)); listener.listen(4096)
for _ in range(count):
    c = socket.socket(); c.connect(listener.getsockname()); a, _ = listener.accept()
    c.send(b"x" * 100); a.recv(100); a.send(b"y" * 100); c.recv(100)
    pairs.append((c, a))
# Most were passed over when they opened: they are followed as they go on.
until = time.monotonic() + 240
while time.monotonic() < until:
    for c, a in pairs:
        c.send(b"x" * 100); a.recv(100); a.send(b"y" * 100); c.recv(100)
    time.sleep(1)
P
    pids+=($!)
done
for _ in $(seq 400); do
    sleep 0.5
    known=$("$ackord" agent status --state "$state" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["connections"])')
    [ "$known" -ge "$connections" ] && break
done
sleep 2
echo "$known connections (both ends of each are here, and count): process $(($(resident) / 1024)) MiB ($((rss0 / 1024)) before), maps $(($(maps) / 1024)) MiB"
"$ackord" agent status --state "$state" --json | python3 -c '
import json, sys
status = json.load(sys.stdin)
print("reports lost: %d, heartbeat worst %.0f ms" % (status["reports_lost"], status["heartbeat_worst_ms"]))'
