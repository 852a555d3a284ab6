#!/usr/bin/env bash
# What a gateway costs the packets that this kernel forwards: iperf3 through a router between three network
# namespaces, without a gateway, with two packet sockets whose filters want nothing ("bare": what anything costs that
# listens at both interfaces), and with a gateway that observes, in turns.
#
#   benches/gateway/forwarding.sh [SECONDS [TURNS]]        5 seconds, 3 turns
#
# Goodput in Gbit/s of 1 and 8 connections, offloads on, and what the gateway's process took of the processors for
# each GB, which holds on a busy machine, too; what is left of a lasting iperf3 while a gateway is beside it; then, with one segment a packet, packets a second and how many of
# them the gateway did not see. Last the time that a ping takes. Nothing is left behind.
#
# The first two seconds of each connection are not counted (`iperf3 --omit 2`): slow start, the tenth of a second after
# which a gateway knows that it is fast, and the second after which it asks for the rest one by one. Each turn begins
# with another of the three, and each run waits until nobody compiles anything.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-5}
turns=${2:-3}
ackord=${CARGO_TARGET_DIR:-target}/release/ackord
for tool in ip iperf3 python3 ping; do
    command -v "$tool" >/dev/null || { echo "SKIPPED: no $tool"; exit 0; }
done
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: namespaces take root"; exit 0; }
[ -x "$ackord" ] || cargo build --release --package ackord-cli

. benches/quiet.sh

s=bench-s-$$ r=bench-r-$$ m=bench-m-$$
state=$(mktemp -d)
pids=()
clean_up() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    for name in $s $r $m; do ip netns del $name 2>/dev/null || true; done
    rm -rf "$state"
}
trap clean_up EXIT

for name in $s $r $m; do ip netns add $name && ip -n $name link set lo up; done
ip -n $r link add wan0 type veth peer name eth0 netns $s
ip -n $r link add lan0 type veth peer name eth0 netns $m
ip -n $s addr add 10.1.0.2/24 dev eth0 && ip -n $s link set eth0 up
ip -n $m addr add 10.2.0.2/24 dev eth0 && ip -n $m link set eth0 up
ip -n $r addr add 10.1.0.1/24 dev wan0 && ip -n $r link set wan0 up
ip -n $r addr add 10.2.0.1/24 dev lan0 && ip -n $r link set lan0 up
ip -n $s route add default via 10.1.0.1
ip -n $m route add default via 10.2.0.1
ip netns exec $r sysctl -qw net.ipv4.ip_forward=1
ip netns exec $m iperf3 --server >/dev/null & pids+=($!)
sleep 0.5

begin() {
    ip netns exec $r "$ackord" gateway run --wan wan0 --lan lan0 --remedy proxy-tcp --state "$state" 2>/dev/null &
    gateway=$!
    pids+=("$gateway")
    for _ in $(seq 50); do
        "$ackord" gateway status --state "$state" --json >/dev/null 2>&1 && return
        sleep 0.1
    done
    echo "the gateway did not begin" >&2
    exit 1
}
end() {
    "$ackord" gateway status --state "$state" --json >"$state/status.json"
    "$ackord" gateway stop --state "$state" >/dev/null 2>&1
    wait "$gateway"
}
bare() { # begins, or ends
    if [ "$1" = ends ]; then
        kill "$listener"
        wait "$listener" 2>/dev/null || true
        return
    fi
    ip netns exec $r python3 -c '
import ctypes, socket, struct, time
step = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))  # answers 0
sockets = []
for name in ("wan0", "lan0"):
    sockets.append(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
    sockets[-1].setsockopt(socket.SOL_SOCKET, 26, struct.pack("HP", 1, ctypes.addressof(step)))
    sockets[-1].bind((name, 3))
time.sleep(3600)' &
    listener=$!
    pids+=("$listener")
    sleep 0.3
}
goodput() { # connections
    nobody_compiles
    ip netns exec $s iperf3 --client 10.2.0.2 --omit 2 --time "$seconds" --parallel "$1" --json |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["end"]["sum_received"]["bits_per_second"] / 1e9)'
}
spent() { # what the gateway has taken of the processors, s (proc_pid_stat(5): user and system)
    local ticks
    ticks=$(cut -d' ' -f14,15 "/proc/$gateway/stat" | tr ' ' '+')
    python3 -c "print(($ticks) / $(getconf CLK_TCK))"
}
round_trip() { # the median of 2000 pings, us
    ip netns exec $s ping -q -c 2000 -i 0.001 10.2.0.2 | sed -n 's,.*= [0-9.]*/\([0-9.]*\)/.*,\1,p'
}
seen() {
    python3 -c '
import json, sys
rings = json.load(open(sys.argv[1]))["rings"]
lan = next(ring for ring in rings if ring["side"] == "lan")
print(lan["packets"], lan["lost"])' "$state/status.json"
}

median() { python3 -c 'import statistics, sys; print("%.3f" % statistics.median(map(float, sys.argv[1:])))' "$@"; }
echo "connections  turn  without  bare     with     bare/without  with/without  with/bare   (Gbit/s)  CPU of it, s/GB"
for connections in 1 8; do
    of_bare=() of_with=() of_both=()
    for turn in $(seq "$turns"); do
        for at in 0 1 2; do
            case $(((turn + at) % 3)) in
            0) without=$(goodput "$connections") ;;
            1)
                bare begins
                bare=$(goodput "$connections")
                bare ends
                ;;
            2)
                begin
                before=$(spent)
                with=$(goodput "$connections")
                # The seconds that are not counted are about as good as the others.
                took=$(python3 -c "print(($(spent) - $before) / ($with * ($seconds + 2) / 8))")
                end
                ;;
            esac
        done
        read -r one two three < <(python3 -c "print($bare / $without, $with / $without, $with / $bare)")
        of_bare+=("$one") of_with+=("$two") of_both+=("$three")
        printf '%-12s %-5s %-8.2f %-8.2f %-8.2f %-13.3f %-13.3f %-21.3f %.4f\n' \
            "$connections" "$turn" "$without" "$bare" "$with" "$one" "$two" "$three" "$took"
    done
    printf '%-44s %-13s %-13s %s\n' "             medians of the ratios" \
        "$(median "${of_bare[@]}")" "$(median "${of_with[@]}")" "$(median "${of_both[@]}")"
done

echo
echo "a lasting iperf3, a gateway beside it in every second phase of 5 s: Gbit/s without, with/without of each phase"
for connections in 1 8; do
    nobody_compiles
    python3 benches/gateway/lasting.py $s $r 10.2.0.2 "$connections" "$turns" "$ackord" "$state"
done

echo
echo "round trip (mean of 2000 pings), us: without, with"
without=$(round_trip)
begin
with=$(round_trip)
end
python3 -c "print('%.1f  %.1f' % ($without * 1000, $with * 1000))"

echo
echo "one segment a packet, 8 connections: packets a second at the LAN interface, of them not seen"
# One segment a packet, from the sender on.
ip -n $s link set eth0 gso_max_segs 1
begin
goodput 8 >/dev/null
end
read -r packets lost < <(seen)
python3 -c "print('%.0f  %d of %d' % ($packets / ($seconds + 2), $lost, $packets))"
