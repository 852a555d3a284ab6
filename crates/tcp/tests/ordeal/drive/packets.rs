//! Packets that arrive and leave, each judged by the account of its direction.

use super::{Drive, FORGED_STORM, MOST_WRITTEN, STORM, brief, index};
use crate::ordeal::promises::Books;
use crate::ordeal::{Broken, hold};
use ackord_events::{NoSink, TcpState};
use ackord_tcp::{Outbound, PayloadPlace, reset_for};
use ackord_wire::{Decoded, Ecn, Flags, Segment, Side, decode};

impl Drive<'_> {
    pub(super) fn arrive(&mut self, from: Side, bytes: &[u8]) -> Result<(), Broken> {
        let to = from.other();
        let Ok(decoded) = decode(bytes) else {
            self.outcome.damaged += 1;
            return Ok(());
        };
        let Decoded { segment, ip, payload, .. } = decoded;
        self.tell(|| format!("{from:?} -> {:?} {}", ip.ecn, brief(&segment)));
        self.ledgers[index(from)].on_arrival(&segment);
        let now = self.now;
        let state = self.end(to).connection.state();
        let opening = matches!(state, TcpState::Listen | TcpState::SynSent);
        self.ledgers[index(to)].on_answer(&segment, opening);
        if state == TcpState::Closed {
            // What a host answers for which it has no connection any more.
            if !segment.flags.contains(Flags::RST) {
                let reset = reset_for(&segment);
                let bytes = self.packet(to, &reset, Ecn::NotEct, &[]);
                self.lane(to).send(now, bytes.expect("a reset fits"));
            }
            return Ok(());
        }
        let before = self.end(to).connection.state();
        let place = self.end(to).connection.handle_segment(now, &segment, ip.ecn, &mut NoSink);
        if let Some(place) = place {
            self.keep(from, &segment, &bytes[payload], place)?;
        }
        self.judge_state(to, before)?;
        if self.end(to).connection.state() == TcpState::Listen {
            // The handshake was taken back, and with it what was acknowledged.
            self.ledgers[index(from)].acknowledged = 0;
        }
        let received = self.end(to).connection.bytes_received();
        self.ledgers[index(from)].deliver(received, self.honest)?;
        let acked = self.end(to).connection.bytes_acked();
        let had = std::mem::replace(&mut self.end(to).acked, acked);
        hold!(acked >= had, "{acked} bytes acknowledged after {had}");
        self.settle(to)
    }

    /// Puts payload where the receiving end says it belongs, as a driver does.
    fn keep(
        &mut self,
        from: Side,
        segment: &Segment,
        payload: &[u8],
        PayloadPlace { skip, len, at }: PayloadPlace,
    ) -> Result<(), Broken> {
        let ledger = &mut self.ledgers[index(from)];
        let number = ledger.number(segment.seq + skip as u32);
        hold!(number == Some(at + 1), "{number:?} is not at offset {at} as it is said to be");
        ledger.put(at, &payload[skip..skip + len])
    }

    pub(super) fn flush(&mut self, side: Side) -> Result<(), Broken> {
        let now = self.now;
        let most = 2 * MOST_WRITTEN / 8;
        for _ in 0..most {
            let before = self.end(side).connection.state();
            let Some(outbound) = self.end(side).connection.poll_segment(now, &mut NoSink) else {
                return Ok(());
            };
            self.judge_state(side, before)?;
            self.leave(side, outbound)?;
        }
        Err(format!("{side:?} sends {most} segments at once"))
    }

    pub(super) fn leave(&mut self, side: Side, outbound: Outbound) -> Result<(), Broken> {
        let Outbound { segment, ecn } = outbound;
        self.outcome.packets += 1;
        hold!(self.outcome.packets <= STORM, "more than {STORM} packets");
        self.outcome.stormed = !self.honest && self.outcome.packets > FORGED_STORM;
        self.tell(|| format!("{side:?} sends {}", brief(&segment)));
        let [client, server] = &mut self.ledgers;
        let (out, back) = if side == Side::Client { (client, server) } else { (server, client) };
        Books { out, back, options_agree: self.options_agree }.judge(&segment, ecn)?;
        let payload = self.ledgers[index(side)].payload(&segment)?;
        if !payload.is_empty() {
            let offset = self.end(side).connection.send_offset(segment.seq);
            let number = self.ledgers[index(side)].number(segment.seq);
            hold!(
                offset.map(|offset| offset + 1) == number,
                "number {number:?} is said to be at {offset:?}"
            );
        }
        let Some(bytes) = self.packet(side, &segment, ecn, &payload) else {
            return Err(format!("{segment:?} cannot be written"));
        };
        let read = decode(&bytes).map_err(|error| format!("{segment:?}: {error}"))?;
        hold!(read.segment == segment, "{segment:?} is read as {:?}", read.segment);
        hold!(read.ip.ecn == ecn, "{ecn:?} is read as {:?}", read.ip.ecn);
        if segment.options.timestamps.is_some() {
            self.end(side.other()).stamps = segment.options.timestamps;
        }
        let now = self.now;
        self.lane(side).send(now, bytes);
        Ok(())
    }
}
