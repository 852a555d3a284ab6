//! docs/live-settings.md is these settings, for Linux 6.18: written anew by
//! `BLESS=1 cargo test -p ackord-live --lib settings::page`.

use super::tests::choices_of;
use super::{KernelFacts, SettingTold, settings_with};
use ackord_tcp::registry::CHOICES;
use std::fmt::Write as _;
use std::path::Path;

const HEAD: &str = "\
# What can be set on a stock kernel

A live run asks the stock kernel for what the scenario says of an endpoint, as far as a program
without privileges beyond its own network namespace may ask: sysctls of the namespace, options of the
sockets, attributes of the default route. Every choice and every knob of the scenario is told with
what came of it: *set* (by what), *already* (the kernel does so anyway), or *instead* (what the kernel
does in its place). This page is that table for Linux 6.18 with HZ = 250, written by
`crates/live/src/settings/page.rs`; that what is set is there afterwards is tested on the kernel that
runs the tests (`settings/tests.rs`), and what it does was observed on connections between two
namespaces (`settings/observed.rs`): options agreed on, windows, timeouts, acknowledgments, Nagle,
losses, buffers.

Beside these, `net.ipv4.tcp_no_metrics_save = 1` lets every connection start afresh. A program that
sets no option of its own, such as one that a scenario runs, has what sysctls and the route say; the
congestion control is in the route for its sake, since the sysctl of a namespace takes only what
`tcp_allowed_congestion_control` lists.

Sysctls and the route belong to a host. Two flows that end at one host and ask for different values
there are refused, with the names of host, flows and knob. The route's `congctl` is the first flow's.

Never touched: parameters of modules (`/sys/module/tcp_cubic/parameters`), which belong to the whole
machine, and anything that needs BPF.
";

fn row(page: &mut String, told: &SettingTold) {
    let SettingTold { knob, asked, outcome } = told;
    let _ = writeln!(page, "| `{knob}` | {asked} | {} | {} |", outcome.word(), outcome.detail());
}

fn page() -> String {
    let kernel = KernelFacts::of_linux_6_18();
    let mut page = HEAD.to_owned();
    let head =
        "\n| choice or knob | asked | | how, why, or what instead |\n| --- | --- | --- | --- |\n";
    for profile in ["linux", "rfc"] {
        let _ = write!(page, "\n## `profile = \"{profile}\"`\n{head}");
        for told in settings_with(&choices_of(profile), &kernel).told {
            row(&mut page, &told);
        }
    }
    let _ = write!(page, "\n## Each mechanism, with its own knobs\n{head}");
    for chosen in CHOICES {
        for mechanism in chosen.mechanisms {
            let mut choices = choices_of("rfc");
            let choice = choices.choice_mut(chosen.key).expect("one of the five choices");
            assert!(choice.choose(mechanism.name), "{}", mechanism.name);
            let own = format!("{}.", chosen.key);
            let told = settings_with(&choices, &kernel).told;
            let of_it =
                |told: &&SettingTold| told.knob == chosen.key || told.knob.starts_with(&own);
            for told in told.iter().filter(of_it) {
                row(&mut page, told);
            }
        }
    }
    page
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the test that writes the page reads BLESS")]
fn the_page_is_what_the_settings_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/live-settings.md");
    let page = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &page).expect("written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == page,
        "docs/live-settings.md is out of date: BLESS=1 cargo test -p ackord-live --lib settings::page"
    );
}
