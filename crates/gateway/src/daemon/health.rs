//! What an operator should know or change, as findings of a status, the worst first.

use super::DaemonError;
use super::carried::{Carried, Unseen};
use crate::config::GatewayConfig;
use crate::watch::{Finding, QueueState, QueueStatus, RingStatus, Severity};
use crate::{Connection, Drive, Interface, Port, Standing};
use ackord_daemon::unix_s;
use nix::net::if_::if_indextoname;

/// A reload that was refused.
#[derive(Debug)]
pub(super) struct Refused {
    at_unix_s: f64,
    why: String,
}

impl Refused {
    pub(super) fn new(error: &DaemonError) -> Refused {
        let text = error.to_string();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        // With the place in the file, without the line of the file itself.
        let first: Vec<&str> = lines.take(2).collect();
        Refused { at_unix_s: unix_s(), why: first.join(" ") }
    }
}

/// What findings are made from.
#[derive(Debug)]
pub(super) struct Health<'a> {
    pub(super) config: &'a GatewayConfig,
    pub(super) drive: &'a Drive,
    pub(super) rings: &'a [RingStatus],
    pub(super) queues: &'a [QueueStatus],
}

fn finding(severity: Severity, what: String, advice: impl Into<String>) -> Finding {
    Finding { severity, what, advice: advice.into() }
}

impl Health<'_> {
    /// Returns all findings.
    pub(super) fn findings(&self, refused: Option<&Refused>, carried: &Carried) -> Vec<Finding> {
        let mut found = Vec::new();
        found.extend(self.drive.ports().iter().filter_map(absent));
        found.extend(refused.map(not_reloaded));
        found.extend(self.exchanged());
        found.extend(self.bridged(carried));
        found.extend(self.queues.iter().filter_map(past_the_queue));
        found.extend(self.pace());
        found.extend(self.removal());
        found.extend(self.stood_down());
        found.extend(self.lost());
        found.sort_by_key(|finding| finding.severity);
        found
    }

    /// WAN and LAN exchanged; the rule is that of [`crate::Openings`].
    fn exchanged(&self) -> Option<Finding> {
        let openings = self.drive.engine().connections().openings();
        let all = openings.from_lan + openings.from_wan;
        openings.are_reversed().then(|| {
            finding(
                Severity::Warning,
                format!(
                    "of the last {all} connections {} were opened from the WAN side (`{}`)",
                    openings.from_wan, self.config.wan
                ),
                "mobile hosts are on the LAN side and open connections themselves: if they do so \
                 here, too, `wan` and `lan` are exchanged; if servers are on the LAN side, this is \
                 as it should be",
            )
        })
    }

    fn bridged(&self, carried: &Carried) -> Vec<Finding> {
        let wan = &self.config.wan;
        if let Some(bridge) = carried.bridge_of(wan) {
            let what = format!(
                "`{bridge}` is the bridge of which `{wan}` is a port: packets that it forwards between \
                 its ports do not pass `{bridge}` itself, and are not observed"
            );
            let advice = format!(
                "set `lan` to the port towards the mobile hosts (`ip link show master {bridge}`)"
            );
            return vec![finding(Severity::Warning, what, advice)];
        }
        let is_fast = |one: &Connection| one.pace.is_fast();
        if self.drive.engine().connections().iter().any(is_fast) {
            return Vec::new();
        }
        carried.unseen().iter().map(unseen).collect()
    }

    fn pace(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        for port in self.drive.ports().iter().filter(|port| port.copies_headers()) {
            found.push(finding(
                Severity::Remark,
                format!("so much leaves by `{}` that only headers are copied", port.name()),
                "what is lost now is not retransmitted from here; `[limits] copied` says from \
                 which rate on",
            ));
        }
        let is_fast = |one: &&Connection| one.pace.is_fast();
        let fast = self.drive.engine().connections().iter().filter(is_fast).count();
        if fast > 0 {
            found.push(finding(
                Severity::Remark,
                format!("connections too fast for a wireless link, now {fast}, are let pass"),
                "they get no remedy and are looked at for an eighth of the time, from which their \
                 bytes are estimated; `[limits] fast` says from which rate on",
            ));
        }
        found
    }

    fn removal(&self) -> Option<Finding> {
        self.drive.removal_trouble().map(|why| {
            finding(
                Severity::Warning,
                format!("duplicate acknowledgments are not removed: {why}"),
                "senders without timestamps gain less; it takes CAP_BPF and CAP_NET_ADMIN, and Linux \
                 5.8 or newer",
            )
        })
    }

    fn stood_down(&self) -> Vec<Finding> {
        let of = |class: &crate::Class| {
            let Standing::StoodDown { harm, .. } = class.standing() else { return None };
            Some(finding(
                Severity::Warning,
                format!("the remedy of `{}` stood down: {}", class.name(), harm.words()),
                "its connections are forwarded untouched; another remedy or other knobs may do \
                 better, and `[harm] retry` says when it is tried again",
            ))
        };
        self.drive.engine().classes().iter().filter_map(of).collect()
    }

    fn lost(&self) -> Vec<Finding> {
        let lost = self.rings.iter().filter(|ring| ring.lost > 0);
        lost.map(|ring| {
            finding(
                Severity::Warning,
                format!(
                    "{} of {} packets of `{}` were not seen: they went on unobserved",
                    ring.lost, ring.packets, ring.interface
                ),
                "the machine was too busy for a moment; if it goes on, give rules for fewer \
                 connections or the process a higher priority",
            )
        })
        .collect()
    }
}

