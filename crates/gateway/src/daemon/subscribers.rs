//! Subscribers in a status: their totals, and what they did lately.

use super::describe::group;
use crate::watch::{Group, SubscriberStatus};
use crate::{Engine, SubscriberTotals};
use ackord_units::{Span, Time};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Age at which the newer of two snapshots becomes the older one: rates are over this time to twice as long.
const PERIOD: Span = Span::from_secs(10);

type Totals = BTreeMap<IpAddr, SubscriberTotals>;

/// Two earlier snapshots of all totals, with which the present ones are compared.
#[derive(Debug, Default)]
pub(super) struct Recent {
    older: (Time, Totals),
    newer: (Time, Totals),
}

/// Live connections of a subscriber.
#[derive(Clone, Copy, Default)]
struct Live {
    known: u64,
    treated: u64,
    held: u64,
}

impl Recent {
    /// Returns the `most` busiest subscribers of `engine` at `now`: those with the most bytes lately, then in total.
    pub(super) fn busiest(
        &mut self,
        engine: &Engine,
        now: Time,
        most: usize,
    ) -> Vec<SubscriberStatus> {
        if most == 0 {
            *self = Recent::default();
            return Vec::new();
        }
        let totals = engine.subscribers(now);
        let (since, before) = &self.older;
        let passed = now.saturating_since(*since).as_secs_f64();
        let mut all: Vec<(IpAddr, SubscriberTotals, SubscriberTotals)> = totals
            .iter()
            .map(|(address, totals)| {
                let before = before.get(address).copied().unwrap_or_default();
                (*address, *totals, totals.since(&before))
            })
            .collect();
        let bytes = |of: &SubscriberTotals| of.bytes_to_mobile + of.bytes_from_mobile;
        all.sort_by_key(|(_, totals, lately)| {
            (std::cmp::Reverse(bytes(lately)), std::cmp::Reverse(bytes(totals)))
        });
        all.truncate(most);
        let live = live(engine);
        let listed = all.iter().map(|(address, totals, lately)| {
            let live = live.get(address).copied().unwrap_or_default();
            status(*address, totals, lately, passed, live)
        });
        let listed = listed.collect();
        if now.saturating_since(self.newer.0) >= PERIOD {
            self.older = std::mem::replace(&mut self.newer, (now, totals));
        }
        listed
    }
}

fn live(engine: &Engine) -> BTreeMap<IpAddr, Live> {
    let mut all: BTreeMap<IpAddr, Live> = BTreeMap::new();
    for connection in engine.connections().iter() {
        let of = all.entry(connection.key.mobile.ip()).or_default();
        of.known += 1;
        of.treated += u64::from(group(connection, engine.classes()) == Group::Treated);
        of.held += u64::from(connection.is_held);
    }
    all
}

fn status(
    address: IpAddr,
    totals: &SubscriberTotals,
    lately: &SubscriberTotals,
    passed: f64,
    live: Live,
) -> SubscriberStatus {
    let rate = |bytes: u64| if passed > 0.0 { bytes as f64 * 8.0 / passed } else { 0.0 };
    let share = |part: Span, of: Span| {
        (of > Span::ZERO).then(|| 100.0 * part.as_secs_f64() / of.as_secs_f64())
    };
    SubscriberStatus {
        address,
        flows: live.known,
        treated: live.treated,
        held: live.held,
        flows_in_all: totals.connections,
        bytes_to_mobile: totals.bytes_to_mobile,
        bytes_from_mobile: totals.bytes_from_mobile,
        injected_segments: totals.injected_segments,
        active_s: totals.active.as_secs_f64(),
        stalled_s: totals.stalled.as_secs_f64(),
        rate_to_mobile_bit_s: rate(lately.bytes_to_mobile),
        rate_from_mobile_bit_s: rate(lately.bytes_from_mobile),
        rtt_ms: (lately.rtts > 0).then(|| lately.rtt_sum.as_secs_f64() * 1e3 / lately.rtts as f64),
        stalled_percent: share(lately.stalled, lately.active),
    }
}
