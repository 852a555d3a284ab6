//! Many scripts, one after the other, against one kernel.

use super::SLACK;
use super::as_linux::as_linux;
use super::endpoint::KernelEndpoint;
use super::machine::{Machine, in_short};
use super::verdict::ScriptVerdict;
use crate::error::LiveError;
use crate::guest::{Prepared, ScriptOrder, ScriptTold, ScriptsJob};
use ackord_script::{After, Manner, Script, retold, run_against};
use ackord_units::Span;
use std::path::PathBuf;

/// Which kernel, and what it is asked.
#[derive(Clone, Debug)]
pub struct KernelUnderScripts {
    /// Its binary.
    pub kernel: PathBuf,
    /// The program that runs on it: `ackord` itself, of whatever name; nothing for this one.
    pub program: Option<PathBuf>,
    /// What the kernel's random numbers begin with.
    pub seed: u64,
    /// Whether scripts are played that ask for what a kernel cannot be told.
    pub even_so: bool,
    /// What is expected of the kernel.
    pub expected: Expected,
}

/// What is expected of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// What the scripts say.
    OfScripts,
    /// What the simulator's endpoint of the profile `linux` does where the same arrives and the same is
    /// called, and how it is after each of these.
    OfProfile,
}

/// How long a segment that does not come is waited for, to say when it does.
const PATIENCE: Span = Span::from_secs(2);

/// Plays the scripts; each verdict is also given to `each`, with its place among the scripts.
///
/// # Errors
/// If no kernel can be started. What goes wrong with a script is its verdict.
pub fn play_on_kernel(
    asked: &KernelUnderScripts,
    scripts: &[Script],
    each: &mut dyn FnMut(usize, &ScriptVerdict),
) -> Result<Vec<ScriptVerdict>, LiveError> {
    let of_linux;
    let played = match asked.expected {
        Expected::OfScripts => scripts,
        Expected::OfProfile => {
            of_linux = for_linux(asked, scripts)?;
            &of_linux
        }
    };
    let mut machine = None;
    let mut verdicts = Vec::new();
    for (number, script) in played.iter().enumerate() {
        let kernel = match &mut machine {
            Some(kernel) => kernel,
            none => none.insert(start(asked, played)?),
        };
        let verdict = match play(kernel, asked, number, script) {
            Ok(verdict) => verdict,
            Err(error) => {
                machine = None;
                ScriptVerdict::broken(in_short(&error))
            }
        };
        each(number, &verdict);
        verdicts.push(verdict);
    }
    Ok(verdicts)
}

fn start(asked: &KernelUnderScripts, scripts: &[Script]) -> Result<Machine, LiveError> {
    let texts = scripts.iter().map(|script| script.lines.join("\n")).collect();
    let job = ScriptsJob { entropy: format!("{} scripts", asked.seed), texts };
    Machine::start(&asked.kernel, asked.program.as_deref(), job)
}

/// The scripts for an endpoint of the profile `linux`, with as much of their headers as the kernel can be
/// told.
fn for_linux(asked: &KernelUnderScripts, scripts: &[Script]) -> Result<Vec<Script>, LiveError> {
    let of_linux: Vec<Script> = scripts.iter().map(|script| as_linux(script, &[])).collect();
    let mut machine = start(asked, &of_linux)?;
    let mut told = Vec::new();
    for (number, script) in scripts.iter().enumerate() {
        let prepared = prepare(&mut machine, number)?;
        machine.order(ScriptOrder::Finish)?;
        told.push(as_linux(script, &prepared.instead));
    }
    Ok(told)
}

fn prepare(machine: &mut Machine, number: usize) -> Result<Prepared, LiveError> {
    match machine.order(ScriptOrder::Prepare(number))? {
        ScriptTold::Prepared(prepared) => Ok(prepared),
        other => {
            let what = format!("{other:?}");
            Err(LiveError::OnKernel { host: "endpoint".to_owned(), what })
        }
    }
}

/// Plays one script, and leaves nothing of it behind.
fn play(
    machine: &mut Machine,
    asked: &KernelUnderScripts,
    number: usize,
    script: &Script,
) -> Result<ScriptVerdict, LiveError> {
    let prepared = prepare(machine, number)?;
    let playable = prepared.instead.is_empty() || asked.even_so;
    let verdict = match playable {
        false => ScriptVerdict::not_playable(&prepared.instead),
        true => play_prepared(machine, asked, (number, script), &prepared)?,
    };
    machine.order(ScriptOrder::Finish)?;
    Ok(verdict)
}

fn play_prepared(
    machine: &mut Machine,
    asked: &KernelUnderScripts,
    (number, script): (usize, &Script),
    prepared: &Prepared,
) -> Result<ScriptVerdict, LiveError> {
    let retold = match asked.expected {
        Expected::OfScripts => None,
        Expected::OfProfile => match retold(script) {
            Ok(retold) => Some(retold),
            Err(went) => return Ok(ScriptVerdict::broken(format!("in the simulator: {went:?}"))),
        },
    };
    let script = retold.as_ref().unwrap_or(script);
    let mut endpoint = KernelEndpoint::new(machine, number, script)?;
    let manner = Manner { slack: SLACK, after: After::GoOn(PATIENCE) };
    let outcome = run_against(script, &mut endpoint, manner);
    match endpoint.failed() {
        Some(error) => Err(error),
        None => Ok(ScriptVerdict::played(script, outcome, prepared)),
    }
}
