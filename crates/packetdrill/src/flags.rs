//! What the flags of a run say: a profile, mechanisms and knobs of the endpoint, and the few things
//! of the door itself.
//!
//! `profile=linux,cc=reno,loss=rack,sack=off,rto_min=300 ms`: the keys, values and words of scenario
//! files, with commas between. `profile` is taken first wherever it stands, so that it never undoes
//! what was said beside it; then `sysctls`, then the rest in the order given. Without a profile it is
//! `linux`, for whose stack most scripts of packetdrill were written.

use crate::setup::{Setup, bound_mss_by_mtu};
use crate::sysctl;
use ackord_units::nearest_name;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// Keys of the door itself, beside those of an endpoint.
const OWN_KEYS: [&str; 5] = ["local", "local6", "mtu", "gso", SYSCTLS];
/// The key that says whose sysctls count, beside those in the flags.
const SYSCTLS: &str = "sysctls";
/// HZ=1000, for which the times of the public suite are written.
const SUITE_TICK: &str = "timer_tick=1 ms";

impl Setup {
    /// Reads flags; the error is for people.
    pub(crate) fn parse(flags: &str) -> Result<Setup, String> {
        let setup = Setup::parse_with(flags, Path::new(sysctl::HOST))?;
        // A script has not had its say yet about the host's: what it leaves is told later.
        Ok(Setup { told: Vec::new(), ..setup })
    }

    /// As the sysctls of the host are now.
    pub(crate) fn refresh(&mut self) {
        let Some(flags) = &self.of_host else { return };
        // They were read before.
        let Ok(mut fresh) = Setup::parse_with(flags, Path::new(sysctl::HOST)) else { return };
        fresh.told.retain(|message| !self.told.contains(message));
        for message in &fresh.told {
            eprintln!("ackord_packetdrill: {message}");
        }
        fresh.told.append(&mut self.told);
        *self = fresh;
    }

    fn parse_with(flags: &str, host: &Path) -> Result<Setup, String> {
        let mut setup = Setup::default();
        let settings = || flags.split(',').map(str::trim).filter(|text| !text.is_empty());
        let of_key = |text: &str, key: &str| text.split('=').next().map(str::trim) == Some(key);
        let first = |text: &&str| of_key(text, "profile") || of_key(text, SYSCTLS);
        for setting in settings().filter(|text| of_key(text, "profile")) {
            setup.stack.set_text(setting).map_err(|error| error.to_string())?;
            bound_mss_by_mtu(&mut setup.stack);
        }
        for setting in settings().filter(|text| of_key(text, SYSCTLS)) {
            if setup.stack.profile() == "linux" {
                setup.set(SUITE_TICK)?;
            }
            match setting.split_once('=').map_or("", |(_, word)| word.trim()) {
                "host" => {
                    setup.of_host = Some(flags.to_owned());
                    setup.told = sysctl::read(&mut setup, host);
                }
                "packetdrill" => sysctl::PACKETDRILL
                    .iter()
                    .try_for_each(|(name, value)| sysctl::set(&mut setup, name, value))?,
                other => {
                    return Err(format!("{SYSCTLS}: `{other}` is not `host` or `packetdrill`"));
                }
            }
        }
        for setting in settings().filter(|text| !first(text)) {
            setup.set(setting)?;
        }
        setup.stack.check().map_err(|error| error.to_string())?;
        Ok(setup)
    }

    fn set(&mut self, setting: &str) -> Result<(), String> {
        let (key, value) = match setting.split_once('=') {
            Some((key, value)) => (key.trim(), value.trim()),
            None => return self.stack.set_text(setting).map_err(|error| error.to_string()),
        };
        match key {
            "local" => self.local.v4 = parsed(key, value, "an IPv4 address")?,
            "local6" => self.local.v6 = parsed(key, value, "an IPv6 address")?,
            "mtu" => {
                self.mtu = parsed(key, value, "bytes, 128 to 65535")?;
                if self.mtu < 128 {
                    return Err(format!("mtu: `{value}` is not bytes, 128 to 65535"));
                }
            }
            "gso" => {
                self.gso = Some(match value {
                    "on" => true,
                    "off" => false,
                    _ => return Err(format!("gso: `{value}` is not `on` or `off`")),
                });
            }
            _ if sysctl::is_name(key) => sysctl::set(self, key, value)?,
            _ => self.stack.set(key, value).map_err(|error| match nearest_name(key, OWN_KEYS) {
                Some(own) => format!("{error}; of the door itself: {own}"),
                None => error.to_string(),
            })?,
        }
        Ok(())
    }
}

