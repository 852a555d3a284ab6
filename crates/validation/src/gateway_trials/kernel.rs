//! The live side of a trial: stock kernels at both ends and in the middle, and the gateway there.

use crate::validate::{KernelError, KernelRun, KernelSide, kernel_run, release_of_this_machine};
use ackord_live::{
    CommandOutcome, EmulationOptions, EmulationReport, HostCommand, KernelRouter, LAN_DEVICE,
    RouterReport, WAN_DEVICE, emulate,
};
use ackord_measure::KernelTime;
use ackord_path::registry::QueueChoice;
use ackord_scenario::{Scenario, Way, choice_text};
use ackord_units::{Choice, KnobValue, Knobs, Rate, Span};
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The router with the gateway on it, on the kernel of this machine.
#[derive(Debug)]
pub struct RoutedKernel {
    /// The program whose `gateway run FILE` is the gateway: this one, mostly.
    pub program: PathBuf,
    /// How late 99 % of the packets of a run may be for it to count.
    pub lateness_budget: Span,
    /// How the drivers are scheduled.
    pub realtime_priority: bool,
    runs: Mutex<Vec<RoutedRun>>,
}

/// What a live run came to, beside what is measured of any run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutedRun {
    /// What passed the router.
    pub router: RouterReport,
    /// Packets with data that a host got and of which nobody knows any more what was sent there. Of all
    /// others it is known to be the same: a run with another is none.
    pub unchecked: u64,
    /// Where the gateway stood.
    pub gateway: Stands,
    /// The remedy of a gateway beside the path.
    pub remedy: Option<String>,
}

/// Where a gateway stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// There is none.
    Nowhere,
    /// Beside the path: the kernel forwards, the gateway adds, and takes acknowledgments away at most.
    Beside,
    /// In the path: what its queue drops never comes out.
    InPath,
}

/// The emulated link behind a queue of the gateway is so many times as fast as the queue: packets wait
/// in the gateway and not there.
const FASTER: u64 = 5;

impl RoutedKernel {
    /// With the usual budget, first on the processor where that is allowed.
    pub fn new(program: PathBuf) -> RoutedKernel {
        RoutedKernel {
            program,
            lateness_budget: Span::from_millis(1),
            realtime_priority: true,
            runs: Mutex::default(),
        }
    }

    /// What every run so far came to.
    pub fn runs(&self) -> Vec<RoutedRun> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl KernelSide for RoutedKernel {
    fn run(
        &self,
        scenario: &Scenario,
        seed: u64,
        go_on: &dyn Fn() -> ControlFlow<()>,
    ) -> Result<KernelRun, KernelError> {
        let folder = tempfile::tempdir()?;
        let Routed { scenario: path, router, stands, remedy, config } =
            routed(scenario, folder.path())?;
        let mut options = EmulationOptions::new(path)?;
        (options.seed, options.realtime_priority) = (seed, self.realtime_priority);
        options.lateness_budget = self.lateness_budget;
        options.router = Some(router);
        let log = folder.path().join("log");
        if let Some(config) = config {
            let file = folder.path().join("gateway.toml");
            fs::write(&file, config)?;
            options.commands = vec![gateway(&self.program, &file, router, &log)?];
        }
        let mut routed = None;
        let run = kernel_run(scenario, seed, self.time(), |sink| {
            let report = emulate(options, sink, &mut |_| go_on())?;
            ended_well(&report, &log)?;
            let unchecked = report.counts.unchecked;
            routed = report.router.map(|router| RoutedRun {
                router,
                unchecked,
                gateway: stands,
                remedy: remedy.clone(),
            });
            Ok(report)
        })?;
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).extend(routed);
        Ok(run)
    }

    fn release(&self) -> String {
        release_of_this_machine()
    }

    fn time(&self) -> KernelTime {
        KernelTime::Real
    }
}

/// A scenario cut at its router.
struct Routed {
    scenario: Scenario,
    router: KernelRouter,
    stands: Stands,
    remedy: Option<String>,
    /// The gateway's file; nothing where there is to be no gateway.
    config: Option<String>,
}

/// What the box, or the queue before the wireless link, does in a simulation, as a gateway's file; and
/// the path without it.
fn routed(scenario: &Scenario, folder: &Path) -> Result<Routed, KernelError> {
    let mut path = scenario.clone();
    let place = path.proxies.first().ok_or("the scenario has no place for a gateway")?;
    let (node, lan_link, to_mobile) = (place.at, place.link, place.to_mobile);
    let router = KernelRouter { node, lan_link };
    let (remedy, knobs) = place.choice.as_ref().map(|it| (named(it), choice_text(it))).unzip();
    let link = &mut path.links[lan_link];
    let direction = match to_mobile {
        Way::Forward => &mut link.forward,
        Way::Reverse => &mut link.reverse,
    };
    let mut queue = None;
    if !matches!(direction.queue, QueueChoice::DropTail(_)) {
        queue = Some((choice_text(&direction.queue), direction.rate));
        direction.queue = long_queue();
        direction.rate = Rate::from_bits_per_sec(direction.rate.as_bits_per_sec() * FASTER);
    }
    if knobs.is_none() && queue.is_none() {
        let stands = Stands::Nowhere;
        return Ok(Routed { scenario: path, router, stands, remedy, config: None });
    }
    let stands = if queue.is_some() { Stands::InPath } else { Stands::Beside };
    let mut config =
        format!("version = 1\nwan = \"{WAN_DEVICE}\"\nlan = \"{LAN_DEVICE}\"\ncontrol = \"0 %\"\n");
    if let Some(knobs) = knobs {
        config.push_str(&format!("remedy = {knobs}\n"));
    }
    if let Some((discipline, rate)) = queue {
        config.push_str(&format!("\n[queue.lan]\ndiscipline = {discipline}\nrate = \"{rate}\"\n"));
    }
    // Several gateways run at the same time, and none may know of another.
    let state = toml_text(&folder.join("state"))?;
    config.push_str(&format!("\n[metrics]\nlisten = \"none\"\n\n[state]\ndirectory = {state}\n"));
    Ok(Routed { scenario: path, router, stands, remedy, config: Some(config) })
}

