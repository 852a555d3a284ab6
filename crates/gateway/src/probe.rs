//! What this kernel, this process and an interface allow, each with a reason and what to do about it.
//!
//! Everything is tried, not looked up: maps, programs and ways to attach them on a TAP device made for that,
//! which is gone afterwards. No interface is changed.

mod interface;

use crate::bpf::{Attachment, Heartbeat, Point, Steer, Suppressor};
use crate::device::Tap;
use crate::netlink::{Filter, Netlink};
use crate::{LinkKind, scheduling};
use std::fs;
use std::io;

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Allowed {
    /// It is there.
    Ok,
    /// It is there, but not as it could be.
    Limited,
    /// It is not there.
    Missing,
}

impl Allowed {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Allowed::Ok => "ok",
            Allowed::Limited => "limited",
            Allowed::Missing => "missing",
        }
    }
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub what: &'static str,
    /// At which interface; nothing where it is the machine's.
    pub interface: Option<String>,
    /// How it stands.
    pub state: Allowed,
    /// Why, or what was found.
    pub reason: String,
    /// What to do about it; nothing where there is nothing to be done.
    pub to_do: String,
}

impl Finding {
    fn new(what: &'static str, state: Allowed, reason: impl Into<String>, to_do: &str) -> Finding {
        let (reason, to_do) = (reason.into(), to_do.to_owned());
        Finding { what, interface: None, state, reason, to_do }
    }

    fn ok(what: &'static str, reason: impl Into<String>) -> Finding {
        Finding::new(what, Allowed::Ok, reason, "")
    }

    /// Missing where there is an error.
    fn of<T>(what: &'static str, tried: &io::Result<T>, good: &str, to_do: &str) -> Finding {
        match tried {
            Ok(_) => Finding::ok(what, good),
            Err(error) => Finding::new(what, Allowed::Missing, error.to_string(), to_do),
        }
    }
}

/// Looks at the machine, and at the interfaces of these names.
pub fn probe(interfaces: &[&str]) -> Vec<Finding> {
    let mut findings = vec![kernel()];
    findings.extend(capabilities());
    findings.extend(programs_confined());
    findings.push(real_time());
    findings.extend(forwarding());
    for name in interfaces {
        let of = interface::findings(name).into_iter();
        findings.extend(of.map(|one| Finding { interface: Some((*name).to_owned()), ..one }));
    }
    findings
}

fn kernel() -> Finding {
    let version = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version = version.trim();
    let mut numbers = version.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let (state, to_do) = match (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) {
        newer if newer >= (6, 6) => (Allowed::Ok, ""),
        newer if newer >= (5, 8) => (
            Allowed::Limited,
            "Linux 6.6 or newer attaches programs so that a crash leaves nothing",
        ),
        _ => (Allowed::Missing, "Linux 5.8 or newer: before, no packets can be queued or removed"),
    };
    Finding::new("kernel", state, format!("Linux {version}"), to_do)
}

/// What is needed for what, by number in linux/capability.h.
const CAPABILITIES: [(&str, u32, Allowed, &str); 4] = [
    (
        "CAP_NET_RAW",
        13,
        Allowed::Missing,
        "run it as root, or with this capability: packet sockets",
    ),
    ("CAP_NET_ADMIN", 12, Allowed::Missing, "run it as root, or with this capability: TAP devices"),
    ("CAP_BPF", 39, Allowed::Missing, "run it as root, or with this capability: programs and maps"),
    (
        "CAP_SYS_NICE",
        23,
        Allowed::Limited,
        "run it with this capability: a queue in the path on time",
    ),
];

fn capabilities() -> Vec<Finding> {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = line.and_then(|line| u64::from_str_radix(line.trim(), 16).ok()).unwrap_or(0);
    let finding = |(what, bit, otherwise, to_do)| match bits >> bit & 1 {
        1 => Finding::ok(what, "held"),
        _ => Finding::new(what, otherwise, "not held", to_do),
    };
    CAPABILITIES.into_iter().map(finding).collect()
}

/// The same as [`programs()`], with the rights that a running gateway keeps: some kernels take a program from root that
/// they refuse without CAP_PERFMON.
fn programs_confined() -> Vec<Finding> {
    let tried = std::thread::scope(|scope| {
        let confined = scope.spawn(|| {
            // Where it cannot be confined, it has no more rights than a gateway would.
            let _ = crate::sandbox::confine_thread();
            programs()
        });
        confined.join()
    });
    tried.unwrap_or_else(|_| vec![Finding::new("bpf", Allowed::Missing, "no thread", "")])
}

