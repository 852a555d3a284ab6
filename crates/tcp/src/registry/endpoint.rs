//! The endpoint itself: sizes, options and timers.

use super::ON_OFF;
use ackord_units::{Bytes, Knob, KnobKind, Mechanism, Span};

/// The endpoint itself: what is neither of the five choices.
pub static ENDPOINT: Mechanism = Mechanism {
    name: "tcp",
    family: "endpoint",
    summary: "The TCP endpoint: sizes, options and timers",
    source: "RFC 9293",
    knobs: &[
        Knob {
            name: "mss",
            kind: KnobKind::Bytes { min: Bytes(88), max: Bytes(65_495) },
            default: "1460 B",
            doc: "Maximum segment size announced and used; options come out of it",
            source: "RFC 9293 §3.7.1, RFC 6691",
        },
        Knob {
            name: "initial_window",
            kind: KnobKind::Count { unit: "segments", min: 1, max: 100 },
            default: "10",
            doc: "Congestion window at the start of a connection",
            source: "RFC 6928 §2",
        },
        Knob {
            name: "initial_window_bound",
            kind: KnobKind::Choice(&["none", "rfc-6928", "rfc-3390", "rfc-5681"]),
            default: "none",
            doc: "What bounds initial_window in octets: nothing, 14600, 4380 (two segments if that is \
                  more), or two to four segments by their size. Segments of up to 1460 octets leave \
                  ten within RFC 6928's",
            source: "RFC 6928 §2, RFC 3390 §1, RFC 5681 §3.1",
        },
        Knob {
            name: "syn_losses_tolerated",
            kind: KnobKind::Count { unit: "times", min: 0, max: 255 },
            default: "0",
            doc: "How often a SYN or SYN-ACK may have been sent again without the initial window \
                  falling to one segment",
            source: "RFC 5681 §3.1 tolerates none, Linux one",
        },
        Knob {
            name: "max_window",
            kind: KnobKind::Count { unit: "segments", min: 1, max: 1_000_000 },
            default: "",
            doc: "Upper bound on what the sender keeps in flight; none when absent",
            source: "the base window of Chae and Choi 2004 §3.1; window_ in ns-2",
        },
        Knob {
            name: "receive_buffer",
            kind: KnobKind::Bytes { min: Bytes(1_000), max: Bytes(1_073_725_440) },
            default: "4 MiB",
            doc: "What the receiver can hold; bounds the advertised window",
            source: "RFC 9293 §3.8.6",
        },
        Knob {
            name: "send_buffer",
            kind: KnobKind::Bytes { min: Bytes(1_000), max: Bytes(1_073_725_440) },
            default: "4 MiB",
            doc: "What the application may have written that is not yet acknowledged",
            source: "RFC 9293 §3.9.1.2",
        },
        Knob {
            name: "receive_buffer_tuning",
            kind: ON_OFF,
            default: "off",
            doc: "Whether the receive buffer begins at receive_buffer_initial and grows to \
                  receive_buffer, by twice what the application reads in a round trip",
            source: "Weigle and Feng 2001; Linux's tcp_moderate_rcvbuf",
        },
        Knob {
            name: "receive_buffer_initial",
            kind: KnobKind::Bytes { min: Bytes(1_000), max: Bytes(1_073_725_440) },
            default: "64 KiB",
            doc: "What a receive buffer that tunes itself holds at first, in octets of data",
            source: "Linux's tcp_rmem[1] of 131072 octets announces 65535 at first",
        },
        Knob {
            name: "send_buffer_tuning",
            kind: ON_OFF,
            default: "off",
            doc: "Whether the send buffer begins at send_buffer_initial and grows to send_buffer, \
                  to twice cwnd",
            source: "Linux's tcp_sndbuf_expand; tcp_wmem in its ip-sysctl documentation",
        },
        Knob {
            name: "send_buffer_initial",
            kind: KnobKind::Bytes { min: Bytes(1_000), max: Bytes(1_073_725_440) },
            default: "16 KiB",
            doc: "What a send buffer that tunes itself holds at first",
            source: "Linux's tcp_wmem[1]",
        },
        Knob {
            name: "sack",
            kind: ON_OFF,
            default: "on",
            doc: "Selective acknowledgments, if the peer agrees",
            source: "RFC 2018",
        },
        Knob {
            name: "dsack",
            kind: ON_OFF,
            default: "on",
            doc: "Report octets received twice in the first SACK block, where SACK is in use",
            source: "RFC 2883 §4",
        },
        Knob {
            name: "timestamps",
            kind: ON_OFF,
            default: "on",
            doc: "Timestamps option, if the peer agrees",
            source: "RFC 7323 §3",
        },
        Knob {
            name: "window_scaling",
            kind: ON_OFF,
            default: "on",
            doc: "Window scale option, if the peer agrees",
            source: "RFC 7323 §2",
        },
        Knob {
            name: "ecn",
            kind: KnobKind::Choice(&["off", "on", "accept"]),
            default: "off",
            doc: "Explicit congestion notification: not at all, asked for and agreed to, or only \
                  agreed to when the peer asks",
            source: "RFC 3168 §6.1; accept is Linux's net.ipv4.tcp_ecn = 2",
        },
        Knob {
            name: "pacing",
            kind: KnobKind::Choice(&["auto", "off", "on"]),
            default: "auto",
            doc: "Whether data leaves no faster than a rate: if the congestion control asks for it, \
                  never, or always (without a rate of the control's own at 2 cwnd/SRTT in slow \
                  start, 1.2 cwnd/SRTT beyond)",
            source: "draft-ietf-ccwg-bbr-06 §5.6.2; Linux's tcp_pacing_ss_ratio and \
                     tcp_pacing_ca_ratio",
        },
        Knob {
            name: "rto_initial",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(120) },
            default: "1 s",
            doc: "Retransmission timeout before the first round-trip sample",
            source: "RFC 6298 §2.1",
        },
        Knob {
            name: "rto_min",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(10) },
            default: "1 s",
            doc: "Smallest retransmission timeout",
            source: "RFC 6298 §2.4; Linux uses 200 ms",
        },
        Knob {
            name: "rto_max",
            kind: KnobKind::Span { min: Span::from_secs(1), max: Span::from_secs(3600) },
            default: "60 s",
            doc: "Largest retransmission timeout",
            source: "RFC 6298 §2.5",
        },
        Knob {
            name: "rto_variance",
            kind: KnobKind::Choice(&["every-sample", "peak-of-round"]),
            default: "every-sample",
            doc: "How the variance enters the retransmission timeout: RTTVAR with rto_min as floor \
                  of the whole, or the largest deviation of recent round trips with rto_min as its \
                  own floor",
            source: "RFC 6298 §2; peak-of-round is Linux's, Sarolahti and Kuznetsov 2002 §4",
        },
        Knob {
            name: "rtt_sampling",
            kind: KnobKind::Choice(&["every-ack", "one-at-a-time"]),
            default: "every-ack",
            doc: "What round trips are measured of: every acknowledgment, or one new segment at a \
                  time in whole ticks of clock_granularity",
            source: "RFC 6298 §4; one-at-a-time is 4.3BSD's and ns-2's",
        },
        Knob {
            name: "timer_tick",
            kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(1) },
            default: "0 s",
            doc: "Tick of the timers of the sending half, 1/HZ of a kernel: they expire one tick \
                  late, an eighth of the timeout where it is long; 0 s expires to the nanosecond",
            source: "Linux, kernel/time/timer.c: calc_wheel_index",
        },
        Knob {
            name: "clock_granularity",
            kind: KnobKind::Span { min: Span::from_micros(1), max: Span::from_secs(1) },
            default: "1 ms",
            doc: "G of the retransmission timeout, and the tick of the timestamps",
            source: "RFC 6298 §2.3, RFC 7323 §4.1",
        },
        Knob {
            name: "idle_restart",
            kind: KnobKind::Choice(&["off", "initial-window", "decay", "rfc-2861", "rfc-7661"]),
            default: "off",
            doc: "What becomes of cwnd when nothing was sent for longer than a retransmission \
                  timeout: nothing, the initial window at once, or half of it for each timeout \
                  (decay); rfc-2861 also lowers a window that is used in part for a timeout, \
                  rfc-7661 keeps it for five minutes but answers a loss by what the path has \
                  carried lately",
            source: "RFC 5681 §4.1; decay is Linux's; RFC 2861 §3; RFC 7661",
        },
        Knob {
            name: "cwnd_use",
            kind: KnobKind::Choice(&["full", "half-in-slow-start", "any"]),
            default: "full",
            doc: "When cwnd may grow: while it is full, in slow start also while half is in use, or \
                  with every acknowledgment of new data, however little is in use",
            source: "RFC 9293 §3.8.2, RFC 7661 §3; half-in-slow-start is Linux's; any is RFC 5681 \
                     §3.1 by itself, ns-2 and ns-3",
        },
        Knob {
            name: "frto",
            kind: ON_OFF,
            default: "off",
            doc: "F-RTO: after a timeout, new data shows whether anything was lost; if not, cwnd and \
                  ssthresh are given back",
            source: "RFC 5682, which leaves it to the sender",
        },
        Knob {
            name: "timeout_in_recovery",
            kind: KnobKind::Choice(&["reduces", "keeps"]),
            default: "reduces",
            doc: "Whether a timeout in fast recovery lowers ssthresh once more; keeps: it does not, \
                  F-RTO does not look into it, but into the next if that follows without any \
                  acknowledgment of new data",
            source: "RFC 5681 §3.1; keeps is Linux's",
        },
        Knob {
            name: "undo_growth",
            kind: ON_OFF,
            default: "off",
            doc: "Whether the acknowledgment that shows a repair to be spurious lets cwnd grow too, \
                  by what it covers, once cwnd is given back",
            source: "RFC 4015 §3 says nothing of it; on is Linux's",
        },
        Knob {
            name: "shrunk_window",
            kind: KnobKind::Choice(&["recent", "advancing-or-closed"]),
            default: "recent",
            doc: "Which acknowledgments may take back window that was offered: each recent one, or \
                  only those that acknowledge new data or close the window",
            source: "RFC 9293 §3.10.7.4; advancing-or-closed is Linux's since 6.6",
        },
        Knob {
            name: "duplicate_reports",
            kind: KnobKind::Choice(&["own", "plausible"]),
            default: "own",
            doc: "Which reports of duplicates (D-SACK) are taken in: those of octets sent again \
                  lately; or none while more duplicates have been reported than segments were ever \
                  sent again, as behind a box that repairs losses itself (below that any report \
                  widens RACK's window)",
            source: "RFC 2883 §5, RFC 3708 §4; plausible is Linux's",
        },
        Knob {
            name: "closed_window",
            kind: KnobKind::Choice(&["probe", "timeout"]),
            default: "probe",
            doc: "What watches over what is outstanding while the peer's window is closed: the \
                  persist timer, whose probes change nothing, or the retransmission timer, each of \
                  whose expiries counts as the first. Where nothing is outstanding, the probe is a \
                  new octet, or with timeout an empty segment from below the window",
            source: "RFC 9293 §3.8.6, §3.8.6.1; timeout is Linux's",
        },
        Knob {
            name: "offload",
            kind: ON_OFF,
            default: "off",
            doc: "Segmentation offload as it shows on the wire: PSH on the last of two or more segments of new \
                  data that leave together, as many as leave in a millisecond; and one that could leave by \
                  itself waits for another where the next acknowledgment is due. A kernel that receives \
                  acknowledges by itself what carries PSH",
            source: "Linux's tcp_tso_autosize, __tcp_transmit_skb, tcp_tso_should_defer",
        },
        Knob {
            name: "max_retransmissions",
            kind: KnobKind::Count { unit: "times", min: 1, max: 255 },
            default: "15",
            doc: "Timeouts in a row after which the connection is given up",
            source: "RFC 9293 §3.8.3 (R2)",
        },
        Knob {
            name: "syn_retransmissions",
            kind: KnobKind::Count { unit: "times", min: 1, max: 255 },
            default: "",
            doc: "Timeouts of a SYN after which opening is given up; max_retransmissions when absent",
            source: "RFC 9293 §3.8.3 asks for three minutes at least",
        },
        Knob {
            name: "syn_ack_retransmissions",
            kind: KnobKind::Count { unit: "times", min: 1, max: 255 },
            default: "",
            doc: "Timeouts of a SYN-ACK after which the connection is forgotten; \
                  max_retransmissions when absent",
            source: "RFC 9293 §3.8.3",
        },
        Knob {
            name: "syn_linear_timeouts",
            kind: KnobKind::Count { unit: "times", min: 0, max: 255 },
            default: "0",
            doc: "The first timeouts of a SYN that do not double the next one",
            source: "RFC 6298 §5.5 doubles each; Linux's net.ipv4.tcp_syn_linear_timeouts",
        },
        Knob {
            name: "r1_retransmissions",
            kind: KnobKind::Count { unit: "times", min: 1, max: 255 },
            default: "3",
            doc: "Timeouts in a row after which the application is told that delivery is in trouble",
            source: "RFC 9293 §3.8.3 (R1)",
        },
        Knob {
            name: "user_timeout",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(86_400) },
            default: "",
            doc: "How long data may stay unacknowledged before the connection is given up; as long \
                  as max_retransmissions allows when absent. Looked at when a timer expires; a \
                  closed window whose probes are answered does not count",
            source: "RFC 9293 §3.9.1.2, RFC 5482 §2",
        },
        Knob {
            name: "give_up",
            kind: KnobKind::Choice(&["reset", "silence"]),
            default: "reset",
            doc: "What a peer hears when an open connection is given up because it does not answer: \
                  a reset, or nothing. Keepalive ends with a reset in any case",
            source: "RFC 9293 §3.8.3 says \"close\"; reset is BSD's, silence is Linux's",
        },
        Knob {
            name: "keepalive",
            kind: ON_OFF,
            default: "off",
            doc: "Whether a peer that is silent for long is probed",
            source: "RFC 9293 §3.8.4 (off by default: MUST-25)",
        },
        Knob {
            name: "keepalive_idle",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(604_800) },
            default: "7200 s",
            doc: "Silence after which the first keepalive probe leaves",
            source: "RFC 9293 §3.8.4 (two hours at least by default: MUST-28)",
        },
        Knob {
            name: "keepalive_interval",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(86_400) },
            default: "75 s",
            doc: "From one keepalive probe to the next",
            source: "4.4BSD's and Linux's, RFC 9293 names none",
        },
        Knob {
            name: "keepalive_probes",
            kind: KnobKind::Count { unit: "probes", min: 1, max: 255 },
            default: "9",
            doc: "Keepalive probes without an answer after which the connection is given up",
            source: "Linux's; RFC 9293 §3.8.4 asks for more than one (MUST-29)",
        },
        Knob {
            name: "challenge_ack_limit",
            kind: KnobKind::Count { unit: "answers", min: 1, max: 1_000_000 },
            default: "10",
            doc: "How many segments without data that are refused may be answered within \
                  challenge_ack_interval: challenges, and what lies outside the window",
            source: "RFC 5961 §7's example",
        },
        Knob {
            name: "challenge_ack_interval",
            kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(3600) },
            default: "5 s",
            doc: "The interval that challenge_ack_limit speaks of; zero lifts the limit",
            source: "RFC 5961 §7's example",
        },
        Knob {
            name: "missing_timestamps",
            kind: KnobKind::Choice(&["accept", "drop"]),
            default: "accept",
            doc: "What becomes of a segment without a timestamp where both ends agreed on timestamps",
            source: "RFC 7323 §3.2 (SHOULD drop); accept is Linux's",
        },
        Knob {
            name: "repeated_syn",
            kind: KnobKind::Choice(&["acknowledged", "syn-ack"]),
            default: "acknowledged",
            doc: "What answers a SYN that comes again before the handshake is complete: an \
                  acknowledgment, or the SYN-ACK again",
            source: "RFC 9293 §3.10.7.4; syn-ack is Linux's",
        },
        Knob {
            name: "fin_wait_2_timeout",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(3600) },
            default: "",
            doc: "How long a connection that nobody reads any more waits for the peer's FIN; for \
                  ever when absent",
            source: "RFC 9293 has none; Linux's net.ipv4.tcp_fin_timeout",
        },
        Knob {
            name: "time_wait_resets",
            kind: KnobKind::Choice(&["accept", "ignore"]),
            default: "accept",
            doc: "Whether a reset may cut TIME-WAIT short",
            source: "RFC 9293 §3.10.7.4; ignore is the remedy of RFC 1337 §4",
        },
        Knob {
            name: "time_wait",
            kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(240) },
            default: "60 s",
            doc: "How long TIME-WAIT lasts (2 MSL)",
            source: "RFC 9293 §3.6.1 asks for 4 min; 60 s is what common stacks use",
        },
    ],
};
