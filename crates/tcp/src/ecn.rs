//! Explicit congestion notification (RFC 3168): what the two SYNs agree on, the codepoint of what
//! leaves, and the receiver's echo. What a sender does about an echo is in `sender/marks.rs`.
//!
//! Not modelled: ECN++ (RFC 8311 allows marks on control packets), AccECN (RFC 9768), and
//! the nonce (RFC 3540, historic).

use ackord_units::Keyword;
use ackord_wire::{Ecn, Flags, Segment};

/// Whether an endpoint speaks ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum EcnUse {
    /// It does not.
    Off,
    /// It asks for it, and agrees when asked.
    On,
    /// It agrees when asked, and does not ask.
    Accept,
}

/// A segment about to leave, and what the IP header that carries it has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outbound {
    /// The segment.
    pub segment: Segment,
    /// The ECN field of its packet (RFC 3168 §5).
    pub ecn: Ecn,
}

impl Outbound {
    /// A segment that the path may drop but not mark.
    #[inline]
    pub(crate) fn unmarkable(segment: Segment) -> Outbound {
        Outbound { segment, ecn: Ecn::NotEct }
    }
}

/// What the ECN field and CWR of a data segment tell its receiver, where ECN is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkSeen {
    /// Nothing new.
    Nothing,
    /// The path has marked it, and no mark was being echoed: the echo begins.
    EchoBegins,
    /// The sender has reduced its window: the echo ends.
    EchoEnds,
    /// It could not be marked, though earlier ones of this sender could: it was sent before.
    NotCapable,
}

/// The connection's part of ECN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EcnState {
    wanted: EcnUse,
    /// Whether the peer's SYN asked for it.
    asked: bool,
    sent_setup: bool,
    sent_plain: bool,
    /// Whether marks that arrive are echoed.
    echoes: bool,
    /// Whether ECE goes out with every acknowledgment (RFC 3168 §6.1.3).
    echoing: bool,
    seen_capable: bool,
}

/// CWR and ECE.
const SETUP: Flags = Flags::from_bits(Flags::ECE.bits() | Flags::CWR.bits());

impl EcnState {
    pub(crate) fn new(wanted: EcnUse) -> EcnState {
        EcnState {
            wanted,
            asked: false,
            sent_setup: false,
            sent_plain: false,
            echoes: false,
            echoing: false,
            seen_capable: false,
        }
    }

    /// The flags that our SYN or SYN-ACK carries for ECN. A SYN that has to be retransmitted may have
    /// died of them, so that only the first one has them (RFC 3168 §6.1.1.1).
    pub(crate) fn syn_flags(&mut self, answers: bool, attempts: u32) -> Flags {
        let setup = match (answers, self.wanted) {
            (_, EcnUse::Off) | (false, EcnUse::Accept) => false,
            (false, EcnUse::On) => attempts == 0,
            (true, _) => self.asked,
        };
        self.sent_setup |= setup;
        self.sent_plain |= !setup;
        match (setup, answers) {
            (false, _) => Flags::NONE,
            (true, true) => Flags::ECE,
            (true, false) => SETUP,
        }
    }

    /// The peer's SYN has come. Where both open at once, who only answers has not been asked in
    /// time: its SYN has said no, and it may send nothing that can be marked (RFC 3168 §6.1.1).
    pub(crate) fn on_syn(&mut self, syn: &Segment) {
        let willing = match self.wanted {
            EcnUse::Off => false,
            EcnUse::On => true,
            EcnUse::Accept => !self.sent_plain,
        };
        self.asked = willing && syn.flags.contains(SETUP);
        self.echoes = self.asked;
    }

    /// The peer's SYN has come again: a plain one says that it has given up ECN.
    pub(crate) fn on_syn_again(&mut self, syn: &Segment) {
        self.sent_plain |= !syn.flags.contains(SETUP);
    }

    /// The SYN-ACK has come. One with both flags comes from a host that reflects what it does not
    /// know (RFC 3168 §6.1.1).
    pub(crate) fn on_syn_ack(&mut self, syn_ack: &Segment) {
        let agrees = syn_ack.flags.contains(Flags::ECE) && !syn_ack.flags.intersects(Flags::CWR);
        self.echoes = self.sent_setup && agrees;
    }

    /// Whether data may go out as ECN-capable: RFC 3168 §6.1.1 forbids it to a host that has sent a
    /// SYN without asking, while it has to echo marks all the same.
    pub(crate) fn may_be_marked(&self) -> bool {
        self.echoes && !self.sent_plain
    }

    /// Whether there is anything to look for in what arrives.
    #[inline]
    pub(crate) fn echoes(&self) -> bool {
        self.echoes
    }

    /// The flag that every acknowledgment carries now.
    #[inline]
    pub(crate) fn echo(&self) -> Flags {
        if self.echoing { Flags::ECE } else { Flags::NONE }
    }

    /// A data segment inside the window arrived (RFC 3168 §6.1.3).
    #[inline]
    pub(crate) fn on_data(&mut self, flags: Flags, ecn: Ecn) -> MarkSeen {
        if !self.echoes { MarkSeen::Nothing } else { self.look_at(flags, ecn) }
    }