/// As [`Remedy`](super::Remedy) names it.
fn named(choice: &dyn Knobs) -> String {
    let name = choice.mechanism().name;
    match choice.value("mode") {
        Some(KnobValue::Choice("paper")) => format!("{name}-paper"),
        _ => name.to_owned(),
    }
}

/// A queue that nothing is dropped from.
fn long_queue() -> QueueChoice {
    let drop_tail = QueueChoice::named("drop-tail").expect("it is listed");
    drop_tail.with("limit", KnobValue::Packets(1_000))
}

fn toml_text(path: &Path) -> Result<String, KernelError> {
    let text =
        path.to_str().ok_or("the folder for temporary files has a name that is not UTF-8")?;
    Ok(format!("{text:?}"))
}

/// The gateway as a program of the router.
fn gateway(
    program: &Path,
    config: &Path,
    router: KernelRouter,
    log: &Path,
) -> Result<HostCommand, KernelError> {
    let log = Arc::new(File::create(log)?);
    let words = [program, Path::new("gateway"), Path::new("run"), config];
    let text = |word: &Path| Ok(word.to_str().ok_or("a name that is not UTF-8")?.to_owned());
    Ok(HostCommand {
        host: router.node,
        argv: words.into_iter().map(text).collect::<Result<_, KernelError>>()?,
        environment: Vec::new(),
        starts_at: None,
        ends: Vec::new(),
        serves: true,
        stdout: Some(Arc::clone(&log)),
        stderr: Some(log),
    })
}

/// No byte was changed; a gateway that ended before it was asked to has told why.
fn ended_well(report: &EmulationReport, log: &Path) -> Result<(), KernelError> {
    if report.counts.altered > 0 {
        let altered = report.counts.altered;
        return Err(format!("{altered} packets had data that was not sent there").into());
    }
    let bad = report.commands.iter().find(|outcome| match outcome {
        CommandOutcome::Exited(code) => *code != 0,
        CommandOutcome::Killed(signal) => *signal != "SIGTERM" && *signal != "SIGKILL",
        CommandOutcome::StillRunning => false,
    });
    match bad {
        None => Ok(()),
        Some(outcome) => {
            let said = fs::read_to_string(log).unwrap_or_default();
            Err(format!("the gateway ended ({outcome:?}): {}", said.trim()).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Family, Remedy, Wanted};
    use super::*;

    fn of(trial: &str, remedy: Remedy) -> (Scenario, Routed) {
        let wanted = Wanted { families: vec![Family::V4], ..Wanted::default() };
        let cells = wanted.cells();
        let cell = cells.iter().find(|cell| cell.trial.name == trial && cell.remedy == remedy);
        let scenario = cell.expect("it is tried").scenario(None).expect("sound");
        let routed = routed(&scenario, Path::new("/folder")).expect("it has a place");
        (scenario, routed)
    }

    #[test]
    fn a_box_becomes_a_remedy_and_the_path_stays() {
        let (scenario, routed) = of("loss-1", Remedy::ProxyTcpPaper);
        let config = routed.config.expect("a gateway");
        assert!(config.contains("remedy = { kind = \"proxy-tcp\""), "{config}");
        assert!(config.contains("mode = \"paper\"") && !config.contains("[queue"), "{config}");
        assert!(config.contains("directory = \"/folder/state\""), "{config}");
        assert_eq!(routed.scenario.links, scenario.links);
        assert_eq!(routed.router.node, scenario.proxies[0].at);
    }

    #[test]
    fn a_queue_becomes_the_gateways_and_the_link_behind_it_is_never_full() {
        let (scenario, routed) = of("unequal-round-trips", Remedy::SelectiveDrop);
        let config = routed.config.expect("a gateway");
        assert!(
            config.contains("[queue.lan]\ndiscipline = { kind = \"selective-drop\""),
            "{config}"
        );
        assert!(config.contains("rate = \"20 Mbit/s\"") && !config.contains("remedy"), "{config}");
        let [before, after] = [&scenario, &routed.scenario].map(|one| &one.links[0].forward);
        assert_eq!(after.rate.as_bits_per_sec(), FASTER * before.rate.as_bits_per_sec());
        assert_eq!(
            (before.queue.mechanism().name, after.queue.mechanism().name),
            ("selective-drop", "drop-tail")
        );
    }

    #[test]
    fn without_a_remedy_there_is_no_gateway() {
        for trial in ["short-queue", "cubic-beside-bbr"] {
            let (scenario, routed) = of(trial, Remedy::None);
            assert_eq!((routed.config, routed.stands), (None, Stands::Nowhere));
            assert_eq!(routed.scenario, scenario);
        }
    }
}
