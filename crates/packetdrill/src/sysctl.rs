//! What a kernel's sysctls mean here: one table from their names to the settings of a stack.
//!
//! A sysctl is said in the flags (`net.ipv4.tcp_sack=0`), taken from a list ([`PACKETDRILL`]), or
//! read from the namespace in which the library runs ([`HOST`]), where a script's own `sysctl` lines
//! have put it. Values are the kernel's: integers without units.

use crate::setup::Setup;
use ackord_tcp::registry::Loss;
use ackord_units::{Knobs, nearest_name};
use std::fs;
use std::path::Path;

/// One of them.
#[derive(Debug)]
pub(crate) struct Sysctl {
    pub(crate) name: &'static str,
    meaning: Meaning,
    /// What it sets or why nothing, for people.
    pub(crate) doc: &'static str,
}

#[derive(Debug)]
enum Meaning {
    /// 0 is off, anything else on.
    Switch(&'static str),
    /// A number, with the unit that makes a setting of it.
    Number(&'static str, &'static str),
    /// Each value it may have, and the setting that is.
    Words(&'static [(&'static str, &'static str)]),
    /// More than a setting.
    More(fn(&mut Setup, &[u64]) -> Option<()>),
    /// The name of a congestion control.
    Control,
    /// Known, and without effect.
    Nothing,
}

use Meaning::{Control, More, Nothing, Number, Switch, Words};

const fn means(name: &'static str, meaning: Meaning, doc: &'static str) -> Sysctl {
    Sysctl { name, meaning, doc }
}

/// Those that mean something to TCP; later ones may look at what earlier ones have set.
#[rustfmt::skip]
pub(crate) const SYSCTLS: &[Sysctl] = &[
    means("net.ipv4.tcp_congestion_control", Control, "`cc`; the profile's own control with the profile's knobs"),
    means("net.ipv4.tcp_sack", Switch("sack"), "`sack`"),
    means("net.ipv4.tcp_dsack", Switch("dsack"), "`dsack`"),
    means("net.ipv4.tcp_timestamps", Switch("timestamps"), "`timestamps`; 1 and 2 are the same"),
    means("net.ipv4.tcp_window_scaling", Switch("window_scaling"), "`window_scaling`"),
    means("net.ipv4.tcp_ecn", Words(&[("0", "ecn=off"), ("1", "ecn=on"), ("2", "ecn=accept")]),
        "`ecn`: off, on, accept; 3 and above (accurate ECN) are not modelled"),
    means("net.ipv4.tcp_frto", Switch("frto"), "`frto`; 1 and 2 are the same"),
    means("net.ipv4.tcp_recovery", More(recovery), "`loss`: rack if bit 0 is set, fixed otherwise; bits 1 and 2 have no effect"),
    means("net.ipv4.tcp_early_retrans", More(early_retrans), "`loss.tlp`: on with 3 and 4, off otherwise"),
    means("net.ipv4.tcp_reordering", More(reordering), "`loss.threshold` where the detector has one; RACK begins with 3, and other values are refused"),
    means("net.ipv4.tcp_slow_start_after_idle", Words(&[("0", "idle_restart=off"), ("1", "idle_restart=decay")]), "`idle_restart`: off, decay"),
    means("net.ipv4.tcp_rmem", More(rmem), "`receive_buffer` is the largest, in bytes of data; `receive_buffer_initial` the share of the second that full segments leave"),
    means("net.ipv4.tcp_wmem", More(wmem), "`send_buffer` is the largest, `send_buffer_initial` the second, in bytes of data"),
    means("net.ipv4.tcp_moderate_rcvbuf", Switch("receive_buffer_tuning"), "`receive_buffer_tuning`"),
    means("net.ipv4.tcp_notsent_lowat", More(notsent_lowat), "TCP_NOTSENT_LOWAT of a socket that has not set it"),
    means("net.ipv4.tcp_syn_linear_timeouts", More(syn_linear_timeouts), "`syn_linear_timeouts`, which come on top of `tcp_syn_retries`"),
    means("net.ipv4.tcp_syn_retries", More(syn_retries), "`syn_retransmissions`, less the linear ones"),
    means("net.ipv4.tcp_synack_retries", Number("syn_ack_retransmissions", ""), "`syn_ack_retransmissions`"),
    means("net.ipv4.tcp_retries1", Number("r1_retransmissions", ""), "`r1_retransmissions`"),
    means("net.ipv4.tcp_retries2", Number("max_retransmissions", ""), "`max_retransmissions`"),
    means("net.ipv4.tcp_rto_min_us", Number("rto_min", " us"), "`rto_min`"),
    means("net.ipv4.tcp_rto_max_ms", Number("rto_max", " ms"), "`rto_max`"),
    means("net.ipv4.tcp_keepalive_time", Number("keepalive_idle", " s"), "`keepalive_idle`"),
    means("net.ipv4.tcp_keepalive_intvl", Number("keepalive_interval", " s"), "`keepalive_interval`"),
    means("net.ipv4.tcp_keepalive_probes", Number("keepalive_probes", ""), "`keepalive_probes`"),
    means("net.ipv4.tcp_fin_timeout", Number("fin_wait_2_timeout", " s"), "`fin_wait_2_timeout`"),
    means("net.ipv4.tcp_rfc1337", Words(&[("0", "time_wait_resets=accept"), ("1", "time_wait_resets=ignore")]), "`time_wait_resets`"),
    means("net.ipv4.tcp_invalid_ratelimit", Number("challenge_ack_interval", " ms"), "`challenge_ack_interval`"),
    means("net.ipv4.tcp_pingpong_thresh", Number("ack.pingpong_threshold", ""), "`ack.pingpong_threshold` where the policy has one"),
    means("net.ipv4.tcp_comp_sack_delay_ns", Number("ack.sack_compression_delay", " ns"), "`ack.sack_compression_delay` where the policy has one"),
    means("net.ipv4.tcp_comp_sack_nr", Number("ack.sack_compression_limit", ""), "`ack.sack_compression_limit` where the policy has one"),
    means("net.ipv4.tcp_fack", Nothing, "nothing, as in a kernel since 4.15"),
    means("net.ipv4.tcp_tso_win_divisor", Nothing, "nothing: a segment that may leave does not wait for more"),
    means("net.ipv4.tcp_min_tso_segs", More(min_tso_segs), "the fewest segments of a packet with `gso=on`"),
    means("net.ipv4.tcp_autocorking", Nothing, "nothing: no queue of a device holds segments"),
    means("net.ipv4.tcp_limit_output_bytes", Nothing, "nothing: no queue of a device holds segments"),
    means("net.ipv4.tcp_pacing_ss_ratio", Nothing, "nothing: what is paced, is paced at 200 %"),
    means("net.ipv4.tcp_pacing_ca_ratio", Nothing, "nothing: what is paced, is paced at 120 %"),
    means("net.ipv4.tcp_ecn_option", Nothing, "nothing: accurate ECN is not modelled"),
    means("net.ipv4.tcp_fastopen", Nothing, "nothing: Fast Open is not modelled"),
    means("net.ipv4.tcp_fastopen_key", Nothing, "nothing: Fast Open is not modelled"),
    means("net.ipv4.tcp_syncookies", Nothing, "nothing: a full queue leaves a SYN unanswered"),
    means("net.ipv4.tcp_no_metrics_save", Nothing, "nothing: no metrics are kept"),
    means("net.ipv4.tcp_mtu_probing", Nothing, "nothing: the MTU is not probed"),
];

/// What `sysctls=packetdrill` stands for: the values that google/packetdrill's scripts begin with
/// (`gtests/net/tcp/common/defaults.sh`).
#[rustfmt::skip]
pub(crate) const PACKETDRILL: &[(&str, &str)] = &[
    ("net.ipv4.tcp_congestion_control", "cubic"),
    ("net.ipv4.tcp_sack", "1"),
    ("net.ipv4.tcp_dsack", "1"),
    ("net.ipv4.tcp_fack", "0"),
    ("net.ipv4.tcp_timestamps", "1"),
    ("net.ipv4.tcp_ecn", "0"),
    ("net.ipv4.tcp_ecn_option", "2"),
    ("net.ipv4.tcp_frto", "2"),
    ("net.ipv4.tcp_recovery", "1"),
    ("net.ipv4.tcp_early_retrans", "4"),
    ("net.ipv4.tcp_reordering", "3"),
    ("net.ipv4.tcp_slow_start_after_idle", "0"),
    ("net.ipv4.tcp_rmem", "4096 540000 15728640"),
    ("net.ipv4.tcp_wmem", "4096 262144 4194304"),
    ("net.ipv4.tcp_notsent_lowat", "4294967295"),
    ("net.ipv4.tcp_syn_retries", "5"),
    ("net.ipv4.tcp_synack_retries", "5"),
    ("net.ipv4.tcp_tso_win_divisor", "3"),
    ("net.ipv4.tcp_pacing_ss_ratio", "200"),
    ("net.ipv4.tcp_pacing_ca_ratio", "120"),
    ("net.ipv4.tcp_fastopen", "460803"),
    ("net.ipv4.tcp_syncookies", "1"),
];

/// Where the kernel keeps its sysctls, those of `net` by network namespace.
pub(crate) const HOST: &str = "/proc/sys";

/// Whether a key of the flags is meant to be a sysctl.
pub(crate) fn is_name(key: &str) -> bool {
    key.starts_with("net.") || key.starts_with("net/")
}

/// Does to `setup` what the sysctl `name` with this value does to a kernel.
pub(crate) fn set(setup: &mut Setup, name: &str, value: &str) -> Result<(), String> {
    let dotted = name.replace('/', ".");
    let Some(sysctl) = SYSCTLS.iter().find(|sysctl| sysctl.name == dotted) else {
        let nearest = nearest_name(&dotted, SYSCTLS.iter().map(|sysctl| sysctl.name));
        let hint = nearest.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
        return Err(format!("`{name}` is not a sysctl that means anything here{hint}"));
    };
    sysctl.apply(setup, value)
}

/// Does all that the files under `root` say; the answer is what could not be done.
pub(crate) fn read(setup: &mut Setup, root: &Path) -> Vec<String> {
    let set = |sysctl: &Sysctl| {
        // A kernel that is older or newer has not all of them.
        let value = fs::read_to_string(root.join(sysctl.name.replace('.', "/"))).ok()?;
        sysctl.apply(setup, &value).err()
    };
    SYSCTLS.iter().filter_map(set).collect()
}

impl Sysctl {
    fn apply(&self, setup: &mut Setup, value: &str) -> Result<(), String> {
        let value = value.trim();
        let not_here = || format!("{} = {value} is not modelled ({})", self.name, self.doc);
        let numbers: Option<Vec<u64>> = value.split_whitespace().map(number).collect();
        let numbers = numbers.unwrap_or_default();
        let setting = match (&self.meaning, &numbers[..]) {
            (Nothing, _) => return Ok(()),
            (More(act), numbers) => return act(setup, numbers).ok_or_else(not_here),
            (Control, _) => format!("cc={value}"),
            (Switch(key), &[given]) => format!("{key}={}", if given == 0 { "off" } else { "on" }),
            (Number(key, _), _) if !has(setup, key) => return Ok(()),
            (Number(key, unit), &[given]) => format!("{key}={given}{unit}"),
            (Words(words), _) => {
                let found = words.iter().find(|(word, _)| *word == value);
                found.map(|(_, setting)| (*setting).to_owned()).ok_or_else(not_here)?
            }
            _ => return Err(not_here()),
        };
        setup.stack.set_text(&setting).map_err(|error| format!("{} = {value}: {error}", self.name))
    }
}

/// Whether the stack has a knob; every knob of the endpoint is there.
fn has(setup: &Setup, key: &str) -> bool {
    match key.split_once('.') {
        Some(("ack", knob)) => setup.stack.ack.mechanism().knob(knob).is_some(),
        _ => true,
    }
}

/// As sysctl(8) takes it: decimal, or hexadecimal after `0x`.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn set_text(setup: &mut Setup, setting: &str) -> Option<()> {
    setup.stack.set_text(setting).ok()
}

fn recovery(setup: &mut Setup, value: &[u64]) -> Option<()> {
    let &[bits] = value else { return None };
    let is_rack = matches!(setup.stack.loss, Loss::Rack(_));
    match (bits & 1 == 1, is_rack) {
        (true, false) => set_text(setup, "loss=rack"),
        (false, true) => set_text(setup, "loss=fixed"),
        _ => Some(()),
    }
}

fn early_retrans(setup: &mut Setup, value: &[u64]) -> Option<()> {
    let &[kind] = value else { return None };
    if setup.stack.loss.mechanism().knob("tlp").is_none() {
        return Some(());
    }
    set_text(setup, if matches!(kind, 3 | 4) { "loss.tlp=on" } else { "loss.tlp=off" })
}

fn reordering(setup: &mut Setup, value: &[u64]) -> Option<()> {
    match (value, setup.stack.loss.mechanism().knob("threshold")) {
        (&[degree], Some(_)) => set_text(setup, &format!("loss.threshold={degree}")),
        (&[3], None) => Some(()),
        _ => None,
    }
}

fn rmem(setup: &mut Setup, value: &[u64]) -> Option<()> {
    let &[_, initial, most] = value else { return None };
    // Of 131072 bytes 83000 hold data when segments are full (profile `linux`).
    let data = initial * 83_000 / 131_072;
    set_text(setup, &format!("receive_buffer={most} B"))?;
    set_text(setup, &format!("receive_buffer_initial={} B", data.min(most)))
}

fn wmem(setup: &mut Setup, value: &[u64]) -> Option<()> {
    let &[_, initial, most] = value else { return None };
    set_text(setup, &format!("send_buffer={most} B"))?;
    set_text(setup, &format!("send_buffer_initial={} B", initial.min(most)))
}

fn notsent_lowat(setup: &mut Setup, value: &[u64]) -> Option<()> {
    let &[bytes] = value else { return None };
    setup.notsent_lowat = u32::try_from(bytes).ok()?;
    Some(())
}

fn min_tso_segs(setup: &mut Setup, value: &[u64]) -> Option<()> {
    let &[segments] = value else { return None };
    setup.min_tso_segments = segments;
    Some(())
}

/// The SYN timeouts beyond the linear ones, and the linear ones.
fn syn_timeouts(setup: &Setup) -> (u64, u64) {
    let config = &setup.stack.endpoint;
    let linear = u64::from(config.retries.syn_linear);
    let all = config.retries.syn.unwrap_or(config.retries.max);
    (u64::from(all).saturating_sub(linear), linear)
}

fn syn_retries(setup: &mut Setup, value: &[u64]) -> Option<()> {
    let &[retries] = value else { return None };
    let (_, linear) = syn_timeouts(setup);
    set_text(setup, &format!("syn_retransmissions={}", retries.checked_add(linear)?))
}

fn syn_linear_timeouts(setup: &mut Setup, value: &[u64]) -> Option<()> {
    let &[linear] = value else { return None };
    let (doubling, _) = syn_timeouts(setup);
    set_text(setup, &format!("syn_retransmissions={}", doubling.checked_add(linear)?))?;
    set_text(setup, &format!("syn_linear_timeouts={linear}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    /// The table as docs/packetdrill.md has it.
    fn table() -> String {
        let mut table = String::from("| sysctl | preset | sets |\n| --- | --- | --- |\n");
        for sysctl in SYSCTLS {
            let preset = PACKETDRILL.iter().find(|(name, _)| *name == sysctl.name);
            let value = preset.map_or(String::new(), |(_, value)| format!("`{value}`"));
            let name = sysctl.name.trim_start_matches("net.ipv4.");
            writeln!(table, "| `{name}` | {value} | {} |", sysctl.doc).expect("a string");
        }
        table
    }

    #[test]
    fn the_document_has_the_table_of_sysctls() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/packetdrill.md");
        let document = fs::read_to_string(path).expect("docs/packetdrill.md");
        assert!(document.contains(&table()), "docs/packetdrill.md should have:\n{}", table());
    }

    #[test]
    fn every_sysctl_can_be_set_to_what_a_kernel_begins_with() {
        let defaults = [
            ("tcp_congestion_control", "cubic"),
            ("tcp_ecn", "2"),
            ("tcp_early_retrans", "3"),
            ("tcp_reordering", "3"),
            ("tcp_min_tso_segs", "2"),
            ("tcp_rmem", "4096 131072 33554432"),
            ("tcp_wmem", "4096 16384 4194304"),
            ("tcp_notsent_lowat", "4294967295"),
            ("tcp_syn_linear_timeouts", "4"),
            ("tcp_syn_retries", "6"),
            ("tcp_synack_retries", "5"),
            ("tcp_retries1", "3"),
            ("tcp_retries2", "15"),
            ("tcp_rto_min_us", "200000"),
            ("tcp_rto_max_ms", "120000"),
            ("tcp_keepalive_time", "7200"),
            ("tcp_keepalive_intvl", "75"),
            ("tcp_keepalive_probes", "9"),
            ("tcp_fin_timeout", "60"),
            ("tcp_rfc1337", "0"),
            ("tcp_invalid_ratelimit", "500"),
            ("tcp_comp_sack_delay_ns", "1000000"),
            ("tcp_comp_sack_nr", "44"),
        ];
        // The profile stands for a kernel as it begins, so this changes nothing but the buffer that
        // the profile gives its own size.
        let expected = Setup::parse("receive_buffer=32 MiB").expect("flags");
        let mut setup = Setup::default();
        for sysctl in SYSCTLS {
            let short = sysctl.name.trim_start_matches("net.ipv4.");
            let value =
                defaults.iter().find(|(name, _)| *name == short).map_or("1", |found| found.1);
            set(&mut setup, sysctl.name, value).expect(sysctl.name);
        }
        assert_eq!(setup, expected);
        for (name, _) in PACKETDRILL {
            assert!(SYSCTLS.iter().any(|sysctl| sysctl.name == *name), "{name}");
        }
    }
}
