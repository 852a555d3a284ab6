//! `ackord script --against kernel`: the scripts played against a stock kernel in simulated time.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::JsonTarget;
use crate::progress::Meter;
use ackord_live::{
    Expected, KernelUnderScripts, ScriptVerdict, ScriptsTally, kernel_page, play_on_kernel,
};
use ackord_report::data;
use ackord_script::{Script, ladder};
use ackord_uml::{DEFAULT_KERNEL, KernelWish, find_kernel};
use serde::Serialize;
use std::path::{Path, PathBuf};
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

/// What the kernel's random numbers begin with: any will do.
const SEED: u64 = 1;

impl Opponent {
    /// What the kernel is called.
    fn name(&self) -> String {
        match &self.kernel {
            Some(path) if path.contains('/') => "of your own".to_owned(),
            Some(name) => name.clone(),
            None => DEFAULT_KERNEL.to_owned(),
        }
    }

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
    pub(crate) page: Option<&'a Path>,
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
    if let Some(path) = asked.page {
        return page(asked, &kernel, (path, scripts), console);
    }
    let all = scripts.len();
    let expected = if asked.as_linux { Expected::OfProfile } else { Expected::OfScripts };
    let chosen =
        |(_, script): &(String, Script)| asked.all_profiles || asked.as_linux || is_linux(script);
    let scripts: Vec<_> = scripts.into_iter().filter(chosen).collect();
    let even_so = asked.even_so || asked.as_linux;
    let verdicts = verdicts(&kernel, scripts, (expected, even_so))?;
    let tally = ScriptsTally::of(verdicts.iter().map(|(_, verdict)| verdict));
    if let Some(target) = asked.json {
        let entries = verdicts.iter().map(|(file, verdict)| Entry { file, verdict });
        let document = Document { summary: tally, scripts: entries.collect() };
        target.write(&data::to_json(&document), console)?;
    }
    if asked.json != Some(&JsonTarget::Stdout) {
        let mut text = String::new();
        for (name, verdict) in &verdicts {
            text += &told(name, verdict, asked.trace);
        }
        console.print(&(text + &summary(tally, all - verdicts.len())))?;
    }
    match tally {
        ScriptsTally { broken: 0, .. } if !asked.strict => Ok(()),
        ScriptsTally { broken: 0, different: 0, .. } => Ok(()),
        ScriptsTally { broken, different, .. } => {
            Err(Failure::AgainstKernel { different, broken, all: verdicts.len() })
        }
    }
}

fn is_linux(script: &Script) -> bool {
    script.stack.profile() == "linux"
}

fn verdicts(
    kernel: &Path,
    scripts: Vec<(String, Script)>,
    (expected, even_so): (Expected, bool),
) -> Result<Vec<(String, ScriptVerdict)>, Failure> {
    let (names, scripts): (Vec<String>, Vec<Script>) = scripts.into_iter().unzip();
    let kernel = kernel.to_owned();
    let wish = KernelUnderScripts { kernel, program: None, seed: SEED, even_so, expected };
    let meter = Meter::begin("scripts");
    let mut at = |number: usize, _: &ScriptVerdict| {
        meter.at((number + 1) as f64 / scripts.len().max(1) as f64);
    };
    let verdicts = play_on_kernel(&wish, &scripts, &mut at);
    meter.end();
    Ok(names.into_iter().zip(verdicts?).collect())
}

/// Writes the page of all differences.
fn page(
    asked: &AgainstKernel<'_>,
    kernel: &Path,
    (path, scripts): (&Path, Vec<(String, Script)>),
    console: &Console,
) -> Result<(), Failure> {
    let of_linux = scripts.iter().filter(|(_, script)| is_linux(script)).cloned().collect();
    let of_scripts = verdicts(kernel, of_linux, (Expected::OfScripts, false))?;
    let of_profile = verdicts(kernel, scripts, (Expected::OfProfile, true))?;
    let name = asked.opponent.name();
    let page = kernel_page(&name, &of_scripts, &of_profile);
    ackord_report::write_one(path, page.as_bytes())?;
    console.remark(&format!("wrote {}", path.display()));
    Ok(())
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
