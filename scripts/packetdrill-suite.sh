#!/bin/sh
# Plays packetdrill scripts against this TCP, unmodified, and says which pass.
#
#     scripts/packetdrill-suite.sh PACKETDRILL SCRIPT_OR_FOLDER...
#
# Each script has a network namespace of its own: its `sysctl` lines take effect there, and
# `sysctls=host` reads them. Nothing of ours uses a device, so the lines about devices (ip, tc,
# ethtool) find programs that do nothing. Needs root, as packetdrill does.
#
# FLAGS      more flags, after a comma (cc=reno)
# IP         ipv4 (unless you say otherwise), ipv6 or ipv4-mapped-ipv6
# MTU        bytes of the largest packet, unless a script sets it: 1500, and 1520 with ipv6
# LIBRARY    another build than target/release
set -u

if [ $# -lt 2 ]; then
    sed -n '2,15s/^# \{0,1\}//p' "$0"
    exit 2
fi
here=$(cd "$(dirname "$0")/.." && pwd)
library=$(realpath "${LIBRARY:-$here/target/release/libackord_packetdrill.so}")
packetdrill=$(realpath "$1")
shift
[ -f "$library" ] || { echo "no $library: cargo build --release --package ackord-packetdrill"; exit 2; }

case ${IP:=ipv4} in
    ipv6)
        mtu=${MTU:-1520}
        addresses="--local_ip=fd3d:0a0b:17d6::1 --gateway_ip=fd3d:0a0b:17d6:8888::1
                   --remote_ip=fd3d:fa7b:d17d::1"
        ;;
    *)
        mtu=${MTU:-1500}
        addresses="--local_ip=192.168.0.1 --gateway_ip=192.168.0.1 --netmask_ip=255.255.0.0
                   --remote_ip=192.0.2.1"
        ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
for program in ip tc ethtool; do
    printf '#!/bin/sh\n' > "$work/bin/$program"
    chmod +x "$work/bin/$program"
done

# In the namespace. A control that the host allows nobody but itself is refused there: then cubic,
# with which the public suite begins, is said in the flags.
cat > "$work/inside" <<'INSIDE'
PATH=$1:$PATH flags=$2 library=$3 packetdrill=$4
shift 4
sysctl -q net.ipv4.tcp_congestion_control=cubic 2> /dev/null || flags=cc=cubic,$flags
exec env LD_PRELOAD="$library" "$packetdrill" --so_filename="$library" --so_flags="$flags" "$@"
INSIDE

find "$@" -name '*.pkt' | sort > "$work/scripts"
passed=0 played=0
while read -r script; do
    played=$((played + 1))
    own=$(sed -n 's/^--mtu=//p' "$script")
    flags=sysctls=host,mtu=${own:=$mtu}${FLAGS:+,$FLAGS}
    # shellcheck disable=SC2086 # addresses are several arguments
    if (cd "$(dirname "$script")" && timeout 60 unshare --net sh "$work/inside" "$work/bin" \
            "$flags" "$library" "$packetdrill" --ip_version="$IP" --mtu="$own" $addresses \
            "$(basename "$script")") > "$work/said" 2>&1 < /dev/null; then
        passed=$((passed + 1))
        echo "OK    $script"
    else
        echo "FAIL  $script"
        sed 's/^/      /' "$work/said"
    fi
done < "$work/scripts"
echo "$passed of $played pass"
[ "$passed" -eq "$played" ]
