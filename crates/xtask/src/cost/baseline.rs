//! The counts of before, under version control, so that a review sees what a change costs.

use super::RECORDED_PER_MILLE;
use super::callgrind::Counted;
use super::machine::Machine;
use crate::findings::CannotCheck;
use crate::workspace::Workspace;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Relative to the root.
pub(crate) const FILE: &str = "benches/cost/baseline.toml";

/// What was counted, and where.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Baseline {
    /// What the counts depend on besides the source.
    pub(crate) machine: Machine,
    /// By name.
    pub(crate) workloads: BTreeMap<String, Recorded>,
}

/// What a workload cost.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recorded {
    /// All of it.
    pub(crate) instructions: u64,
    /// Data packets over the bottleneck, if the command prints that.
    pub(crate) packets: Option<u64>,
    /// Instructions and name of the functions that cost most, the dearest first.
    pub(crate) functions: Vec<(u64, String)>,
}

impl Recorded {
    /// Below how many instructions a function of this workload is not recorded.
    pub(crate) fn least(&self) -> u64 {
        self.instructions * RECORDED_PER_MILLE / 1_000
    }
}

impl From<&Counted> for Recorded {
    fn from(counted: &Counted) -> Recorded {
        let Counted { instructions, packets, functions } = counted;
        let mut recorded =
            Recorded { instructions: *instructions, packets: *packets, functions: Vec::new() };
        let least = recorded.least();
        let dear = functions.iter().filter(|(_, instructions)| **instructions >= least);
        recorded.functions =
            dear.map(|(name, instructions)| (*instructions, name.clone())).collect();
        recorded.functions.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        recorded
    }
}

impl Baseline {
    /// What has been counted on this `machine`.
    pub(crate) fn new(machine: Machine, counted: &BTreeMap<String, Counted>) -> Baseline {
        let workloads = counted.iter().map(|(name, counted)| (name.clone(), counted.into()));
        Baseline { machine, workloads: workloads.collect() }
    }

    /// As TOML, one function a line.
    fn text(&self) -> String {
        let quoted = |text: &String| toml::Value::String(text.clone()).to_string();
        let list = |lines: Vec<String>| {
            lines.into_iter().fold(String::new(), |text, line| text + "    " + &line + ",\n")
        };
        let Machine { rustc, valgrind, glibc, processor } = &self.machine;
        let mut text = format!(
            "# Instructions of each workload and of its functions, as callgrind counts them.\n\
             # `make cost RECORD=1` writes this file.\n\n[machine]\nrustc = {}\nvalgrind = {}\nglibc = {}\n\
             processor = [\n{}]\n",
            quoted(rustc),
            quoted(valgrind),
            quoted(glibc),
            list(processor.iter().map(quoted).collect()),
        );
        for (name, Recorded { instructions, packets, functions }) in &self.workloads {
            let packets = packets.map_or(String::new(), |packets| format!("packets = {packets}\n"));
            let functions = functions
                .iter()
                .map(|(instructions, name)| format!("[{instructions}, {}]", quoted(name)));
            write!(
                text,
                "\n[workloads.{name}]\ninstructions = {instructions}\n{packets}functions = [\n{}]\n",
                list(functions.collect()),
            )
            .expect("a string takes everything");
        }
        text
    }
}

/// What was recorded last.
pub(crate) fn read(workspace: &Workspace) -> Result<Baseline, CannotCheck> {
    toml::from_str(&workspace.read(FILE)?).map_err(|error| format!("{FILE}: {error}").into())
}

/// Replaces what was recorded.
pub(crate) fn write(workspace: &Workspace, baseline: &Baseline) -> Result<(), CannotCheck> {
    Ok(std::fs::write(workspace.root.join(FILE), baseline.text())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let functions = [("<impl \"odd\">::f", 900_u64), ("g", 95), ("h", 5), ("little", 4)];
        let functions = functions.map(|(name, own)| (name.to_owned(), own)).into();
        let counted = Counted { instructions: 1_004, packets: Some(3), functions };
        let machine = Machine {
            rustc: "rustc 1.95.0".into(),
            valgrind: "valgrind-3.19.0".into(),
            glibc: "2.36".into(),
            processor: vec!["preferred[0x0]=0x1".into(), "rep_movsb_threshold=0x800".into()],
        };
        let baseline = Baseline::new(machine, &[("host-10".to_owned(), counted)].into());
        assert_eq!(baseline.workloads["host-10"].functions.len(), 3, "under 0.5 % is left out");
        assert_eq!(toml::from_str::<Baseline>(&baseline.text()).expect("sound"), baseline);
    }
}
