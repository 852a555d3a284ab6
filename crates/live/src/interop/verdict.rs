//! Whether a row went as its case says, and if not, why.

use super::case::Case;
use super::expect::{Bound, Expect, Ours};
use super::outcome::{Evidence, Row};
use super::peer::PeerResult;
use super::program::Step;
use super::stream::{Checksum, Sender, Source};
use crate::host::ConnectionReport;
use ackord_tcp::CloseReason;
use ackord_units::Span;

/// What a kernel counts when something is wrong with its peer: zero, unless a case says otherwise.
const TROUBLE: &[&str] = &[
    "TcpInErrs",
    "TcpInCsumErrors",
    "IpInHdrErrors",
    "IpInDiscards",
    "Ip6InHdrErrors",
    "Ip6InDiscards",
    "TcpAttemptFails",
    "TcpEstabResets",
    "TcpOutRsts",
    "TcpExtPAWSActive",
    "TcpExtPAWSEstab",
    "TcpExtPAWSOldAck",
    "TcpExtPAWSTimewait",
    "TcpExtTSEcrRejected",
    "TcpExtBeyondWindow",
    "TcpExtTCPChallengeACK",
    "TcpExtTCPSYNChallenge",
    "TcpExtTCPSACKReneging",
    "TcpExtTCPSACKDiscard",
    "TcpExtTCPDSACKIgnoredOld",
    "TcpExtTCPAbortOnData",
    "TcpExtTCPAbortOnClose",
    "TcpExtTCPAbortOnTimeout",
    "TcpExtTCPAbortFailed",
    "TcpExtTCPAbortOnMemory",
    "TcpExtTCPReqQFullDrop",
    "TcpExtListenDrops",
    "TcpExtListenOverflows",
    "TcpExtEmbryonicRsts",
    "TcpExtTCPTimeWaitOverflow",
    "TcpExtTCPMD5Failure",
];

impl Bound {
    fn holds(self, value: i64, row: &Row) -> bool {
        match self {
            Bound::Exactly(wanted) => value == wanted,
            Bound::AtMost(most) => value <= most,
            Bound::Between(least, most) => (least..=most).contains(&value),
            Bound::Counter(name) => value <= row.kernel.value(name),
            Bound::Overtaken => value <= row.device.overtaken as i64,
        }
    }
}

/// Everything that went otherwise than the case says, in words.
pub(super) fn failures(row: &Row, evidence: &Evidence<'_>) -> Vec<String> {
    let mut failures = Vec::new();
    if let Some(why) = &evidence.broken_off {
        failures.push(why.clone());
    }
    match evidence.peer {
        Some(peer) => check_peer(evidence, peer, &mut failures),
        None => failures.push("the kernel's end left no result".to_owned()),
    }
    check_ends(evidence, &mut failures);
    check_device(row, &mut failures);
    check_counters(row, evidence.pause, &mut failures);
    failures
}

fn check_peer(evidence: &Evidence<'_>, peer: &PeerResult, failures: &mut Vec<String>) {
    if peer.error_count > 0 {
        let first = peer.errors.join("; ");
        failures.push(format!("the kernel's end: {} errors: {first}", peer.error_count));
    }
    if peer.done != evidence.connections {
        let (done, all) = (peer.done, evidence.connections);
        failures.push(format!("the kernel's end has finished {done} of {all} connections"));
    }
    let waits = |steps: &[Step]| steps.contains(&Step::AwaitReset);
    let resets = u32::from(waits(evidence.kernel_steps)) * evidence.connections;
    if peer.resets != resets {
        failures.push(format!("the kernel's end saw {} resets, not {resets}", peer.resets));
    }
}

/// What is wrong with the bytes, in words.
pub(super) fn byte_failures(evidence: &Evidence<'_>) -> Vec<String> {
    let mut failures = Vec::new();
    let Some(peer) = evidence.peer else { return vec!["no checksum of the kernel's".to_owned()] };
    let waits = |steps: &[Step]| steps.contains(&Step::AwaitReset);
    match waits(evidence.kernel_steps) || waits(evidence.our_steps) {
        false => check_whole(evidence, peer, &mut failures),
        true => check_prefixes(evidence, peer, &mut failures),
    }
    failures
}

