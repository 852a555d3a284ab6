//! Why the kernel refuses the programs: libbpf prints it, and its error has only an error number.

use libbpf_rs::{PrintLevel, set_print};
use std::sync::{Mutex, PoisonError};

/// Bytes of libbpf's output that are kept: a verifier's log is longer, and its reason is at the end.
const MOST: usize = 1 << 18;

static PRINTED: Mutex<String> = Mutex::new(String::new());

/// Keeps what libbpf prints from now on, in place of writing it to standard error.
pub(super) fn listen() {
    PRINTED.lock().unwrap_or_else(PoisonError::into_inner).clear();
    set_print(Some((PrintLevel::Warn, keep)));
}

fn keep(_: PrintLevel, text: String) {
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if printed.len() + text.len() > MOST {
        let cut = printed.len() / 2;
        let cut = (cut..printed.len()).find(|at| printed.is_char_boundary(*at)).unwrap_or(0);
        printed.drain(..cut);
    }
    printed.push_str(&text);
}

/// Returns the reason as the beginning of a message, empty if libbpf has printed none.
pub(super) fn reason() -> String {
    let reason = reason_in(&PRINTED.lock().unwrap_or_else(PoisonError::into_inner));
    reason.map(|reason| format!("{reason}: ")).unwrap_or_default()
}

/// The program that was refused, and the verifier's last line about it; or libbpf's first complaint.
fn reason_in(printed: &str) -> Option<String> {
    let lines = || printed.lines().map(str::trim);
    let refused = |line: &str| {
        let program = line.strip_prefix("libbpf: prog '")?;
        Some(program.split_once("': BPF program load failed")?.0.to_owned())
    };
    let Some(program) = lines().find_map(refused) else {
        let first = lines().find_map(|line| line.strip_prefix("libbpf: "));
        return first.map(str::to_owned);
    };
    let log = lines()
        .skip_while(|line| !line.contains("BEGIN PROG LOAD LOG"))
        .skip(1)
        .take_while(|line| !line.contains("END PROG LOAD LOG"));
    let is_summary = |line: &&str| {
        ["processed ", "verification time", "stack depth"].iter().any(|one| line.starts_with(one))
    };
    let last = log.filter(|line| !line.is_empty()).filter(|line| !is_summary(line)).last();
    Some(match last {
        Some(last) => format!("the verifier refuses `{program}`: {last}"),
        None => format!("`{program}` is refused"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERIFIER: &str = "libbpf: prog 'told': BPF program load failed: Invalid argument\n\
        libbpf: prog 'told': -- BEGIN PROG LOAD LOG --\n\
        0: R1=ctx(off=0,imm=0)\n\
        12: (85) call bpf_get_current_task#35\n\
        unknown func bpf_get_current_task#35\n\
        processed 12 insns (limit 1000000) max_states_per_insn 0\n\
        -- END PROG LOAD LOG --\n\
        libbpf: failed to load object 'agent_bpf'\n";

    #[test]
    fn names_the_program_and_the_verifiers_last_line() {
        let reason = reason_in(VERIFIER).expect("there is one");
        assert_eq!(reason, "the verifier refuses `told`: unknown func bpf_get_current_task#35");
    }

    #[test]
    fn names_libbpfs_first_complaint_if_no_program_was_refused() {
        let printed =
            "libbpf: kernel BTF is missing at '/sys/kernel/btf/vmlinux'\nlibbpf: failed\n";
        let reason = reason_in(printed).expect("there is one");
        assert_eq!(reason, "kernel BTF is missing at '/sys/kernel/btf/vmlinux'");
        assert_eq!(reason_in(""), None);
    }

    #[test]
    fn keeps_the_end_of_a_long_log() {
        listen();
        for _ in 0..3 {
            keep(PrintLevel::Warn, "x".repeat(MOST / 2));
        }
        keep(PrintLevel::Warn, format!("\n{VERIFIER}"));
        assert!(reason().starts_with("the verifier refuses `told`"));
        assert!(PRINTED.lock().unwrap().len() <= MOST + VERIFIER.len());
    }
}
