//! The measurement of accuracy, in any build and on any machine: bytes, order, conservation, and
//! that no link is faster than it should be. How exact it is depends on the machine and is not
//! judged here.

use crate::common::{alone, assert_timely, late, possible, timely};
use ackord_live::{
    AccuracyOptions, AccuracyReport, DelayRow, RateRow, StopHandle, Traffic, accuracy,
};
use ackord_units::{Rate, Span};
use std::ops::ControlFlow;

fn measured(rate: Rate, duration: Span) -> Option<AccuracyReport> {
    let mut next = 1;
    possible(accuracy(AccuracyOptions {
        rates: vec![rate],
        duration,
        finds_most: false,
        realtime_priority: false,
        stop: StopHandle::new().expect("a descriptor"),
        notify: Box::new(move |what, number, of| {
            assert_eq!((number, of), (next, 5), "{what}");
            next += 1;
            ControlFlow::Continue(())
        }),
    }))
}

/// A link is at most as fast as it should be: what came within the time had at most been begun late
/// by the emulator's lateness. Whoever reads it may be late too, and then has more within less time.
fn is_not_too_fast(row: &RateRow, duration: Span) {
    let counted = duration.as_secs_f64() * 0.8;
    let late = row.lateness.max.as_secs_f64() + 0.002;
    let most = row.configured.as_bits_per_sec() as f64 * counted / (counted - late).max(0.01);
    let delivered = row.delivered.as_bits_per_sec() as f64;
    assert_timely!(delivered <= most, "{delivered} of at most {most}: {row:?}");
    // What was offered for the whole time came out, as far as it fits.
    let offered = row.offered.as_bits_per_sec().min(row.configured.as_bits_per_sec()) as f64;
    assert_timely!(delivered > 0.3 * offered && row.handed_over_packets > 100, "{row:?}");
}

fn is_accounted_for(row: &RateRow) {
    assert!(row.entered_packets <= row.offered_packets, "{row:?}");
    let out = row.dropped_packets + row.handed_over_packets;
    assert!(out <= row.entered_packets, "{row:?}");
    match row.traffic {
        // Everything has come out by the end, and the socket had room for it.
        Traffic::Udp => assert_eq!((out, row.unread_packets), (row.entered_packets, 0), "{row:?}"),
        // The end comes while the last packets are under way; acknowledgments are among them.
        Traffic::Tcp => assert!(row.entered_packets - out <= 200, "{row:?}"),
    }
}

fn is_never_early(row: &DelayRow) {
    // The clock of the stamps may be slewed by a time daemon; nothing else makes a datagram early.
    assert!(row.error.least_nanos > -100_000, "{row:?}");
    assert!(row.error.count > 0 && row.error.count <= row.sent, "{row:?}");
    if row.into.count > 0 {
        assert!(row.into.least_nanos > -100_000 && row.out_of.least_nanos > -100_000, "{row:?}");
    }
}

#[test]
fn a_link_carries_bytes_in_order_and_never_more_of_them_than_it_should() {
    let _alone = alone();
    timely(|| {
        let (rate, duration) = (Rate::from_mbits_per_sec(10), Span::from_secs(1));
        let Some(report) = measured(rate, duration) else { return };
        late(report.lateness);
        assert_eq!(report.damaged, 0, "{report:?}");
        let kinds: Vec<_> = report.rates.iter().map(|row| row.traffic).collect();
        assert_eq!(kinds, [Traffic::Udp, Traffic::Tcp]);
        for row in &report.rates {
            is_not_too_fast(row, duration);
            is_accounted_for(row);
        }
        // A tenth more than it carries does not fit.
        assert_timely!(report.rates[0].dropped_packets > 0, "{:?}", report.rates[0]);
        let loads: Vec<_> = report.delays.iter().map(|row| row.busy).collect();
        assert_eq!(loads, [false, true]);
        report.delays.iter().for_each(is_never_early);
        assert!(
            report.control.least_nanos > 0 && report.control.count > 100,
            "{:?}",
            report.control
        );
        // Every packet of the four measurements is in the histogram.
        let counted: u64 = report.histogram.iter().map(|bucket| bucket.1).sum();
        let handed: u64 = report.rates.iter().map(|row| row.handed_over_packets).sum();
        assert_eq!(counted, report.lateness.packets);
        assert!(counted > handed, "{counted} of {handed} and those of the delays");
    });
}
