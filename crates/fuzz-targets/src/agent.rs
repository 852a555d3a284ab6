//! What an agent reads: a configuration or the lines of a journal, and reports of its programs in the kernel.

use ackord_agent::application::Allowed;
use ackord_agent::config::ConfigFile;
use ackord_agent::engine::{Do, Engine, EngineConfig};
use ackord_agent::kernel::layout::{Raw, RawOrder, RawReport};
use ackord_agent::lever::Rule;
use ackord_agent::report::Report;
use ackord_agent::{Lever, Made, plan};
use ackord_daemon::Change as _;
use ackord_daemon::switchback::Turns;
use ackord_scenario::Style;
use ackord_units::{Span, Time};

/// Text of a configuration: it is sound and can be planned, or a list of what is wrong with it that can be shown. And lines
/// of a journal: what is read is written as the same.
pub fn agent(data: &[u8]) {
    let text = crate::text(data);
    match ConfigFile::new("fuzzed.toml", text).check() {
        Ok(config) => {
            assert!(!plan(&config).is_empty());
            assert!(config.control_per_mille() <= 1_000);
            let _ = config.allowed(&["redis-server"]);
        }
        Err(errors) => assert!(!errors.render(Style::Plain).is_empty()),
    }
    for made in text.lines().filter_map(|line| serde_json::from_str::<Made>(line).ok()) {
        assert!(!made.in_words().is_empty());
        let line = serde_json::to_string(&made).expect("plain");
        assert_eq!(serde_json::from_str::<Made>(&line).expect("a line"), made);
    }
}

/// Bounds of delayed acknowledgments that an order may have.
const LEAST: Span = Span::from_millis(8);
const STOCK: Span = Span::from_millis(40);
/// Room for so many connections and applications.
const ROOM: usize = 6;

/// Reports one after the other: room is kept, and an order is one that the kernel takes.
pub fn reports(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let mut engine = Engine::new(config(*first));
    for (number, bytes) in (0_u64..).zip(rest.chunks(size_of::<RawReport>())) {
        let Some(report) = RawReport::read(bytes).map(plausible).and_then(|raw| Report::of(&raw))
        else {
            return;
        };
        let named = engine.wants_name(&report).then(|| {
            let name = format!("application-{}", report.application);
            engine.name(report.application, &name, Allowed::of(Lever::ALL))
        });
        engine.handle(&report, named);
        engine.look(Time::ZERO + Span::from_millis(number * 500));
        engine.take().iter().for_each(is_sound);
        assert!(engine.connections().len() <= ROOM && engine.applications().len() <= ROOM);
    }
}

const TURNS: Turns =
    Turns { length: Span::from_secs(2), settle: Span::from_millis(500), in_block: 2 };

fn config(first: u8) -> EngineConfig {
    EngineConfig {
        acts: first & 1 == 0,
        control_per_mille: u16::from(first >> 4) * 60,
        delack_least: LEAST,
        has_quick_routes: first & 2 == 0,
        rule: Rule {
            least_share: 0.01,
            least_lost: Span::from_millis(100),
            least_stalls: 5,
            enough: 4,
            each: 2,
            confidence: [0.999, 0.5, 0.0, 1.0][usize::from(first >> 2 & 3)],
            retry: Some(Span::from_secs(2)),
        },
        turns: (first & 4 != 0).then_some(TURNS),
        connections: ROOM,
        applications: ROOM,
    }
}

/// Few connections of few applications, and counters that no machine could have brought to their end.
fn plausible(raw: RawReport) -> RawReport {
    let far = |value: u64| value & ((1 << 50) - 1);
    RawReport {
        cookie: raw.cookie & 7,
        application: raw.application & 7,
        at_us: far(raw.at_us),
        active_us: far(raw.active_us),
        ..raw
    }
}

fn is_sound(done: &Do) {
    let order = |RawOrder { delack_max_us, quick, .. }: &RawOrder| {
        let bound = Span::from_micros(u64::from(*delack_max_us));
        assert!(*delack_max_us == 0 || (LEAST..STOCK).contains(&bound), "{done:?}");
        assert!(*quick <= 1, "{done:?}");
    };
    match done {
        Do::Order(_, one) => order(one),
        Do::Class(class, what) => {
            assert!(*class > 0, "the first is for those that nobody knows");
            assert!(what.nodelay <= 1 && what.control_per_mille <= 1_000, "{done:?}");
        }
        _ => {}
    }
}
