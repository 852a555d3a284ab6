//! Applications that answer at once, and the acknowledgment of what they answer.

use ackord_events::{Event, SegmentKind, Sink};
use ackord_scenario::ScenarioFile;
use ackord_sim::Simulation;
use ackord_units::{Span, Time};
use ackord_wire::Side;

/// Data segments of the end that asks, and acknowledgments by themselves of the end that answers.
#[derive(Default)]
struct Counted {
    questions: u32,
    acks: u32,
}

impl Sink for Counted {
    fn emit(&mut self, _: Time, event: Event<'_>) {
        let Event::SegmentSent { endpoint, payload, kind, .. } = event else { return };
        match endpoint.side {
            Side::Client if payload.get() > 0 => self.questions += 1,
            Side::Server if kind == SegmentKind::PureAck => self.acks += 1,
            Side::Client | Side::Server => {}
        }
    }
}

/// Thirty questions in two small writes each, with Nagle's algorithm, and this way of
/// acknowledging them.
fn ask(ack: &str) -> Counted {
    let text = format!(
        "version = 1\nname = \"questions\"\npurpose = \"a test\"\nsource = \"a test\"\nseed = 1\n\
         duration = \"60 s\"\n[hosts.one]\n[hosts.other]\n[[links]]\nname = \"path\"\n\
         from = \"one\"\nto = \"other\"\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n\
         [tcp]\nprofile = \"linux\"\nack = \"{ack}\"\n[[flows]]\nname = \"questions\"\n\
         from = \"one\"\nto = \"other\"\n[flows.traffic]\nkind = \"write-write-read\"\n\
         head = \"50 B\"\nbody = \"50 B\"\nreply = \"100 B\"\ncount = 30\n"
    );
    let scenario = ScenarioFile::new("questions", text).check().expect("a sound scenario");
    let mut counted = Counted::default();
    let mut simulation = Simulation::new(&scenario, 1).expect("built");
    simulation.run_until(Time::ZERO + Span::from_secs(60), &mut counted);
    counted
}

#[test]
fn a_kernel_s_acknowledgment_has_left_before_the_application_can_answer() {
    let counted = ask("linux");
    assert_eq!(counted.questions, 60);
    // The first write's comes when its timer expires, the second's when it is read. A kernel
    // 6.18 sends 58 to 60 of its own for 60 such segments.
    assert!((58..=61).contains(&counted.acks), "{}", counted.acks);
}

#[test]
fn elsewhere_an_answer_at_once_carries_the_acknowledgment() {
    let counted = ask("delayed");
    assert_eq!(counted.questions, 60);
    // Only the first write of each question has one of its own; and the FIN.
    assert!((29..=31).contains(&counted.acks), "{}", counted.acks);
}
