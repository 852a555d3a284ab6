#!/usr/bin/env python3
"""Rewrites scripts of FreeBSD's TCP test suite (freebsd-net/tcp-testsuite) for a TCP with Linux's interface.

    scripts/packetdrill_freebsd.py SUITE FOLDER

writes each script of SUITE that can be rewritten to FOLDER/ipv4 or FOLDER/ipv6, and prints how many cannot be, by
reason. Only the spelling is changed, never which segment, result or error is expected:

- sysctls get Linux's names; those that set what Linux always does are left out (SYSCTLS)
- options that the TCP under test sends stand in Linux's order, padded with NOPs (OPTIONS)
- names of states in TCP_INFO are Linux's
- a segment at the edge of the receive window, which the script's name says it is, is put at the edge of a window of
  65,535 bytes, which FreeBSD rounds up to a multiple of the MSS (EDGES)
- of the two variants in `#ifdef STANDARD` and `#ifdef FreeBSD` the first one is played

What has no counterpart is left out: the value of SO_RCVBUF and windows other than 0, which depend on how a stack
accounts for its buffers, and programs that list or drop FreeBSD's connections (sockstat, tcpdrop).
"""

import re
import sys
from collections import Counter
from pathlib import Path

# FreeBSD's sysctl, its value as a regular expression, and Linux's settings for it.
SYSCTLS = [
    ("net.inet.tcp.sack.enable", r"[01]", "net.ipv4.tcp_sack={0}"),
    ("net.inet.tcp.rfc1323", r"[01]", "net.ipv4.tcp_timestamps={0} net.ipv4.tcp_window_scaling={0}"),
    ("net.inet.tcp.ecn.enable", r"[012]", "net.ipv4.tcp_ecn={0}"),
    ("net.inet.tcp.syncookies", r"[01]", "net.ipv4.tcp_syncookies={0}"),
    ("net.inet.tcp.keepidle", r"\d+000", "net.ipv4.tcp_keepalive_time={1}"),
    ("net.inet.tcp.keepintvl", r"\d+000", "net.ipv4.tcp_keepalive_intvl={1}"),
    ("net.inet.tcp.keepcnt", r"\d+", "net.ipv4.tcp_keepalive_probes={0}"),
    # The window scale follows from the larger one, as in Linux.
    ("kern.ipc.maxsockbuf", r"2097152", "net.ipv4.tcp_rmem='4096 131072 2097152'"),
    ("net.inet.tcp.recvspace", r"65536", ""),
    ("net.inet.tcp.sendspace", r"32768", ""),
    ("net.inet.tcp.hostcache.purgenow", r"1", ""),
    ("net.inet.tcp.blackhole", r"0", ""),
    ("net.inet.tcp.insecure_rst", r"0", ""),
    ("net.inet.tcp.insecure_syn", r"0", ""),
    ("net.inet.tcp.drop_synfin", r"[01]", ""),
    ("net.inet.tcp.syncookies_only", r"0", ""),
    ("net.inet.tcp.rexmit_initial", r"1000", ""),
    ("net.inet.tcp.rexmit_slop", r"200", ""),
    ("net.inet.tcp.rexmit_drop_options", r"0", ""),
    ("net.inet.tcp.delacktime", r"40", ""),
    ("net.inet.tcp.keepinit", r"75000", ""),
    ("net.inet.tcp.tolerate_missing_ts", r"0", ""),
]

# Options of segments that are sent.
OPTIONS = [
    (r"<mss (\d+),sackOK,eol,eol>", r"<mss \1,nop,nop,sackOK>"),
    (r"<mss (\d+),nop,wscale (\d+),sackOK,TS val +(\d+) ecr (\d+)>", r"<mss \1,sackOK,TS val \3 ecr \4,nop,wscale \2>"),
    (
        r"<mss (\d+),nop,wscale (\d+),nop,nop,TS val +(\d+) ecr (\d+)>",
        r"<mss \1,nop,nop,TS val \3 ecr \4,nop,wscale \2>",
    ),
    (r"<sack ([\d: ]+), ?nop, ?nop>", r"<nop,nop,sack \1>"),
]

STATES = {
    "TCPI_SYN_RECEIVED": "TCP_SYN_RECV",
    "TCPI_CLOSED": "TCP_CLOSE",
    "TCPI_FIN_WAIT_1": "TCP_FIN_WAIT1",
    "TCPI_FIN_WAIT_2": "TCP_FIN_WAIT2",
}