fn parsed<T: FromStr>(key: &str, value: &str, what: impl fmt::Display) -> Result<T, String> {
    value.parse().map_err(|_| format!("{key}: `{value}` is not {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Bytes;
    use ackord_units::Knobs as _;
    use ackord_wire::IpVersion;

    #[test]
    fn without_flags_it_is_linux() {
        assert_eq!(Setup::parse("").expect("nothing is fine"), Setup::default());
        assert_eq!(Setup::default().stack.ack.mechanism().name, "linux");
    }

    #[test]
    fn a_profile_does_not_undo_what_stands_before_it() {
        let setup = Setup::parse("cc=reno, sack=off,profile=rfc,mtu=576").expect("valid");
        assert_eq!(setup.stack.congestion.mechanism().name, "reno");
        assert_eq!(setup.stack.ack.mechanism().name, "delayed");
        assert_eq!(setup.config(IpVersion::V4).mss, Bytes(536));
        assert_eq!(setup.config(IpVersion::V6).mss, Bytes(516));
    }

    #[test]
    fn the_mtu_alone_bounds_the_mss_until_a_flag_sets_it() {
        let mss = |flags| Setup::parse(flags).expect("valid").config(IpVersion::V4).mss;
        assert_eq!(mss(""), Bytes(1_460));
        assert_eq!(mss("mtu=9000"), Bytes(8_960));
        assert_eq!(mss("mtu=9000,profile=rfc"), Bytes(8_960));
        assert_eq!(mss("mtu=9000,mss=1000 B"), Bytes(1_000));
    }

    #[test]
    fn what_is_wrong_names_what_was_probably_meant() {
        let cases = [
            ("profile=linus", "linux"),
            ("cc=rno", "reno"),
            ("rto_mni=1 s", "rto_min"),
            ("locla=192.0.2.1", "local"),
            ("local=here", "IPv4 address"),
            ("mtu=90", "128 to 65535"),
            ("rto_min=3 m", "rto_min"),
            ("cubic", "key=value"),
            ("sysctls=hots", "`host`"),
            ("gso=yes", "`on` or `off`"),
            ("net.ipv4.tcp_sakc=0", "net.ipv4.tcp_sack"),
            ("net.ipv4.tcp_ecn=3", "not modelled"),
            ("net.ipv4.tcp_sack=1 2", "not modelled"),
            ("net.ipv4.tcp_rmem=4096", "not modelled"),
            ("net.ipv4.tcp_congestion_control=cubci", "cubic"),
        ];
        for (flags, named) in cases {
            let error = Setup::parse(flags).expect_err(flags);
            assert!(error.contains(named), "{flags}: {error}");
        }
    }

    #[test]
    fn sysctls_are_taken_as_a_kernel_takes_them() {
        let same = [
            ("net.ipv4.tcp_sack=0", "sack=off"),
            ("net/ipv4/tcp_frto = 2", "frto=on"),
            ("net.ipv4.tcp_ecn=1", "ecn=on"),
            ("net.ipv4.tcp_congestion_control=cubic", ""),
            ("net.ipv4.tcp_congestion_control=reno", "cc=reno"),
            ("net.ipv4.tcp_early_retrans=0", "loss.tlp=off"),
            ("net.ipv4.tcp_recovery=0, net.ipv4.tcp_reordering=4", "loss=fixed,loss.threshold=4"),
            ("net.ipv4.tcp_slow_start_after_idle=0", "idle_restart=off"),
            ("net.ipv4.tcp_rto_min_us=50000", "rto_min=50 ms"),
            ("net.ipv4.tcp_syn_retries=5", "syn_retransmissions=9"),
            ("net.ipv4.tcp_syn_linear_timeouts=1", "syn_retransmissions=7,syn_linear_timeouts=1"),
            ("net.ipv4.tcp_rmem=4096 131072 8388608", "receive_buffer=8 MiB"),
            ("profile=rfc, net.ipv4.tcp_comp_sack_nr=3", "profile=rfc"),
        ];
        for (sysctl, flags) in same {
            let [one, other] = [sysctl, flags].map(|text| Setup::parse(text).expect(text));
            assert_eq!(one, other, "{sysctl}");
        }
    }

    #[test]
    fn a_flag_counts_for_more_than_the_preset_wherever_it_stands() {
        let preset = Setup::parse("sysctls=packetdrill").expect("a preset");
        assert_eq!(preset.stack.congestion, Setup::default().stack.congestion);
        assert_eq!(preset.config(IpVersion::V4).buffers.receive, Bytes(15 << 20));
        let setup = Setup::parse("net.ipv4.tcp_ecn=1,sysctls=packetdrill").expect("valid");
        let expected = Setup::parse("sysctls=packetdrill,ecn=on").expect("valid");
        assert_eq!(setup, expected);
        assert_ne!(setup, preset);
    }

    #[test]
    fn sysctls_of_the_host_are_read_where_the_kernel_keeps_them() {
        let root = tempfile::tempdir().expect("a directory");
        let ipv4 = root.path().join("net/ipv4");
        std::fs::create_dir_all(&ipv4).expect("a directory");
        for (name, value) in [("tcp_sack", "0\n"), ("tcp_rmem", "4096\t131072\t6291456\n")] {
            std::fs::write(ipv4.join(name), value).expect("a file");
        }
        std::fs::write(ipv4.join("tcp_ecn"), "5\n").expect("a file");
        let setup = Setup::parse_with("mtu=576,sysctls=host", root.path()).expect("valid");
        assert_eq!(setup.told.len(), 1, "{:?}", setup.told);
        assert!(setup.told[0].contains("tcp_ecn = 5"), "{:?}", setup.told);
        let expected = Setup::parse("sack=off,receive_buffer=6 MiB,mtu=576,timer_tick=1 ms");
        assert_eq!(setup.stack, expected.expect("valid").stack);
    }
}
