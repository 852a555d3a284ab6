//! Five segments in each of the 120 orders in which they can arrive: at the receiver, and at the
//! sender by the acknowledgments that such a receiver sends. The scripts are written here, from
//! what RFC 2018, RFC 5681 and RFC 6675 ask; one that fails is printed, and can be run as it is.

use ackord_script::{parse, render_failure, render_problems, run};
use std::fmt::Write;

/// Segments of an exchange.
const SEGMENTS: usize = 5;
/// Bytes of a segment.
const SIZE: usize = 1000;

/// A receiver's view: what it acknowledges after each arrival.
#[derive(Clone, Debug, Default)]
struct Receiver {
    arrived: [bool; SEGMENTS],
    /// Blocks beyond what is acknowledged, the one that grew last first: first byte, end.
    blocks: Vec<(usize, usize)>,
}

impl Receiver {
    fn acknowledged(&self) -> usize {
        let whole = self.arrived.iter().take_while(|arrived| **arrived).count();
        1 + whole * SIZE
    }

    /// Takes segment `which`; says what it then acknowledges, and with which blocks.
    fn take(&mut self, which: usize) -> (usize, Vec<(usize, usize)>) {
        self.arrived[which] = true;
        let ack = self.acknowledged();
        let (mut start, mut end) = (1 + which * SIZE, 1 + (which + 1) * SIZE);
        // RFC 2018 §4: the first block holds the segment that has just come, grown together with
        // its neighbours; the others follow, the most recent first.
        self.blocks.retain(|&(first, last)| {
            let touches = first <= end && start <= last;
            if touches {
                (start, end) = (start.min(first), end.max(last));
            }
            !touches
        });
        if start >= ack {
            self.blocks.insert(0, (start, end));
        }
        self.blocks.retain(|&(first, _)| first > ack);
        (ack, self.blocks.clone())
    }
}

fn sack(blocks: &[(usize, usize)]) -> String {
    match blocks {
        [] => String::new(),
        blocks => {
            let texts: Vec<_> =
                blocks.iter().map(|(first, end)| format!("{first}:{end}")).collect();
            format!(" <sack {}>", texts.join(" "))
        }
    }
}

/// Every order of five things.
fn permutations() -> Vec<[usize; SEGMENTS]> {
    let mut found = Vec::new();
    let mut order = [0, 1, 2, 3, 4];
    permute(&mut order, 0, &mut found);
    found.sort_unstable();
    found
}

fn permute(order: &mut [usize; SEGMENTS], from: usize, found: &mut Vec<[usize; SEGMENTS]>) {
    if from == SEGMENTS {
        found.push(*order);
    }
    for at in from..SEGMENTS {
        order.swap(from, at);
        permute(order, from + 1, found);
        order.swap(from, at);
    }
}

/// The receiving end: an acknowledgment at once for what leaves or fills a gap (RFC 5681 §4.2),
/// none reports a duplicate, and in the end everything can be read in order.
fn at_the_receiver(order: &[usize; SEGMENTS], ip: &str) -> String {
    let mut text = format!(
        "# Five segments arrive in the order {order:?}.\nprofile rfc\nset ack = immediate\nip {ip}\n\
         role passive\n0 handshake <mss 1000, sackOK>\n"
    );
    let mut receiver = Receiver::default();
    for &which in order {
        let (first, end) = (1 + which * SIZE, 1 + (which + 1) * SIZE);
        let (ack, blocks) = receiver.take(which);
        let said = match blocks.is_empty() {
            true => " <no sack>".to_owned(),
            false => sack(&blocks),
        };
        let in_order = ack - 1;
        write!(
            text,
            "+1 ms inject seq {first}:{end}\n      expect ack {ack} seq 1{said}\n      assert \
             readable = {in_order} B, rcv_nxt = {ack}\n"
        )
        .expect("a string takes everything");
    }
    text + "call read 5000 B\nassert readable = 0 B, bytes_received = 5000 B, refused = 0\n"
}

/// A sender's view, by the letter of RFC 6675 §4 and §5: what it retransmits, and when. Segments are
/// counted from zero.
#[derive(Clone, Debug, Default)]
struct Sender {
    acked: usize,
    sacked: [bool; SEGMENTS],
    recovery: Option<Recovery>,
    /// Segments retransmitted.
    resent: usize,
}

#[derive(Clone, Copy, Debug)]
struct Recovery {
    /// Bytes that may be outstanding: half of what was when it began.
    cwnd: usize,
    /// HighRxt and RescueRxt, each as the segment after it.
    resent_up_to: usize,
    rescued_up_to: usize,
}

impl Sender {
    /// IsLost: three segments beyond it have been reported.
    fn is_lost(&self, which: usize) -> bool {
        self.sacked[which + 1..].iter().filter(|sacked| **sacked).count() >= 3
    }

    fn missing(&self) -> impl DoubleEndedIterator<Item = usize> {
        (self.acked..SEGMENTS).filter(|which| !self.sacked[*which])
    }

    fn highest_sacked(&self) -> usize {
        self.sacked.iter().rposition(|sacked| *sacked).unwrap_or(0)
    }

