//! Papers on the command line.

use crate::common::{json, output};

#[test]
fn papers_are_listed_and_an_unknown_one_gets_its_neighbour() {
    let papers = json(&["list", "papers", "--json"]);
    assert!(papers.as_array().unwrap().iter().any(|one| one["name"] == "selective-drop"));
    let output = output(&["paper", "selectiv-drop"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("did you mean `selective-drop`?"), "{errors}");
}