# Words in a script's name: the last byte of the window, and the one after it. Both stay where they are when a FIN
# arrives, which takes a byte of the window.
EDGES = {"right-edge": "65535", "outside-right": "65536"}
FREEBSDS_EDGE = r"(?<=[A-Z.] )( *)(6553[5-7]|657\d\d|662\d\d):\2(?=\(0\))"

# What cannot be rewritten: where it stands, and why not.
NEEDS = [
    ("Fast Open", r"fast-open/", r"TCP_FASTOPEN"),
    ("TCP over UDP, which Linux lacks", r"tcp-over-udp/", r"UDP_ENCAPS|udp_encapsulation"),
    ("ICMP, which is not modelled", r"rcv-icmp/", r"icmp_may_rst|icmp "),
    ("RFC 5961 turned off, which Linux lacks", None, r"insecure_(rst|syn)=1"),
    ("MD5 signatures", None, r"TCP_MD5SIG|tcp_md5_secret"),
    ("segments before a connection, for which Google's packetdrill has no addresses", r"-closed/", None),
    ("syntax of NPLab's packetdrill", None, r"\((class|hlim) |\)! |%\w+!|\]!"),
    ("an option of sockets that Linux lacks", None, r"TCP_(NOOPT|KEEPINIT|FUNCTION_BLK|RACK_\w+)|IPV6_USE_MIN_MTU"),
]


def unfit(path, text):
    """Returns why the script cannot be rewritten, or None."""
    for why, where, what in NEEDS:
        if (where and re.search(where, path)) or (what and re.search(what, text)):
            return why
    for name, value in re.findall(r"`sysctl -w ([\w.]+)=(\S+?)`", text):
        known = [linux for ours, values, linux in SYSCTLS if ours == name and re.fullmatch(values, value)]
        if not known:
            return "a sysctl that Linux lacks"
    return None


def command(text):
    """Returns Linux's command for one of FreeBSD's; `true` where there is none."""
    setting = re.fullmatch(r"sysctl -w ([\w.]+)=(\S+)", text)
    for name, values, linux in SYSCTLS if setting else []:
        if setting[1] == name and re.fullmatch(values, setting[2]) and linux:
            return "sysctl -q -w " + linux.format(setting[2], setting[2][:-3])
    return "true"


def line_for_linux(line):
    line = re.sub(r"`([^`]*)`", lambda found: f"`{command(found[1])}`", line)
    line = re.sub(r"getsockopt\(\d, SOL_SOCKET, SO_RCVBUF, .*", "`true`", line)
    if re.match(r"[\s+~\d.]*>", line):
        line = re.sub(r" win [1-9]\d*", "", line)
        for pattern, linux in OPTIONS:
            line = re.sub(pattern, linux, line)
    return re.sub(
        r"TCPI_(?!OPT)[A-Z_12]+", lambda found: STATES.get(found[0], found[0].replace("TCPI_", "TCP_")), line
    )


def for_linux(name, text):
    """Returns the script as a TCP with Linux's interface plays it."""
    edge = re.search("|".join(EDGES), name)
    if edge:
        number = EDGES[edge[0]]
        text = re.sub(FREEBSDS_EDGE, rf"\g<1>{number}:{number}", text)
    lines, played = [], True
    for line in text.splitlines():
        if line.startswith("#ifdef"):
            played = line.split()[1] == "STANDARD"
        elif line.startswith("#endif"):
            played = True
        elif played and not line.startswith("--ip_version"):
            line = line if line.startswith("//") else line_for_linux(line)
            # A command that does nothing at the time of the line before it is not worth a process.
            if not re.match(r"\s*\+?0\.00 `true`", line):
                lines.append(line)
    return "\n".join(lines) + "\n"


def rewrite(suite, folder):
    """Rewrites all scripts of `suite` to `folder` and returns how many cannot be rewritten, by reason."""
    left_out = Counter()
    for script in sorted(suite.rglob("*.pkt")):
        path, text = str(script.relative_to(suite)), script.read_text()
        why = unfit(path, text)
        if why:
            left_out[why] += 1
            continue
        version = re.search(r"--ip_version=(\w+)", text)
        target = folder / (version[1] if version else "ipv4") / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(for_linux(script.name, text))
    return left_out


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for why, count in sorted(rewrite(Path(sys.argv[1]), Path(sys.argv[2])).items()):
        print(f"{count:5} {why}")


if __name__ == "__main__":
    main()