    /// SetPipe
    fn pipe(&self, resent_up_to: usize) -> usize {
        let once = self.missing().filter(|which| !self.is_lost(*which)).count();
        let again = self.missing().filter(|which| *which < resent_up_to).count();
        (once + again) * SIZE
    }

    /// An acknowledgment of all before `acked`, with what has arrived beyond; says what is sent.
    fn take(&mut self, acked: usize, arrived: [bool; SEGMENTS]) -> Vec<usize> {
        (self.acked, self.sacked) = (acked, arrived);
        let mut sent = Vec::new();
        if acked == SEGMENTS {
            self.recovery = None;
            return sent;
        }
        let mut recovery = match self.recovery {
            Some(recovery) => recovery,
            None if self.is_lost(acked) => {
                sent.push(acked);
                let flight = (SEGMENTS - acked) * SIZE;
                let next = acked + 1;
                let cwnd = (flight / 2).max(2 * SIZE);
                Recovery { cwnd, resent_up_to: next, rescued_up_to: next }
            }
            None => return sent,
        };
        while recovery.cwnd >= self.pipe(recovery.resent_up_to) + SIZE {
            let highest = self.highest_sacked();
            let beyond = |which: &usize| *which >= recovery.resent_up_to && *which < highest;
            // NextSeg: (1) what is lost, (2) nothing new is there, (3) any other hole, (4) once the
            // last segment, if more than the first recovery is acknowledged.
            let lost = self.missing().filter(beyond).find(|which| self.is_lost(*which));
            if let Some(which) = lost.or_else(|| self.missing().find(beyond)) {
                sent.push(which);
                recovery.resent_up_to = which + 1;
            } else if acked > recovery.rescued_up_to {
                sent.extend(self.missing().next_back());
                recovery.rescued_up_to = SEGMENTS;
            } else {
                break;
            }
        }
        self.recovery = Some(recovery);
        self.resent += sent.len();
        sent
    }
}

/// The sending end: what it retransmits, and that no timer has to help. The first retransmission comes
/// exactly when three later segments have been reported.
fn at_the_sender(order: &[usize; SEGMENTS]) -> (String, usize) {
    let mut text = format!(
        "# Five segments arrive in the order {order:?}; this is their sender.\nprofile rfc\nset \
         congestion = reno\nset recovery.prr = off\nset loss.limited_transmit = off\n0 handshake \
         rtt 100 ms <mss 1000, sackOK>\n+100 ms call write 5000 B\nexpect 5 segments of 1000 B from \
         1\n+100 ms quiet\n"
    );
    let (mut receiver, mut sender) = (Receiver::default(), Sender::default());
    for &which in order {
        let (ack, blocks) = receiver.take(which);
        writeln!(text, "+1 ms inject ack {ack}{}", sack(&blocks))
            .expect("a string takes everything");
        for resent in sender.take((ack - 1) / SIZE, receiver.arrived) {
            let (first, end) = (1 + resent * SIZE, 1 + (resent + 1) * SIZE);
            writeln!(text, "      expect seq {first}:{end}").expect("a string takes everything");
        }
    }
    writeln!(
        text,
        "assert in_flight = 0 B, bytes_acked = 5000 B, all_acknowledged = yes, timeouts = 0, \
         retransmissions = {}, rto_timer = none\nquiet for 10 s",
        sender.resent
    )
    .expect("a string takes everything");
    (text, sender.resent)
}

/// Plays a script that was written here.
fn play(text: &str) {
    let script = parse(text)
        .unwrap_or_else(|problems| panic!("{text}\n{}", render_problems("it", text, &problems)));
    let outcome = run(&script);
    let failure = render_failure("it", &script.lines, &outcome);
    assert!(outcome.passed(), "{text}\n{failure}");
}

#[test]
fn in_every_order_the_receiver_acknowledges_what_it_has_and_delivers_in_order() {
    let orders = permutations();
    assert_eq!(orders.len(), 120);
    for order in &orders {
        for ip in ["v4", "v6"] {
            play(&at_the_receiver(order, ip));
        }
    }
    println!(
        "SCRIPTS {:>5} generated: orders of five segments at the receiver, over IPv4 and IPv6",
        orders.len()
    );
}

#[test]
fn in_every_order_the_sender_repairs_exactly_what_three_segments_have_overtaken() {
    let orders = permutations();
    let mut repaired = 0;
    for order in &orders {
        let (text, repairs) = at_the_sender(order);
        play(&text);
        repaired += usize::from(repairs > 0);
    }
    println!(
        "SCRIPTS {:>5} generated: orders of five segments at the sender, {repaired} with a repair",
        orders.len()
    );
    // By hand: of the orders, the first or the second segment is overtaken by three later ones.
    let overtaken = |order: &[usize; SEGMENTS]| {
        (0..2).any(|which| {
            let at = order.iter().position(|each| *each == which).expect("each is there");
            order[..at].iter().filter(|each| **each > which).count() >= 3
        })
    };
    assert_eq!(repaired, orders.iter().filter(|order| overtaken(order)).count());
}