/// Both ends worked out the checksum of what they sent and of what they received.
fn check_whole(evidence: &Evidence<'_>, peer: &PeerResult, failures: &mut Vec<String>) {
    let ours = evidence.ours;
    for (way, sent, received) in [
        (
            "from us to the kernel",
            (ours.sent, &ours.sent_checksum.hex()),
            (peer.received_bytes, &peer.received_sha256),
        ),
        (
            "from the kernel to us",
            (peer.sent_bytes, &peer.sent_sha256),
            (ours.received, &ours.received_checksum.hex()),
        ),
    ] {
        if sent != received {
            failures.push(format!(
                "{way}: {} bytes of SHA-256 {} were sent, {} of {} received",
                sent.0, sent.1, received.0, received.1
            ));
        }
    }
}

/// What arrived before a reset has to be the beginning of what was sent.
fn check_prefixes(evidence: &Evidence<'_>, peer: &PeerResult, failures: &mut Vec<String>) {
    let ours = evidence.ours;
    let beginning = |sender, len| Checksum::of_prefix(Source::new(evidence.seed, sender, 0), len);
    if peer.received_bytes > ours.sent
        || beginning(Sender::Ours, peer.received_bytes).hex() != peer.received_sha256
    {
        failures.push("what the kernel received is not the beginning of what we sent".to_owned());
    }
    if ours.received > peer.sent_bytes
        || beginning(Sender::Kernel, ours.received) != ours.received_checksum
    {
        failures.push("what we received is not the beginning of what the kernel sent".to_owned());
    }
    let quiet = evidence.our_steps.contains(&Step::Drained)
        || evidence.kernel_steps.contains(&Step::Drained);
    if quiet && (ours.sent != peer.received_bytes || ours.received != peer.sent_bytes) {
        failures.push("bytes that were acknowledged have not arrived".to_owned());
    }
}

fn check_ends(evidence: &Evidence<'_>, failures: &mut Vec<String>) {
    let expected = if evidence.our_steps.contains(&Step::Reset) {
        CloseReason::Aborted
    } else if evidence.our_steps.contains(&Step::AwaitReset) {
        CloseReason::ResetByPeer
    } else {
        CloseReason::Orderly
    };
    let otherwise = |report: &&ConnectionReport| report.close_reason != Some(expected);
    let mut wrong = evidence.reports.iter().filter(otherwise);
    if let Some(first) = wrong.next() {
        let count = 1 + wrong.count();
        let how = first.close_reason.map_or("still open".to_owned(), |why| format!("{why:?}"));
        failures.push(format!("{count} of our connections did not end {expected:?}, but {how}"));
    }
    let seen = evidence.reports.len();
    if seen != evidence.connections as usize {
        failures.push(format!("we saw {seen} connections, not {}", evidence.connections));
    }
}

fn check_device(row: &Row, failures: &mut Vec<String>) {
    if row.device.malformed > 0 {
        let count = row.device.malformed;
        failures.push(format!("{count} packets of the kernel were malformed for us"));
    }
    if row.device.refused > 0 {
        failures.push(format!("the kernel did not take {} packets", row.device.refused));
    }
    match row.malformed {
        Some(0) | None => {}
        Some(count) => failures.push(format!("tshark calls {count} packets malformed")),
    }
}

fn check_counters(row: &Row, pause: Span, failures: &mut Vec<String>) {
    let Case { expect, .. } = row.case;
    for expect in *expect {
        match *expect {
            Expect::Ours(what, bound) => {
                let value = match what {
                    Ours::FastRecoveries => row.events.fast_recoveries,
                    Ours::WindowProbes => row.events.window_probes,
                    Ours::EcnReductions => row.events.ecn_reductions,
                    Ours::Resets => row.events.resets,
                };
                if !bound.holds(value as i64, row) {
                    failures.push(format!("our {what}: {value}, expected {bound}"));
                }
            }
            Expect::Kernel(name, bound) => {
                let value = row.kernel.value(name);
                if !bound.holds(value, row) {
                    failures.push(format!("the kernel's {name}: {value}, expected {bound}"));
                }
            }
            Expect::LastsAPause if row.took < pause => {
                failures.push(format!("it took {}, less than the reader's pause", row.took));
            }
            Expect::KernelSeesMarks
                if row.kernel.value("IpExtInCEPkts") + row.kernel.value("Ip6InCEPkts") == 0 =>
            {
                failures.push("no marked packet came to the kernel".to_owned());
            }
            Expect::LastsAPause | Expect::KernelSeesMarks => {}
        }
    }
    let said = |name: &str| {
        expect.iter().any(|expect| matches!(expect, Expect::Kernel(said, _) if *said == name))
    };
    for name in TROUBLE.iter().filter(|name| !said(name)) {
        let value = row.kernel.value(name);
        if value != 0 {
            failures.push(format!("the kernel's {name}: {value}, expected 0"));
        }
    }
}