/// A TAP device, and programs on it.
fn programs() -> Vec<Finding> {
    let tap = Tap::open(LinkKind::Ethernet);
    let mut findings = vec![Finding::of(
        "TAP device",
        &tap,
        "with virtio headers; packets that offloading has put together come whole",
        "`modprobe tun`, or CONFIG_TUN in the kernel: a queue in the path",
    )];
    let heartbeat = Heartbeat::new();
    let program = heartbeat.as_ref().map_err(copy).and_then(|heartbeat| {
        let steer = Steer { to: 1, cookie: 0, secret: 0, kind: LinkKind::Ethernet };
        steer.load(heartbeat)
    });
    let to_do =
        "CONFIG_BPF_SYSCALL in the kernel, CAP_BPF: a queue in the path, ACKs that are removed";
    findings.push(Finding::of("bpf", &program, "maps and programs", to_do));
    findings.push(match Suppressor::try_load() {
        Ok(()) => Finding::ok("removal of ACKs", "the kernel takes the program"),
        Err(error) => {
            let to_do = "nothing: senders without timestamps gain less";
            Finding::new("removal of ACKs", Allowed::Limited, error.to_string(), to_do)
        }
    });
    let (Ok(tap), Ok(program)) = (&tap, &program) else {
        let without = "not tried without a TAP device and bpf";
        findings.push(Finding::new("TCX", Allowed::Missing, without, ""));
        findings.push(Finding::new("clsact", Allowed::Missing, without, ""));
        return findings;
    };
    let tcx = Attachment::by_tcx(program, (tap.index, Point::Egress));
    let clsact = try_clsact(tap.index, program.name(), program.descriptor());
    let newer = "Linux 6.6 or newer with CONFIG_NET_XGRESS";
    findings.push(match (&tcx, &clsact) {
        (Err(error), Ok(())) => {
            let reason =
                format!("{error}; programs are attached by clsact, which a journal undoes");
            Finding::new("TCX", Allowed::Limited, reason, newer)
        }
        _ => Finding::of("TCX", &tcx, "what is attached goes with the process", newer),
    });
    let to_do = "CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF in the kernel (kmod-sched-bpf)";
    findings.push(match (&tcx, clsact) {
        (Ok(_), Err(error)) => {
            Finding::new("clsact", Allowed::Limited, format!("{error}; not needed with TCX"), to_do)
        }
        (_, clsact) => Finding::of("clsact", &clsact, "filters of programs", to_do),
    });
    findings
}

fn copy(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}

/// On a device that is gone soon, with all that is attached to it.
fn try_clsact(index: u32, name: &str, program: i32) -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    netlink.add_clsact(index)?;
    let filter =
        Filter { interface: index, is_egress: true, priority: 48_000, program: name.to_owned() };
    netlink.add_filter(&filter, program)
}

fn real_time() -> Finding {
    // In a thread of its own: whoever asks is scheduled as before.
    let tried = std::thread::scope(|scope| scope.spawn(scheduling::may_go_first).join());
    match tried {
        Ok(Ok(())) => Finding::ok("real-time priority", "SCHED_FIFO is allowed"),
        Ok(Err(errno)) => {
            let to_do = "CAP_SYS_NICE, and a real-time share of the control group: otherwise packets \
                         of a queue in the path are late on a busy machine";
            Finding::new("real-time priority", Allowed::Limited, errno.desc(), to_do)
        }
        Err(_) => Finding::new("real-time priority", Allowed::Limited, "no thread", ""),
    }
}

fn setting(path: &str) -> Option<i64> {
    fs::read_to_string(format!("/proc/sys/net/{path}")).ok()?.trim().parse().ok()
}

fn forwarding() -> Vec<Finding> {
    let of = [
        ("IPv4 forwarding", "ipv4/ip_forward", "`sysctl net.ipv4.ip_forward=1`, unless it bridges"),
        (
            "IPv6 forwarding",
            "ipv6/conf/all/forwarding",
            "`sysctl net.ipv6.conf.all.forwarding=1`, unless it bridges",
        ),
    ];
    let finding = |(what, path, to_do)| match setting(path) {
        Some(0) => Finding::new(what, Allowed::Limited, "off", to_do),
        Some(_) => Finding::ok(what, "on"),
        None => Finding::new(what, Allowed::Missing, "this kernel does not have it", ""),
    };
    of.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Control;

    #[test]
    fn everything_is_looked_at_and_what_is_not_well_says_what_to_do() {
        let findings = probe(&["lo", "none-such"]);
        let of = |what, interface: Option<&str>| {
            let same = |one: &&Finding| one.what == what && one.interface.as_deref() == interface;
            findings.iter().find(same).unwrap_or_else(|| panic!("{what}: {findings:#?}"))
        };
        for what in [
            "kernel",
            "CAP_BPF",
            "TAP device",
            "bpf",
            "removal of ACKs",
            "TCX",
            "clsact",
            "real-time priority",
        ] {
            assert!(!of(what, None).reason.is_empty());
        }
        for what in ["link", "packet ring", "GRO", "LRO", "place"] {
            assert!(!of(what, Some("lo")).reason.is_empty());
        }
        let missing = of("interface", Some("none-such"));
        assert_eq!(missing.state, Allowed::Missing);
        assert!(missing.to_do.contains("ip link"));
    }

    #[test]
    fn nothing_is_there_afterwards_that_was_not_before() {
        // In a network namespace of this thread's own, where nobody else makes anything.
        if let Err(errno) = nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET) {
            return ackord_testing::skipped(format_args!("no network namespace: {}", errno.desc()));
        }
        let control = Control::open().expect("a socket");
        let tap = Tap::open(LinkKind::Ethernet).expect("root may make one");
        assert_eq!(control.present("ackord0").map(|present| present.index), Ok(tap.index));
        drop(tap);
        probe(&["lo"]);
        assert_eq!(control.present("ackord0"), Err(nix::errno::Errno::ENODEV));
    }
}
