//! Manual pages of the daemons' configuration files, from the tables of their keys: gateway.toml(5), agent.toml(5).

use ackord_agent::config::AgentConfig;
use ackord_daemon::config::FromFile;
use ackord_gateway::config::GatewayConfig;
use ackord_scenario::format::{Key, Need, Shape};
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

/// A file's example, where it is usually, and who reads it.
struct File {
    name: &'static str,
    daemon: &'static str,
    keys: &'static [Key],
    example: &'static str,
}

/// Returns each page with its file name.
pub(super) fn pages() -> Vec<(String, String)> {
    let files = [
        File {
            name: "gateway.toml",
            daemon: "gateway",
            keys: GatewayConfig::format().0,
            example: include_str!("../../../../packaging/examples/both.toml"),
        },
        File {
            name: "agent.toml",
            daemon: "agent",
            keys: AgentConfig::format().0,
            example: include_str!("../../../../packaging/agent/services.toml"),
        },
    ];
    files.iter().map(|file| (format!("{}.5", file.name), page(file))).collect()
}

fn page(file: &File) -> String {
    let File { name, daemon, .. } = file;
    let mut roff = Roff::new();
    roff.control("TH", [*name, "5", "", concat!("ackord ", env!("CARGO_PKG_VERSION")), ""]);
    roff.control("SH", ["NAME"]);
    roff.text([roman(format!("{name} - configuration of ackord-{daemon}"))]);
    roff.control("SH", ["SYNOPSIS"]);
    roff.text([italic(format!("/etc/ackord/{name}"))]);
    roff.control("SH", ["DESCRIPTION"]);
    roff.text([
        roman("TOML, version 1. "),
        bold(format!("ackord {daemon} check")),
        roman(" reads a file and reports every mistake; "),
        bold(format!("systemctl reload ackord-{daemon}")),
        roman(" applies a changed one. Quantities carry their unit, as in \"30 s\", \"20 Mbit/s\", \"1 MB\", \"5 %\"."),
    ]);
    keys(&mut roff, "KEYS", "", file.keys);
    roff.control("SH", ["EXAMPLE"]);
    roff.control("nf", []);
    for line in file.example.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff.control("SH", ["SEE ALSO"]);
    roff.text([bold(format!("ackord-{daemon}")), roman("(1)")]);
    roff.to_roff()
}

/// Writes a section with `keys`, and one with the keys of each table among them.
fn keys(roff: &mut Roff, heading: &str, above: &str, keys_of_table: &'static [Key]) {
    roff.control("SH", [heading]);
    for key in keys_of_table {
        roff.control("TP", []);
        roff.text([bold(format!("{above}{}", key.name)), roman(" = "), value(&key.shape)]);
        let need = match key.need {
            Need::Required => " Required.".to_owned(),
            Need::Optional(default) => format!(" Without it: {default}."),
        };
        let example = match key.example {
            "" => String::new(),
            example => format!(" Example: {example}"),
        };
        roff.text([roman(format!("{}.{need}{example}", key.doc))]);
    }
    for key in keys_of_table {
        match key.shape {
            Shape::Table(inner) => {
                let path = format!("{above}{}", key.name);
                keys(roff, &format!("KEYS OF [{path}]"), &format!("{path}."), inner);
            }
            Shape::List(inner) => keys(roff, &format!("KEYS OF EACH [[{}]]", key.name), "", inner),
            _ => {}
        }
    }
}

fn value(shape: &Shape) -> Inline {
    let names = |mechanisms: fn() -> &'static [ackord_units::Mechanism], also: &str| {
        let names: Vec<&str> = mechanisms().iter().map(|mechanism| mechanism.name).collect();
        format!("{}{also}, or a table with kind and knobs", names.join(", "))
    };
    let words = match shape {
        Shape::Integer { min, max } if *max == u64::MAX => format!("whole number from {min}"),
        Shape::Integer { min, max } => format!("whole number, {min} to {max}"),
        Shape::Span => "time".to_owned(),
        Shape::Rate => "rate".to_owned(),
        Shape::Bytes => "amount of data".to_owned(),
        Shape::Ratio => "share".to_owned(),
        Shape::Words(words) => words.join(", "),
        Shape::Choice { mechanisms, .. } => names(*mechanisms, ""),
        Shape::ChoiceOrNone { mechanisms, .. } => names(*mechanisms, ", none"),
        Shape::Table(_) => "table".to_owned(),
        Shape::List(_) => "list of tables".to_owned(),
        Shape::Names => "list of names".to_owned(),
        Shape::Text | Shape::Label | Shape::Name => "text".to_owned(),
        _ => "value".to_owned(),
    };
    italic(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(keys: &'static [Key]) -> Vec<&'static str> {
        let inner = |key: &'static Key| match key.shape {
            Shape::Table(inner) | Shape::List(inner) => names(inner),
            _ => Vec::new(),
        };
        keys.iter().flat_map(|key| [vec![key.name], inner(key)].concat()).collect()
    }

    #[test]
    fn every_key_of_a_file_is_in_its_page_with_its_description() {
        let pages = pages();
        for (keys, (name, page)) in
            [GatewayConfig::format().0, AgentConfig::format().0].into_iter().zip(&pages)
        {
            // A hyphen is written so that it can be copied.
            let plain = page.replace("\\-", "-");
            for key in names(keys) {
                assert!(plain.contains(&format!("{key}\\fR = ")), "{name}: {key}");
            }
        }
    }
}
