//! What the kernel counted in a namespace of its own, where every counter began at zero: the tables
//! that `nstat -az` shows.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counters by the names nstat gives them, such as `TcpRetransSegs` and `TcpExtPAWSEstab`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelCounters(BTreeMap<String, i64>);

impl KernelCounters {
    /// From the tables `snmp`, `netstat` and `snmp6` of `/proc/PID/net`; absent ones count nothing.
    pub(crate) fn read(table: impl Fn(&str) -> Option<String>) -> KernelCounters {
        let mut counters = BTreeMap::new();
        for name in ["snmp", "netstat"] {
            read_pairs_of_lines(&table(name).unwrap_or_default(), &mut counters);
        }
        for line in table("snmp6").unwrap_or_default().lines() {
            let mut words = line.split_whitespace();
            if let (Some(name), Some(Ok(value))) = (words.next(), words.next().map(str::parse)) {
                counters.insert(name.to_owned(), value);
            }
        }
        KernelCounters(counters)
    }

    /// A counter's value; zero for one this kernel does not have.
    pub fn value(&self, name: &str) -> i64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// All that are not zero, by name.
    pub fn counted(&self) -> impl Iterator<Item = (&str, i64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value)).filter(|(_, value)| *value != 0)
    }
}

/// A line of names and a line of values, both beginning with the table's name.
fn read_pairs_of_lines(text: &str, counters: &mut BTreeMap<String, i64>) {
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.chunks_exact(2) {
        let mut names = pair[0].split_whitespace();
        let mut values = pair[1].split_whitespace();
        let prefix = names.next().unwrap_or_default();
        if values.next() != Some(prefix) {
            continue;
        }
        let prefix = prefix.trim_end_matches(':');
        for (name, value) in names.zip(values) {
            if let Ok(value) = value.parse() {
                counters.insert(format!("{prefix}{name}"), value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_the_names_nstat_gives_them() {
        let counters = KernelCounters::read(|table| {
            let text = match table {
                "snmp" => "Tcp: InErrs OutRsts\nTcp: 3 0\nUdp: InErrors\nUdp: -1\n",
                "netstat" => "TcpExt: PAWSEstab\nTcpExt: 7\n",
                "snmp6" => "Ip6InReceives   \t12\nIp6InHdrErrors 0\n",
                _ => return None,
            };
            Some(text.to_owned())
        });
        assert_eq!(counters.value("TcpInErrs"), 3);
        assert_eq!((counters.value("TcpExtPAWSEstab"), counters.value("Ip6InReceives")), (7, 12));
        assert_eq!(counters.value("NoSuchCounter"), 0);
        let counted: Vec<_> = counters.counted().map(|(name, _)| name).collect();
        assert_eq!(counted, ["Ip6InReceives", "TcpExtPAWSEstab", "TcpInErrs", "UdpInErrors"]);
    }
}
