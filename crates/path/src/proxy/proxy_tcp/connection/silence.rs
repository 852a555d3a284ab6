//! A mobile host that is silent: when that counts as fading, the hold that follows, and what it has
//! cost once the host is heard again.

use super::{BURST, Connection, Desk, repeat};
use crate::proxy::proxy_tcp::config::Freeze;
use crate::proxy::proxy_tcp::copies::{again, question};
use crate::proxy::proxy_tcp::detect::DELAYED_ACK;
use crate::proxy::proxy_tcp::hold::{Hold, Probe, Reach};
use crate::proxy::proxy_tcp::recovery::Sack;
use crate::proxy::{Mark, MobileAck};
use ackord_events::{ProxyAct, ProxySending};
use ackord_units::{Span, Time};

impl Connection {
    /// The mobile was heard.
    pub(super) fn end_hold(&mut self, desk: &mut Desk<'_>) {
        let Some(hold) = self.hold.take() else { return };
        desk.stats.held_for += desk.now - hold.began_at;
        desk.out.note(desk.id, ProxyAct::HoldEnded);
        self.faded_up_to = self.seen.sent_up_to();
        self.aftermath = self.faded_up_to.map(|up_to| hold.over(up_to));
    }

    /// After a hold: whether what was outstanding has survived it or is lost, as soon as that can
    /// be told.
    pub(super) fn look_back(&mut self, desk: &mut Desk<'_>, said: MobileAck, delivers: bool) {
        let Some(aftermath) = &mut self.aftermath else { return };
        if self.seen.una().is_some_and(|una| una.at_or_after(aftermath.up_to)) {
            if aftermath.repeats == 0 {
                desk.stats.false_holds += 1;
                desk.out.note(desk.id, ProxyAct::HoldWasFalse);
            }
            self.aftermath = None;
            return;
        }
        let answers = !delivers && !matches!(said, MobileAck::None | MobileAck::Old);
        let answerable = |ago| self.trip.can_be_answered_after(ago);
        if answers && let Some(asked_at) = aftermath.answered(desk.now, answerable) {
            let most = match aftermath.reach {
                Reach::All => usize::MAX,
                Reach::Oldest => 1,
            };
            let lost = self.cache.iter_mut().filter(|it| !it.sacked && it.sent_at < asked_at);
            lost.take(most).for_each(|cached| cached.mark = Mark::Wanted);
            self.aftermath = None;
            return;
        }
        // Something new has arrived: out of a queue that held it, or before the link was gone, with
        // its acknowledgment lost. One more question tells which; until then, what comes just when
        // an answer was due is worth a few repetitions to a sender that takes no harm from needless ones.
        let prompt = |ago| self.sack == Sack::Agreed && self.trip.is_prompt_after(ago);
        if let Some(probed_at) = aftermath.prompted(desk.now, prompt) {
            let lost = self.cache.iter_mut().filter(|it| !it.sacked && it.sent_at < probed_at);
            lost.take(BURST as usize).for_each(|cached| cached.mark = Mark::Wanted);
        }
        if aftermath.asks_once_more(desk.now)
            && let Some(una) = self.seen.una()
            && let Some(oldest) = self.cache.iter().find(|cached| !cached.sacked)
        {
            desk.stats.probes += 1;
            desk.out.send(question(&oldest.packet, una, &self.seen), ProxySending::Probe);
        }
    }

    /// When the mobile has been silent for too long: the oldest data is overdue, and nothing else
    /// came either. Where the oldest is left to the sender, a whole timeout without a word tells; after a
    /// hold an answer is awaited first.
    pub(super) fn overdue_at(&self) -> Option<Time> {
        let oldest = self.cache.iter().find(|cached| !cached.sacked)?;
        if oldest.mark == Mark::Wanted {
            return None;
        }
        let few = self.cache.bytes().get() < 2 * u64::from(self.largest);
        let delayed = if few { DELAYED_ACK } else { Span::ZERO };
        let (timeout, margin) = match self.config.local_timeout {
            Some(given) => (given, given),
            None => (self.trip.timeout() + delayed, self.trip.margin()),
        };
        let asked_at = self.aftermath.and_then(|aftermath| aftermath.newest_question());
        let sent_at = asked_at.map_or(oldest.sent_at, |asked_at| asked_at.max(oldest.sent_at));
        let overdue_at = sent_at + timeout;
        let silence = if oldest.mark == Mark::Left { timeout } else { margin };
        Some(self.seen.heard_at().map_or(overdue_at, |heard| overdue_at.max(heard + silence)))
    }

    /// The mobile has been silent for too long. A lone segment was lost more likely than the link;
    /// several at once, with nothing after them arriving, speak for a fade.
    pub(super) fn on_silence(&mut self, desk: &mut Desk<'_>) {
        let reach = self.what_was_lost();
        let mut missing = self.cache.iter_mut().filter(|cached| !cached.sacked);
        let (oldest, next) = (missing.next(), missing.next());
        let lone = match reach {
            // Its first repetition was due to duplicates.
            Reach::Oldest => oldest.filter(|oldest| oldest.resent <= 1),
            Reach::All => oldest.filter(|oldest| oldest.resent == 0 && next.is_none()),
        };
        if let Some(lone) = lone {
            return repeat(lone, &self.seen, desk);
        }
        self.hold = Some(Hold::begin(desk.now, reach));
        self.rate.interrupt();
        desk.stats.holds += 1;
        desk.out.note(desk.id, ProxyAct::HoldBegan);
        let freezes = match self.config.freeze {
            Freeze::Never => false,
            Freeze::WithoutSack => self.sack != Sack::Agreed,
            Freeze::Always => true,
        };
        if let Some(ack) =
            self.seen.acknowledgment(0).filter(|_| freezes && self.reserve.is_empty())
        {
            desk.stats.acks_sent += 1;
            desk.out.send(ack, ProxySending::Acknowledgment);
        }
        // The first probe is due now; who else asks the same host is for the box to know.
    }

    /// Without SACK, duplicates say that something after the oldest segment has arrived, and not
    /// what: only the oldest is known to be missing.
    fn what_was_lost(&self) -> Reach {
        match self.sack != Sack::Agreed && self.seen.duplicates() > 0 {
            true => Reach::Oldest,
            false => Reach::All,
        }
    }

    pub(super) fn probe(&mut self, desk: &mut Desk<'_>) {
        let interval = self.probe_interval();
        let oldest = self.cache.iter_mut().find(|cached| !cached.sacked);
        let (Some(oldest), Some(una), Some(hold)) = (oldest, self.seen.una(), &mut self.hold)
        else {
            self.hold = None;
            return;
        };
        let packet = match hold.next_probe(desk.now, interval) {
            Probe::Question => question(&oldest.packet, una, &self.seen),
            Probe::TestPacket => {
                oldest.resend(desk.now);
                again(&oldest.packet, &self.seen)
            }
        };
        desk.stats.probes += 1;
        desk.out.send(packet, ProxySending::Probe);
    }
}
