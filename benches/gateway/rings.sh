#!/usr/bin/env bash
# How many packets a second one core of a gateway observes, with real rings: a router between two veth pairs, packets
# that the kernel itself makes and takes for received (crates/gateway/examples/offer), one core for the generator
# and all forwarding, another one for the gateway.
#
#   benches/gateway/rings.sh [SECONDS [CONNECTIONS [RATE...]]]        5 seconds, 10,000 connections
#
# Two of three packets are data towards the mobile hosts, one is an acknowledgment from them. Three loads:
#
#   data       1,448 octets, and all of it is kept (`[limits] copied` is raised)
#   headers    1,448 octets, and what passes `[limits] copied`, 1 Gbit/s, is only looked at: the default
#   short      400 octets, which stay below that, and are kept
#
# Of each rate, packets a second: offered; told by the gateway as passed and as lost; CPU, the share of its core that
# the gateway's process took; `amiss`, packets of which it told neither. After the last rate the gateway is stopped for
# a second, so that there is something to be told as lost. Nothing is left behind.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-5}
connections=${2:-10000}
rates=("${@:3}")
[ ${#rates[@]} -gt 0 ] || rates=(100000 200000 300000 400000 10000000)
target=${CARGO_TARGET_DIR:-target}
ackord=$target/release/ackord
offer=$target/release/examples/offer
for tool in ip python3 taskset; do
    command -v "$tool" >/dev/null || { echo "SKIPPED: no $tool"; exit 0; }
done
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: namespaces take root"; exit 0; }
[ "$(nproc)" -ge 2 ] || { echo "SKIPPED: generator and gateway take a core each"; exit 0; }
[ -x "$ackord" ] || cargo build --release --package ackord-cli
[ -x "$offer" ] || cargo build --release --package ackord-gateway --example offer

. benches/quiet.sh

s=rings-s-$$ r=rings-r-$$ m=rings-m-$$
state=$(mktemp -d)
gateway=
clean_up() {
    [ -z "$gateway" ] || kill -9 "$gateway" 2>/dev/null || true
    for name in $s $r $m; do ip netns del $name 2>/dev/null || true; done
    rm -rf "$state"
}
trap clean_up EXIT

for name in $s $r $m; do ip netns add $name; done
ip -n $r link add wan0 type veth peer name eth0 netns $s
ip -n $r link add lan0 type veth peer name eth0 netns $m
ip -n $s link set eth0 up && ip -n $m link set eth0 up
ip -n $r addr add 10.1.0.1/24 dev wan0 && ip -n $r link set wan0 up
ip -n $r addr add 10.2.0.1/24 dev lan0 && ip -n $r link set lan0 up
ip netns exec $r sysctl -qw net.ipv4.ip_forward=1
# Nobody has this address: whatever leaves is dropped at the other end before anything is done about it.
ip -n $r neigh add 10.1.0.2 lladdr 02:00:00:00:00:99 nud permanent dev wan0
ip -n $r neigh add 10.2.0.2 lladdr 02:00:00:00:00:99 nud permanent dev lan0

begin() { # copied
    cat >"$state/gateway.toml" <<END
wan = "wan0"
lan = "lan0"
remedy = "proxy-tcp"
control = "0 %"
[limits]
copied = "$1"
[metrics]
listen = "none"
[state]
directory = "$state"
END
    taskset -c 1 ip netns exec $r "$ackord" gateway run "$state/gateway.toml" 2>"$state/said" &
    gateway=$!
    for _ in $(seq 50); do
        status 2>/dev/null && return
        sleep 0.1
    done
    cat "$state/said" >&2
    exit 1
}
status() { "$ackord" gateway status --state "$state" --json >"$state/status.json"; }
settle() { # waits until it has described itself after all had passed: it does so once a second
    local over
    over=$(date +%s)
    for _ in $(seq 50); do
        sleep 0.2
        status
        python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["at_unix_s"] < float(sys.argv[2]))' \
            "$state/status.json" "$((over + 2))" && return
    done
    echo "the gateway does not describe itself any more" >&2
    exit 1
}
end() {
    "$ackord" gateway stop --state "$state" >/dev/null 2>&1
    wait "$gateway"
    gateway=
}
spent() { # what the gateway has taken of the processors, ticks (proc_pid_stat(5): user and system)
    echo $(($(cut -d' ' -f14,15 "/proc/$gateway/stat" | tr ' ' '+')))
}
generate() { # rate, octets of data, seconds
    taskset -c 0 ip netns exec $r "$offer" wan0 lan0 "$1" "$3" "$connections" "$2" >"$state/offered" ||
        { cat "$state/offered"; exit 0; }
}
row() { # load, rate asked for, ticks
    python3 - "$@" "$(getconf CLK_TCK)" "$state" <<'END'
import json, sys
load, asked, ticks, per_second, state = sys.argv[1:]
data, acks, took = open(f"{state}/offered").read().split()
offered, took = int(data) + int(acks), float(took)
status = json.load(open(f"{state}/status.json"))
lan = next(ring for ring in status["rings"] if ring["side"] == "lan")
seen, lost = lan["packets"] - lan["lost"], lan["lost"]
print(f"{load:8} {asked:>9} {offered / took:9.0f} {seen / took:9.0f} {lost / took:9.0f} {lost / offered:7.2%} "
      f"{int(ticks) / int(per_second) / took:6.1%} {offered - seen - lost:6} {status['flows']:11} "
      f"{status['injected_segments']:9} {status['loop_lateness']['p99_us']:9.0f}")
END
}
measure() { # load, octets, copied, rate
    nobody_compiles
    begin "$3"
    local before
    before=$(spent)
    generate "$4" "$2" "$seconds"
    local ticks=$(($(spent) - before))
    settle
    row "$1" "$4" "$ticks"
    end
}

echo "load         asked   offered      seen      lost    lost    CPU   amiss connections  injected  late p99, us"
for rate in "${rates[@]}"; do measure data 1448 "100 Gbit/s" "$rate"; done
for rate in "${rates[@]}"; do measure headers 1448 "1 Gbit/s" "$rate"; done
for rate in "${rates[@]}"; do measure short 400 "1 Gbit/s" "$rate"; done

echo
echo "the same, 200,000 a second, the gateway stopped for a second of them"
begin "100 Gbit/s"
before=$(spent)
{ sleep 2; kill -STOP "$gateway"; sleep 1; kill -CONT "$gateway"; } &
stopping=$!
generate 200000 1448 5
ticks=$(($(spent) - before))
wait $stopping
settle
row data 200000 "$ticks"
end
