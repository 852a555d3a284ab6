//! `ackord gateway trial`: the short form of it, on this machine's kernel; SKIPPED where the machine
//! does not let us.

use crate::common::{ackord, allowed, late, output};
use ackord_testing::{assert_timely, timely};
use serde_json::Value;

/// The report of a command line; nothing where it may not make a namespace.
fn report(arguments: &[&str]) -> Option<Value> {
    let output = ackord(arguments).output().expect("the program starts");
    if !allowed(&output) {
        return None;
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    Some(serde_json::from_slice(&output.stdout).expect("only JSON"))
}

/// The live side of a quantity of the row with this remedy.
fn live(report: &Value, remedy: &str, metric: &str) -> f64 {
    let rows = report["rows"].as_array().expect("a list");
    let row = rows.iter().find(|row| row["remedy"] == remedy).expect("asked for");
    for run in row["compared"]["lateness"].as_array().expect("a list") {
        late(&run["p99_us"]);
    }
    let metrics = row["compared"]["metrics"].as_array().expect("a list");
    let found = metrics.iter().find(|one| one["metric"] == metric);
    found.and_then(|one| one["kernel"].as_f64()).unwrap_or_else(|| panic!("{metric} of {row}"))
}

#[test]
fn a_flow_goes_on_at_once_after_an_outage_and_every_octet_is_the_one_that_was_sent() {
    timely(|| {
        let command = ["gateway", "trial", "outage-1500", "--quick", "--runs", "1", "--json", "-"];
        let only = ["--way", "download", "--ip", "ipv4", "--sender", "cubic"];
        let remedies = ["--remedy", "none", "--remedy", "proxy-tcp"];
        let Some(found) = report(&[&command[..], &only, &remedies].concat()) else { return };
        // A run in which a host got another byte than was sent there fails as a whole.
        let router = |what: &str| found["router"][what].as_u64().expect("a count");
        assert_eq!((router("runs"), router("refused"), router("unchecked")), (2, 0, 0), "{found}");
        assert_eq!(router("lost"), 0, "{found}");
        // Two flows of eight seconds, out for a fifth of that, at 10 Mbit/s in packets of 1500 bytes.
        assert!(router("handed") > 5_000 && router("made") > 0, "{found}");
        let first = |remedy: &str| live(&found, remedy, "first data after an outage");
        let goodput = |remedy: &str| live(&found, remedy, "goodput");
        assert!(goodput("none") > 1.0 && goodput("proxy-tcp") < 10.0, "{found}");
        // Without help the sender's timer has to expire, which had been doubled twice at least.
        assert_timely!(first("none") > 200.0, "{} ms", first("none"));
        assert_timely!(first("proxy-tcp") < 150.0, "{} ms", first("proxy-tcp"));
    });
}

#[test]
fn what_is_not_there_to_be_tried_is_bad_input() {
    let wrong: [(&[&str], &str); 3] = [
        (&["outage-1600"], "did you mean `outage-1500`"),
        (&["--remedy", "snop"], "did you mean `snoop`"),
        (&["unequal-round-trips", "--remedy", "snoop"], "there is no remedy of these scenarios"),
    ];
    for (arguments, said) in wrong {
        let output = output(&[&["gateway", "trial"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(said), "{errors}");
    }
}
