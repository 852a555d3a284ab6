//! What a segment may never do, judged as it leaves.

use super::ledger::Ledger;
use super::{Broken, hold};
use ackord_wire::{Ecn, Flags, SackBlock, Segment};

/// The accounts of both directions, as one end sees them.
pub struct Books<'a> {
    /// What this end sends.
    pub out: &'a mut Ledger,
    /// What it receives.
    pub back: &'a mut Ledger,
    /// Whether a box has changed options of SYNs, so that the ends may disagree about them.
    pub options_agree: bool,
}

impl Books<'_> {
    /// A segment of this end leaves.
    pub fn judge(&mut self, segment: &Segment, ecn: Ecn) -> Result<(), Broken> {
        hold!(ecn != Ecn::Ce && ecn != Ecn::Ect1, "an end sends {ecn:?}");
        let flags = segment.flags;
        if flags.contains(Flags::RST) {
            hold!(segment.payload_len == 0, "a reset with data");
            hold!(!flags.intersects(Flags::SYN | Flags::FIN), "a reset with {flags:?}");
            hold!(ecn == Ecn::NotEct, "a reset that may be marked");
            return Ok(());
        }
        self.judge_options(segment)?;
        let before = self.out.sent;
        self.judge_numbers(segment)?;
        if ecn == Ecn::Ect0 {
            let new = self.out.number(segment.seq) == Some(before);
            hold!(new && segment.payload_len > 0, "only new data may be marked: {segment:?}");
        }
        self.judge_acknowledgment(segment)
    }

    fn judge_options(&mut self, segment: &Segment) -> Result<(), Broken> {
        let options = &segment.options;
        let len = options.wire_len();
        hold!(len <= 40, "{len} bytes of options");
        if segment.flags.contains(Flags::SYN) {
            hold!(segment.payload_len == 0, "a SYN with data");
            hold!(options.mss.is_some(), "a SYN without its MSS");
            self.out.own_scale = options.window_scale;
            return Ok(());
        }
        let on_syn = options.mss.is_some() || options.window_scale.is_some();
        hold!(!on_syn && !options.sack_permitted, "an option of SYNs on {segment:?}");
        // RFC 9293 §3.7.1: options come out of the MSS, all of them.
        let told = u32::from(self.out.told_mss.unwrap_or(self.out.default_mss));
        let most = self.out.mss.min(told).max(len + 1);
        let size = segment.payload_len + len;
        hold!(
            segment.payload_len == 0 || size <= most,
            "{} bytes and {len} of options exceed an MSS of {most}",
            segment.payload_len
        );
        if let Some(stamps) = options.timestamps {
            let last = self.out.stamp.replace(stamps.value).unwrap_or(stamps.value);
            let forward = stamps.value.wrapping_sub(last) as i32 >= 0;
            hold!(forward, "the clock of the timestamps goes back from {last} to {}", stamps.value);
        } else {
            // RFC 7323 §3.2: once agreed on, on every segment.
            let agreed = self.out.stamp.is_some() && self.options_agree;
            hold!(!agreed, "no timestamps on {segment:?}");
        }
        Ok(())
    }

    fn judge_numbers(&mut self, segment: &Segment) -> Result<(), Broken> {
        let out = &mut *self.out;
        let Some(start) = out.number(segment.seq) else {
            return Err(format!("{} lies before the SYN", segment.seq));
        };
        if segment.flags.contains(Flags::SYN) {
            hold!(start == 0, "a SYN at {start}");
            out.sent = out.sent.max(1);
            return Ok(());
        }
        let end = start + u64::from(segment.payload_len);
        hold!(start >= 1 || segment.payload_len == 0, "data in the place of the SYN");
        hold!(start <= out.sent, "{start} leaves a gap after {}", out.sent);
        let last = out.written + 1;
        hold!(end <= last || segment.payload_len == 0, "bytes up to {end}, written to {last}");
        if let Some(fin) = out.fin {
            hold!(end <= fin + u64::from(segment.payload_len == 0), "bytes after the FIN: {end}");
        }
        let probe = segment.payload_len == 1 && start + 1 >= out.sent;
        if end > out.sent && segment.payload_len > 0 && !probe {
            hold!(end <= out.edge, "bytes up to {end}, offered to {}", out.edge);
        }
        out.sent = out.sent.max(end);
        if segment.flags.contains(Flags::FIN) {
            hold!(out.closed, "a FIN that nobody asked for");
            hold!(end == last, "the FIN at {end}, everything written ends at {last}");
            hold!(end <= out.edge, "the FIN at {end}, offered to {}", out.edge);
            out.fin = Some(end);
            out.sent = out.sent.max(end + 1);
        }
        Ok(())
    }

    fn judge_acknowledgment(&mut self, segment: &Segment) -> Result<(), Broken> {
        if !segment.flags.contains(Flags::ACK) {
            hold!(segment.flags.contains(Flags::SYN), "no ACK on {segment:?}");
            return Ok(());
        }
        let back = &mut *self.back;
        let Some(ack) = back.number(segment.ack) else {
            return Err(format!("acknowledges {}, before the SYN", segment.ack));
        };
        let there = back.arrived.prefix();
        hold!(ack <= there, "acknowledges up to {ack}, {there} have come");
        hold!(ack >= back.acknowledged, "acknowledges {ack} after {}", back.acknowledged);
        back.acknowledged = ack;
        // The window of a SYN is not scaled: retransmitted, it cannot say what has been offered since.
        if self.options_agree && !segment.flags.contains(Flags::SYN) {
            let scale = self.out.own_scale.filter(|_| self.out.told_scale.is_some());
            let shift = scale.unwrap_or(0);
            let edge = ack + (u64::from(segment.window) << shift);
            // RFC 7323 §2.4: a window in units of 2^shift may end that much before one told earlier.
            let least = back.offered.saturating_sub((1 << shift) - 1);
            hold!(edge >= least, "the window's edge goes from {} to {edge}", back.offered);
            back.offered = back.offered.max(edge);
        }
        for (place, block) in segment.options.sack.as_slice().iter().enumerate() {
            judge_block(back, ack, place, block)?;
        }
        Ok(())
    }
}

fn judge_block(back: &Ledger, ack: u64, place: usize, block: &SackBlock) -> Result<(), Broken> {
    let (Some(start), Some(end)) = (back.number(block.start), back.number(block.end)) else {
        return Err(format!("a block of nothing in the stream: {block:?}"));
    };
    hold!(start < end, "an empty block {start}..{end}");
    hold!(back.arrived.covers(start, end), "bytes reported that have not come: {start}..{end}");
    // RFC 2883 §4: only the first may lie below the acknowledgment, or tell of duplicates.
    hold!(place == 0 || start > ack, "block {place} {start}..{end} is not above {ack}");
    Ok(())
}
