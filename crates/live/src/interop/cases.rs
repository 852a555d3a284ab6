//! The table of the cases.
//!
//! Everything a case allows stands in [`CASES`]; what is not said there has to be zero, or equal.

use super::case::{Case, Connections, Path, Programs, Sizes};
use super::expect::{Bound, Expect, Ours};
use super::program::Step;

const CLEAN: Path =
    Path { about: "10 Gbit/s, 50 us each way", link: &[("rate", "10 Gbit/s"), ("delay", "50 us")] };
const LOSS: Path = Path {
    about: "1 Gbit/s, 200 us each way, 10 % of the packets lost in both directions",
    link: &[
        ("rate", "1 Gbit/s"),
        ("delay", "200 us"),
        ("loss", "{ kind = \"random\", per_packet = \"10 %\" }"),
    ],
};
/// The upper fifth of a normal distribution begins 0.8416 deviations above its mean.
const REORDER: Path = Path {
    about: "200 Mbit/s, 2.7 ms each way, 20 % of the packets up to some ms later",
    link: &[
        ("rate", "200 Mbit/s"),
        ("delay", "1 ms"),
        (
            "jitter",
            "{ kind = \"per-packet\", distribution = \"normal\", deviation = \"2 ms\", \
             floor = \"2.683 ms\" }",
        ),
    ],
};
const DUPLICATE: Path = Path {
    about: "1 Gbit/s, 200 us each way, 5 % of the packets arrive twice",
    link: &[
        ("rate", "1 Gbit/s"),
        ("delay", "200 us"),
        ("duplicate", "{ kind = \"random\", per_packet = \"5 %\" }"),
    ],
};
const MARKING: Path = Path {
    about: "50 Mbit/s, 5 ms each way, CoDel that marks",
    link: &[
        ("rate", "50 Mbit/s"),
        ("delay", "5 ms"),
        ("queue", "{ kind = \"codel\", ecn = \"on\" }"),
    ],
};

/// Bytes of a request and of its answer on a short connection.
const REQUEST: u64 = 700;

fn to_kernel(bytes: u64) -> Programs {
    Programs::ByEnd {
        ours: vec![Step::Send(bytes), Step::Shut, Step::ReceiveToEnd, Step::Close],
        kernel: vec![Step::ReceiveToEnd, Step::Close],
    }
}

fn to_us(bytes: u64) -> Programs {
    Programs::ByEnd {
        ours: vec![Step::ReceiveToEnd, Step::Close],
        kernel: vec![Step::Send(bytes), Step::Shut, Step::ReceiveToEnd, Step::Close],
    }
}

const fn case(
    name: &'static str,
    about: &'static str,
    path: Path,
    programs: fn(&Sizes) -> Programs,
) -> Case {
    Case {
        name,
        about,
        programs,
        connections: Connections::One,
        path,
        settings: &[],
        sysctls: &[],
        ports: None,
        expect: &[],
    }
}

/// Nothing is lost. A host that is kept from running for some milliseconds may be probed for a lost
/// tail all the same (RFC 8985 §7), so that retransmissions are not held to zero.
const NO_RECOVERY: &[Expect] = &[
    Expect::Ours(Ours::FastRecoveries, Bound::Exactly(0)),
    Expect::Kernel("TcpExtTCPFastRetrans", Bound::Exactly(0)),
];
/// A SYN or SYN-ACK that comes once more, doubled or because the answer was lost, is challenged
/// (RFC 5961 §4); this kernel counts it as an error as well.
const SYN_AGAIN: [Expect; 3] = [
    Expect::Kernel("TcpInErrs", Bound::AtMost(2)),
    Expect::Kernel("TcpExtTCPChallengeACK", Bound::AtMost(2)),
    Expect::Kernel("TcpExtTCPSYNChallenge", Bound::AtMost(2)),
];
/// A kernel whose FIN is acknowledged late, because so many connections keep us busy, retransmits it;
/// the answer to that finds nobody any more.
const BUSY: &[Expect] = &[Expect::Kernel("TcpOutRsts", Bound::Counter("TcpRetransSegs"))];
const LOST: &[Expect] = &SYN_AGAIN;
/// Duplicates of the path are reported (RFC 2883), although the kernel has retransmitted nothing: it
/// calls such a report dubious, and then takes it for a block that says nothing.
const DOUBLED: &[Expect] = &[
    SYN_AGAIN[0],
    SYN_AGAIN[1],
    SYN_AGAIN[2],
    Expect::Kernel("TcpExtTCPSACKDiscard", Bound::Counter("TcpExtTCPDSACKIgnoredDubious")),
    // The second copy of the acknowledgment that closes finds nobody any more.
    Expect::Kernel("TcpOutRsts", Bound::AtMost(1)),
];
/// An acknowledgment that was overtaken by one of a later millisecond is older than it by its
/// timestamp, and PAWS discards it (RFC 7323 §5.3); nothing is lost by that. One that was overtaken by
/// the last one finds nobody any more.
const REORDERED: &[Expect] = &[
    Expect::Kernel("TcpExtPAWSEstab", Bound::Overtaken),
    Expect::Kernel("TcpExtPAWSOldAck", Bound::Overtaken),
    Expect::Kernel("TcpOutRsts", Bound::Overtaken),
    Expect::Kernel("TcpExtPAWSTimewait", Bound::Overtaken),
    Expect::Kernel("TcpExtTCPDSACKIgnoredOld", Bound::Overtaken),
];

