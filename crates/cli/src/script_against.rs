//! `ackord script --against kernel`: the scripts played against a stock kernel in simulated time.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::JsonTarget;
use crate::progress::Meter;
use ackord_live::{Expected, KernelUnderScripts, ScriptVerdict, ScriptsTally, play_on_kernel};
use ackord_report::data;
use ackord_script::{Script, ladder};
use ackord_uml::{KernelWish, find_kernel};
use serde::Serialize;
use std::path::PathBuf;
use std::str::FromStr;

/// Whom scripts are played against.
#[derive(Clone, Debug)]
pub(crate) struct Opponent {
    /// A version, a name or a path; the kernel that is the default, if there is nothing.
    kernel: Option<String>,
}

impl FromStr for Opponent {
    type Err = String;

    fn from_str(text: &str) -> Result<Opponent, String> {
        let (what, kernel) = match text.split_once('=') {
            Some((what, kernel)) => (what, Some(kernel.to_owned())),
            None => (text, None),
        };
        if what != "kernel" || kernel.as_deref() == Some("") {
            return Err("scripts are played against `kernel` or `kernel=VERSION`".to_owned());
        }
        Ok(Opponent { kernel })
    }
}

impl Opponent {
    /// The kernel's binary.
    fn binary(&self) -> Result<PathBuf, Failure> {
        match &self.kernel {
            Some(path) if path.contains('/') => Ok(PathBuf::from(path)),
            Some(name) => Ok(find_kernel(&KernelWish::named(name))?.binary),
            None => Ok(find_kernel(&KernelWish::default())?.binary),
        }
    }
}

/// What is asked of a kernel's end.
pub(crate) struct AgainstKernel<'a> {
    pub(crate) opponent: &'a Opponent,
    pub(crate) trace: bool,
    pub(crate) all_profiles: bool,
    pub(crate) even_so: bool,
    pub(crate) as_linux: bool,
    pub(crate) strict: bool,
    pub(crate) json: Option<&'a JsonTarget>,
}

/// What is written of all scripts.
#[derive(Serialize)]
struct Document<'a> {
    summary: ScriptsTally,
    scripts: Vec<Entry<'a>>,
}

/// What is written of one.
#[derive(Serialize)]
struct Entry<'a> {
    file: &'a str,
    #[serde(flatten)]
    verdict: &'a ScriptVerdict,
}

/// Plays those of the scripts that are a kernel's.
pub(crate) fn play(
    asked: &AgainstKernel<'_>,
    scripts: Vec<(String, Script)>,
    console: &Console,
) -> Result<(), Failure> {
    let kernel = asked.opponent.binary()?;
    let all = scripts.len();
    let is_linux = |script: &Script| script.stack.profile() == "linux";
    let chosen = scripts
        .into_iter()
        .filter(|(_, script)| asked.all_profiles || asked.as_linux || is_linux(script));
    let (names, scripts): (Vec<String>, Vec<Script>) = chosen.unzip();
    let expected = if asked.as_linux { Expected::OfProfile } else { Expected::OfScripts };
    let even_so = asked.even_so || asked.as_linux;
    let wish = KernelUnderScripts { kernel, program: None, seed: 1, even_so, expected };
    let meter = Meter::begin("scripts");
    let mut at = |number: usize, _: &ScriptVerdict| {
        meter.at((number + 1) as f64 / scripts.len().max(1) as f64);
    };
    let verdicts = play_on_kernel(&wish, &scripts, &mut at);
    meter.end();
    let verdicts = verdicts?;
    let tally = ScriptsTally::of(&verdicts);
    if let Some(target) = asked.json {
        let entries = names.iter().zip(&verdicts);
        let entries = entries.map(|(file, verdict)| Entry { file, verdict }).collect();
        target.write(&data::to_json(&Document { summary: tally, scripts: entries }), console)?;
    }
    if asked.json != Some(&JsonTarget::Stdout) {
        let mut text = String::new();
        for (name, verdict) in names.iter().zip(&verdicts) {
            text += &told(name, verdict, asked.trace);
        }
        console.print(&(text + &summary(tally, all - names.len())))?;
    }
    match tally {
        ScriptsTally { broken: 0, .. } if !asked.strict => Ok(()),
        ScriptsTally { broken: 0, different: 0, .. } => Ok(()),
        ScriptsTally { broken, different, .. } => {
            Err(Failure::AgainstKernel { different, broken, all: names.len() })
        }
    }
}

/// What has come of a script: a line, and one for each difference.
fn told(name: &str, verdict: &ScriptVerdict, trace: bool) -> String {
    let mut text = format!("{:<12} {name}\n", verdict.word());
    match verdict {
        ScriptVerdict::Played { differences, instead, refused, outcome, .. } => {
            for difference in differences {
                let (line, what) = (difference.record.line, &difference.text);
                text += &format!("  {line:>4} | {what}\n       | {}\n", difference.said);
            }
            for told in instead.iter().chain(refused) {
                text += &format!("       * {told}\n");
            }
            if trace {
                text += &ladder(&outcome.exchanged);
            }
        }
        ScriptVerdict::NotPlayable { knobs } => {
            for knob in knobs {
                text += &format!("       * {knob}\n");
            }
        }
        ScriptVerdict::Broken { why } => text += &format!("       ! {why}\n"),
    }
    text
}

fn summary(tally: ScriptsTally, left_out: usize) -> String {
    let ScriptsTally { played, alike, different, not_playable, broken, not_asked } = tally;
    let mut text = format!(
        "{played} played: {alike} alike, {different} different; {not_playable} not playable on a kernel"
    );
    if broken > 0 {
        text += &format!("; {broken} where the kernel did not go on");
    }
    text += &format!("; {not_asked} assertions not asked of the kernel\n");
    if left_out > 0 {
        text += &format!("{left_out} of other profiles left out (--all-profiles plays them too)\n");
    }
    text
}
