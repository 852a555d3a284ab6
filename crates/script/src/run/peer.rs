//! The injected peer: what a script does not say of a segment follows from what it said before.

use crate::model::{Fields, FlagsWanted, Len, Number, Stamps, Want, Window};
use crate::notation::{Direction, View, header_seq, header_stamp};
use ackord_units::{Seq, Span, Time};
use ackord_wire::{Ecn, Flags, Options, SackBlock, SackBlocks, Segment, Timestamps};

/// What the peer has said so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    /// After the highest byte it has sent.
    next: Seq,
    /// What it acknowledged last.
    acked: Seq,
    /// The window it offered last, in bytes.
    window: u32,
    /// The last TSval that came from the endpoint.
    seen_stamp: u32,
    /// Whether its SYN and the endpoint's carried timestamps.
    stamps: (bool, bool),
}

/// Window of a peer that has not said.
const WINDOW: u32 = 65_535;
/// Tick of the peer's timestamps.
const TICK: Span = Span::from_millis(1);

impl Peer {
    pub(super) fn new(iss: Seq, irs: Seq) -> Peer {
        Peer { next: irs, acked: iss + 1, window: WINDOW, seen_stamp: 0, stamps: (false, false) }
    }

    /// Hears a segment of the endpoint's.
    pub(super) fn hear(&mut self, segment: &Segment) {
        if let Some(stamps) = segment.options.timestamps {
            self.seen_stamp = stamps.value;
        }
        if segment.flags.contains(Flags::SYN) {
            self.stamps.1 = segment.options.timestamps.is_some();
        }
    }

    /// The segment that `fields` stand for at `now`, and its mark.
    ///
    /// # Errors
    /// What cannot be said in a header.
    pub(super) fn say(
        &mut self,
        fields: &Fields,
        view: &View,
        now: Time,
    ) -> Result<(Segment, Ecn), String> {
        let flags = flags_of(fields);
        let syn = flags.contains(Flags::SYN);
        let reset = flags.contains(Flags::RST);
        let seq = match fields.seq {
            Some(number) => header_seq(number, view.irs),
            None => self.next,
        };
        let ack = match fields.ack {
            Some(number) => header_seq(number, view.iss),
            None => self.acked,
        };
        let window = self.window_field(fields, view, syn)?;
        let payload_len = match fields.len {
            Len::Bytes(bytes) => bytes,
            Len::Any => return Err("`len any` is for segments that are expected".to_owned()),
        };
        let ack = if flags.contains(Flags::ACK) { ack } else { Seq(0) };
        let options = self.options(fields, view, Carrier { flags, now })?;
        let segment = Segment { seq, ack, flags, window, payload_len, options };
        if syn {
            self.stamps.0 = options.timestamps.is_some();
        }
        if !reset {
            self.next = match syn {
                true => segment.end_seq(),
                false => self.next.max(segment.end_seq()),
            };
            if flags.contains(Flags::ACK) {
                self.acked = ack;
            }
        }
        Ok((segment, fields.ecn.unwrap_or_default()))
    }

    fn window_field(&mut self, fields: &Fields, view: &View, syn: bool) -> Result<u16, String> {
        // A SYN being sent now is not yet in the view, and never scaled (RFC 7323 §2.2).
        let shift = if syn { 0 } else { view.shift(Direction::In) };
        let field = match fields.window {
            Some(Window::Field(field)) => u32::from(field),
            Some(Window::Bytes(bytes)) => {
                let field = bytes >> shift;
                if field << shift != bytes {
                    return Err(format!(
                        "a window of {bytes} bytes cannot be said with a scale of {shift}: write \
                         {} or {}, or `rawwin {field}`",
                        field << shift,
                        (field + 1) << shift
                    ));
                }
                field
            }
            None => (self.window >> shift).min(u32::from(u16::MAX)),
        };
        let field = u16::try_from(field).map_err(|_| {
            let most = u32::from(u16::MAX) << shift;
            format!(
                "without a larger scale a window is {most} bytes at most, not {}",
                field << shift
            )
        })?;
        if fields.window.is_some() {
            self.window = u32::from(field) << shift;
        }
        Ok(field)
    }

    fn options(&self, fields: &Fields, view: &View, carrier: Carrier) -> Result<Options, String> {
        let written = &fields.options;
        let mut sack = SackBlocks::default();
        if let Want::Is(blocks) = &written.sack {
            for (start, end) in blocks {
                let start = header_seq(*start, view.iss);
                sack.push(SackBlock { start, end: header_seq(*end, view.iss) });
            }
        }
        let options = Options {
            mss: is(&written.mss),
            window_scale: is(&written.window_scale),
            sack_permitted: written.sack_permitted == Want::Is(()),
            timestamps: self.timestamps(fields, view, carrier),
            sack,
        };
        match options.wire_len() {
            0..=40 => Ok(options),
            len => Err(format!("these options take {len} bytes; a header has room for 40")),
        }
    }

    /// Where both SYNs had timestamps, every segment but a reset has them.
    fn timestamps(&self, fields: &Fields, view: &View, carrier: Carrier) -> Option<Timestamps> {
        let Carrier { flags, now } = carrier;
        let stamps = match fields.options.timestamps {
            Want::Is(stamps) => stamps,
            Want::Absent => return None,
            Want::Unsaid => {
                let agreed = self.stamps == (true, true);
                if !agreed || fields.options.only || flags.intersects(Flags::SYN | Flags::RST) {
                    return None;
                }
                Stamps::default()
            }
        };
        let (value_base, echo_base) = view.stamp_bases(Direction::In);
        let ticks = now.as_nanos() / TICK.as_nanos();
        let echo = if flags.contains(Flags::ACK) { self.seen_stamp } else { 0 };
        let or = |number: Option<Number>, base, otherwise| {
            number.map_or(otherwise, |number| header_stamp(number, base))
        };
        Some(Timestamps {
            value: or(stamps.value, value_base, ticks as u32),
            echo: or(stamps.echo, echo_base, echo),
        })
    }
}

#[derive(Clone, Copy)]
struct Carrier {
    flags: Flags,
    now: Time,
}

fn is<T: Copy>(want: &Want<T>) -> Option<T> {
    match want {
        Want::Is(value) => Some(*value),
        Want::Unsaid | Want::Absent => None,
    }
}

/// Every segment acknowledges, except one that opens the connection or resets it without saying
/// so, or that is said not to.
fn flags_of(fields: &Fields) -> Flags {
    let FlagsWanted { set, clear, none } = fields.flags;
    if none {
        return Flags::NONE;
    }
    let implied = fields.ack.is_some() || !set.intersects(Flags::SYN | Flags::RST);
    let set = if implied { set | Flags::ACK } else { set };
    Flags::from_bits(set.bits() & !clear.bits())
}