/// Every case, in the order of the table.
pub static CASES: &[Case] = &[
    Case {
        expect: NO_RECOVERY,
        ..case("to-kernel", "we send", CLEAN, |sizes| to_kernel(sizes.bulk))
    },
    Case {
        expect: NO_RECOVERY,
        ..case("to-us", "the kernel sends", CLEAN, |sizes| to_us(sizes.bulk))
    },
    Case {
        expect: NO_RECOVERY,
        ..case("both-ways", "both send at the same time", CLEAN, |sizes| {
            let exchange = Step::Exchange { send: sizes.bulk, receive: sizes.bulk };
            let steps = vec![exchange, Step::Shut, Step::ReceiveToEnd, Step::Close];
            Programs::ByEnd { ours: steps.clone(), kernel: steps }
        })
    },
    Case {
        settings: &[("flows.both.tcp", "{ profile = \"rfc\" }")],
        ..case("rfc-to-kernel", "we send, made as the RFCs say", CLEAN, |sizes| {
            to_kernel(sizes.bulk)
        })
    },
    Case {
        settings: &[("flows.both.tcp", "{ profile = \"rfc\" }")],
        ..case("rfc-to-us", "we receive, made as the RFCs say", CLEAN, |sizes| to_us(sizes.bulk))
    },
    Case {
        sysctls: &[
            ("net.ipv4.tcp_timestamps", "0"),
            ("net.ipv4.tcp_sack", "0"),
            ("net.ipv4.tcp_window_scaling", "0"),
        ],
        ..case("no-options", "both send, the kernel agrees to no option", CLEAN, |sizes| {
            let exchange = Step::Exchange { send: sizes.some, receive: sizes.some };
            let steps = vec![exchange, Step::Shut, Step::ReceiveToEnd, Step::Close];
            Programs::ByEnd { ours: steps.clone(), kernel: steps }
        })
    },
    Case {
        expect: BUSY,
        connections: Connections::Short { at_once: 1 },
        ..case("short", "connections one after another, the client closes first", CLEAN, |_| {
            Programs::ByRole {
                client: vec![Step::Send(REQUEST), Step::Shut, Step::ReceiveToEnd, Step::Close],
                server: vec![Step::EchoToEnd, Step::Close],
            }
        })
    },
    Case {
        expect: BUSY,
        connections: Connections::Short { at_once: 64 },
        ..case("short-at-once", "64 connections at a time, the client closes first", CLEAN, |_| {
            Programs::ByRole {
                client: vec![Step::Send(REQUEST), Step::Shut, Step::ReceiveToEnd, Step::Close],
                server: vec![Step::EchoToEnd, Step::Close],
            }
        })
    },
    Case {
        connections: Connections::Short { at_once: 1 },
        ports: Some(100),
        ..case(
            "short-reuse",
            "connections one after another, the server closes first, 100 ports of the client's",
            CLEAN,
            |_| Programs::ByRole {
                client: vec![
                    Step::Send(REQUEST),
                    Step::Receive(REQUEST),
                    Step::ReceiveToEnd,
                    Step::Close,
                ],
                server: vec![Step::Echo(REQUEST), Step::Close],
            },
        )
    },
    case("half-close-ours", "we close our sending side, then the kernel sends", CLEAN, |sizes| {
        Programs::ByEnd {
            ours: vec![Step::Send(sizes.some), Step::Shut, Step::ReceiveToEnd, Step::Close],
            kernel: vec![Step::ReceiveToEnd, Step::Send(sizes.some), Step::Close],
        }
    }),
    case("half-close-kernel", "the kernel closes its sending side, then we send", CLEAN, |sizes| {
        Programs::ByEnd {
            ours: vec![Step::ReceiveToEnd, Step::Send(sizes.some), Step::Close],
            kernel: vec![Step::Send(sizes.some), Step::Shut, Step::ReceiveToEnd, Step::Close],
        }
    }),
    Case {
        expect: &[
            Expect::Ours(Ours::Resets, Bound::Exactly(1)),
            Expect::Kernel("TcpEstabResets", Bound::Exactly(1)),
        ],
        ..case("abort-ours", "we reset once what we sent has arrived", CLEAN, |sizes| {
            Programs::ByEnd {
                ours: vec![Step::Send(sizes.some), Step::Drained, Step::Reset],
                kernel: vec![Step::AwaitReset],
            }
        })
    },
    Case {
        expect: &[
            Expect::Kernel("TcpOutRsts", Bound::Exactly(1)),
            Expect::Kernel("TcpEstabResets", Bound::Exactly(1)),
            Expect::Kernel("TcpExtTCPAbortOnData", Bound::AtMost(1)),
        ],
        ..case("abort-kernel", "the kernel resets once what it sent has arrived", CLEAN, |sizes| {
            Programs::ByEnd {
                ours: vec![Step::AwaitReset],
                kernel: vec![Step::Send(sizes.some), Step::Drained, Step::Reset],
            }
        })
    },
    Case {
        // So that most of it has left when the last of it is written.
        settings: &[("flows.both.tcp.send_buffer", "256 KiB")],
        expect: &[
            Expect::Ours(Ours::Resets, Bound::Exactly(1)),
            Expect::Kernel("TcpEstabResets", Bound::Exactly(1)),
        ],
        ..case("abort-ours-amid", "we reset with data on its way", CLEAN, |sizes| Programs::ByEnd {
            ours: vec![Step::Send(sizes.some), Step::Reset],
            kernel: vec![Step::AwaitReset],
        })
    },
    Case {
        expect: &[
            Expect::Kernel("TcpOutRsts", Bound::Between(1, 1_000)),
            Expect::Kernel("TcpEstabResets", Bound::Exactly(1)),
            Expect::Kernel("TcpExtTCPAbortOnData", Bound::AtMost(1)),
        ],
        ..case("abort-kernel-amid", "the kernel resets with data on its way", CLEAN, |sizes| {
            Programs::ByEnd {
                ours: vec![Step::AwaitReset],
                kernel: vec![Step::Send(sizes.some), Step::Reset],
            }
        })
    },
    Case {
        settings: &[("flows.both.tcp.receive_buffer", "256 KiB")],
        expect: &[Expect::LastsAPause, Expect::Kernel("TcpExtTCPWinProbe", Bound::Between(1, 60))],
        ..case("zero-window-ours", "we do not read for a while", CLEAN, |sizes| Programs::ByEnd {
            ours: vec![Step::Pause(sizes.pause), Step::ReceiveToEnd, Step::Close],
            kernel: vec![Step::Send(sizes.some), Step::Shut, Step::ReceiveToEnd, Step::Close],
        })
    },
    Case {
        expect: &[
            Expect::LastsAPause,
            Expect::Ours(Ours::WindowProbes, Bound::Between(1, 60)),
            Expect::Kernel("TcpExtTCPToZeroWindowAdv", Bound::Between(1, 60)),
            // Our probe has a byte that does not fit (RFC 9293 §3.8.6.1).
            Expect::Kernel("TcpExtBeyondWindow", Bound::Between(0, 60)),
        ],
        ..case("zero-window-kernel", "the kernel's end does not read for a while", CLEAN, |sizes| {
            Programs::ByEnd {
                ours: vec![Step::Send(sizes.some), Step::Shut, Step::ReceiveToEnd, Step::Close],
                kernel: vec![Step::Pause(sizes.pause), Step::ReceiveToEnd, Step::Close],
            }
        })
    },
    Case {
        expect: LOST,
        ..case("loss-to-kernel", "we send through loss", LOSS, |sizes| to_kernel(sizes.bulk))
    },
    Case {
        expect: LOST,
        ..case("loss-to-us", "the kernel sends through loss", LOSS, |sizes| to_us(sizes.bulk))
    },
    Case {
        expect: REORDERED,
        ..case("reorder-to-kernel", "we send through reordering", REORDER, |sizes| {
            to_kernel(sizes.bulk)
        })
    },
    Case {
        expect: REORDERED,
        ..case("reorder-to-us", "the kernel sends through reordering", REORDER, |sizes| {
            to_us(sizes.bulk)
        })
    },
    Case {
        expect: DOUBLED,
        ..case("duplicate-to-kernel", "we send, packets are doubled", DUPLICATE, |sizes| {
            to_kernel(sizes.bulk)
        })
    },
    Case {
        expect: DOUBLED,
        ..case("duplicate-to-us", "the kernel sends, packets are doubled", DUPLICATE, |sizes| {
            to_us(sizes.bulk)
        })
    },
    Case {
        settings: &[("flows.both.tcp.ecn", "on")],
        sysctls: &[("net.ipv4.tcp_ecn", "1")],
        expect: &[
            Expect::Ours(Ours::EcnReductions, Bound::Between(1, 100_000)),
            Expect::KernelSeesMarks,
        ],
        ..case("ecn-to-kernel", "we send, a queue marks", MARKING, |sizes| to_kernel(sizes.bulk))
    },
    Case {
        settings: &[("flows.both.tcp.ecn", "on")],
        sysctls: &[("net.ipv4.tcp_ecn", "1")],
        expect: &[Expect::Kernel("TcpExtTCPDeliveredCE", Bound::Between(1, 100_000))],
        ..case("ecn-to-us", "the kernel sends, a queue marks", MARKING, |sizes| to_us(sizes.bulk))
    },
];
