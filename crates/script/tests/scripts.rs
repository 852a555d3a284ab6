//! Every script under `scripts/tcp` is played; their number per folder is printed, in lines that
//! `make test` repeats at its end.

use ackord_script::{feature_of, find_scripts, parse, render_failure, render_problems, run};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn every_script_of_the_project_is_as_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/tcp");
    let scripts = find_scripts(&root).expect("the folder of scripts can be read");
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut complaints = Vec::new();
    for path in &scripts {
        *counts.entry(feature_of(path)).or_default() += 1;
        let name = path.strip_prefix(&root).expect("it was found there").display().to_string();
        let text = std::fs::read_to_string(path).expect("a script is text");
        if !text.starts_with("# ") {
            complaints.push(format!("{name}: it does not begin with what it shows\n"));
        }
        match parse(&text) {
            Err(problems) => complaints.push(render_problems(&name, &text, &problems)),
            Ok(script) => {
                let outcome = run(&script);
                if !outcome.passed() {
                    complaints.push(render_failure(&name, &script.lines, &outcome));
                }
            }
        }
    }
    for (feature, count) in &counts {
        println!("SCRIPTS {count:>5} {feature}");
    }
    println!("SCRIPTS {:>5} scripts in {} folders", scripts.len(), counts.len());
    let (failed, all) = (complaints.len(), scripts.len());
    assert!(complaints.is_empty(), "{failed} of {all} scripts:\n\n{}", complaints.join("\n"));
    assert!(!scripts.is_empty(), "no script was found in {}", root.display());
}