/// An interface that is not observed.
fn absent(port: &Port) -> Option<Finding> {
    if port.index().is_some() {
        return None;
    }
    let (name, side) = (port.name(), port.interface().name());
    if let Some(why) = port.trouble() {
        let what = format!("`{name}` ({side}) is not observed: {why}");
        return Some(finding(
            Severity::Failure,
            what,
            "the gateway tries again ten times a second",
        ));
    }
    // The index survives a renaming.
    let renamed =
        (port.last_index() != 0).then(|| if_indextoname(port.last_index()).ok()).flatten();
    let advice = match renamed.and_then(|now| now.into_string().ok()).filter(|now| now != name) {
        Some(now) => format!(
            "it is called `{now}` now: change `{}` in the configuration, or its name back",
            port.interface().name()
        ),
        None => "the gateway waits for it; `ip link` lists those there are".to_owned(),
    };
    let effect = match port.interface() {
        Interface::Wan => "no acknowledgment can be injected",
        Interface::Lan(_) => "no connection behind it is observed",
    };
    let what = format!("there is no interface `{name}` ({side}): {effect}");
    Some(finding(Severity::Failure, what, advice))
}

fn not_reloaded(refused: &Refused) -> Finding {
    let ago = (unix_s() - refused.at_unix_s).max(0.0) / 60.0;
    finding(
        Severity::Warning,
        format!(
            "the last reload was refused {ago:.0} min ago, and the configuration of before goes on: {}",
            refused.why
        ),
        "correct the file (`ackord gateway check FILE`), then `ackord gateway reload`",
    )
}

fn past_the_queue(queue: &QueueStatus) -> Option<Finding> {
    let QueueState::Forwarding { why } = &queue.state else { return None };
    Some(finding(
        Severity::Warning,
        format!("packets for `{}` pass without the gateway's queue: {why}", queue.interface),
        "the gateway tries again by itself; `ackord gateway probe` shows what is missing",
    ))
}

fn unseen(unseen: &Unseen) -> Finding {
    let Unseen { interface, passed, ports } = unseen;
    let megabytes = passed.bytes as f64 / 1e6;
    let passed = format!(
        "{megabytes:.0} MB passed `{interface}` in 10 s, and the gateway saw {} packets of it",
        passed.packets
    );
    match ports.as_slice() {
        [] => finding(
            Severity::Warning,
            passed,
            "the hardware forwards them by itself (flow offload): turn that off for connections \
             that are to get help",
        ),
        ports => finding(
            Severity::Remark,
            passed,
            format!(
                "what a bridge forwards between its own ports is not observed; if mobile hosts \
                 reach the WAN that way, set `lan` to their port ({})",
                ports.join(", ")
            ),
        ),
    }
}