    fn look_at(&mut self, flags: Flags, ecn: Ecn) -> MarkSeen {
        let mut seen = MarkSeen::Nothing;
        if flags.contains(Flags::CWR) {
            self.echoing = false;
            seen = MarkSeen::EchoEnds;
        }
        match ecn {
            // A mark on the very segment that carries CWR begins a new echo.
            Ecn::Ce if !self.echoing => {
                self.echoing = true;
                seen = MarkSeen::EchoBegins;
            }
            Ecn::NotEct if self.seen_capable && seen == MarkSeen::Nothing => {
                seen = MarkSeen::NotCapable;
            }
            _ => {}
        }
        self.seen_capable |= ecn != Ecn::NotEct;
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn syn(flags: Flags) -> Segment {
        Segment { flags: Flags::SYN | flags, ..Segment::default() }
    }

    fn agreed() -> EcnState {
        let mut server = EcnState::new(EcnUse::Accept);
        server.on_syn(&syn(SETUP));
        assert_eq!(server.syn_flags(true, 0), Flags::ECE);
        assert!(server.may_be_marked());
        server
    }

    #[test]
    fn only_a_setup_syn_is_answered_and_only_by_who_is_willing() {
        for (wanted, flags, answer) in [
            (EcnUse::Accept, SETUP, Flags::ECE),
            (EcnUse::On, SETUP, Flags::ECE),
            (EcnUse::Off, SETUP, Flags::NONE),
            (EcnUse::Accept, Flags::ECE, Flags::NONE),
            (EcnUse::On, Flags::CWR, Flags::NONE),
            (EcnUse::On, Flags::NONE, Flags::NONE),
        ] {
            let mut server = EcnState::new(wanted);
            server.on_syn(&syn(flags));
            assert_eq!(server.syn_flags(true, 0), answer, "{wanted:?} {flags:?}");
            assert_eq!(server.may_be_marked(), answer == Flags::ECE);
        }
    }

    #[test]
    fn only_on_asks_and_a_reflecting_host_is_not_believed() {
        assert_eq!(EcnState::new(EcnUse::Off).syn_flags(false, 0), Flags::NONE);
        assert_eq!(EcnState::new(EcnUse::Accept).syn_flags(false, 0), Flags::NONE);
        for (answer, believed) in [(Flags::ECE, true), (SETUP, false), (Flags::NONE, false)] {
            let mut client = EcnState::new(EcnUse::On);
            assert_eq!(client.syn_flags(false, 0), SETUP);
            client.on_syn_ack(&syn(Flags::ACK | answer));
            assert_eq!(client.may_be_marked(), believed, "{answer:?}");
        }
        let mut silent = EcnState::new(EcnUse::Accept);
        silent.syn_flags(false, 0);
        silent.on_syn_ack(&syn(Flags::ACK | Flags::ECE));
        assert!(!silent.echoes(), "nobody asked");
    }

    #[test]
    fn a_second_syn_does_not_ask_and_its_sender_echoes_without_sending_capable_packets() {
        let mut client = EcnState::new(EcnUse::On);
        assert_eq!(client.syn_flags(false, 0), SETUP);
        assert_eq!(client.syn_flags(false, 1), Flags::NONE);
        client.on_syn_ack(&syn(Flags::ACK | Flags::ECE));
        assert!(client.echoes() && !client.may_be_marked());
        let mut server = agreed();
        server.on_syn_again(&syn(Flags::NONE));
        assert!(server.echoes() && !server.may_be_marked());
    }

    #[test]
    fn a_mark_is_echoed_until_the_window_was_reduced() {
        let mut server = agreed();
        assert_eq!(server.on_data(Flags::ACK, Ecn::Ect0), MarkSeen::Nothing);
        assert_eq!(server.on_data(Flags::ACK, Ecn::Ce), MarkSeen::EchoBegins);
        assert_eq!(server.echo(), Flags::ECE);
        assert_eq!(server.on_data(Flags::ACK, Ecn::Ce), MarkSeen::Nothing);
        assert_eq!(server.on_data(Flags::ACK, Ecn::Ect0), MarkSeen::Nothing);
        assert_eq!(server.echo(), Flags::ECE);
        assert_eq!(server.on_data(Flags::ACK | Flags::CWR, Ecn::Ect0), MarkSeen::EchoEnds);
        assert_eq!(server.echo(), Flags::NONE);
        // Reduced, and marked again on the way.
        server.on_data(Flags::ACK, Ecn::Ce);
        assert_eq!(server.on_data(Flags::ACK | Flags::CWR, Ecn::Ce), MarkSeen::EchoBegins);
        assert_eq!(server.echo(), Flags::ECE);
        assert_eq!(server.on_data(Flags::ACK, Ecn::NotEct), MarkSeen::NotCapable);
    }

    #[test]
    fn without_agreement_nothing_is_echoed() {
        let mut deaf = EcnState::new(EcnUse::Off);
        deaf.on_syn(&syn(SETUP));
        assert_eq!(deaf.on_data(Flags::ACK, Ecn::Ce), MarkSeen::Nothing);
        assert_eq!(deaf.echo(), Flags::NONE);
    }
}
