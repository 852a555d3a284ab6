//! The library: every scenario is sound, and all of them come along.

use ackord_scenario::{Override, Scenario, ScenarioFile, Way, library};
use std::collections::BTreeSet;
use std::path::Path;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

#[test]
fn every_library_scenario_is_sound_and_named_as_its_file() {
    for (name, text) in library() {
        let scenario =
            Scenario::from_toml(text, name).unwrap_or_else(|errors| panic!("{name}:\n{errors}"));
        assert_eq!(scenario.name, name);
        assert!(scenario.purpose.len() > 20, "{name} states its purpose");
        assert!(scenario.source.len() >= 10, "{name} states its source");
    }
}

#[test]
fn every_file_of_the_folder_is_in_the_library() {
    let files: BTreeSet<String> = std::fs::read_dir(folder())
        .expect("the folder of scenarios is in the repository")
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    let embedded: BTreeSet<String> = library().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(files, embedded);
}

#[test]
fn a_group_of_a_hundred_goes_in_lock_step() {
    let scenario = Scenario::from_file("dumbbell-100").expect("in the library");
    assert_eq!((scenario.nodes.len(), scenario.links.len(), scenario.flows.len()), (202, 201, 100));
    let flow = &scenario.flows[41];
    assert_eq!(flow.name, "flow-42");
    assert_eq!(scenario.node(flow.client).name, "left-42");
    assert_eq!(scenario.node(flow.server).name, "right-42");
    let route = scenario.route(flow.server, flow.client).expect("checked");
    let names: Vec<_> =
        route.iter().map(|hop| scenario.links[hop.link].direction_name(hop.way)).collect();
    assert_eq!(names, ["n2-right-42.reverse", "bottleneck.reverse", "left-42-n1.reverse"]);
    assert!(route.iter().all(|hop| hop.way == Way::Reverse));
}

#[test]
fn a_group_can_be_resized_from_the_command_line() {
    let smaller = ScenarioFile::from_library("dumbbell")
        .expect("in the library")
        .with_overrides([
            Override::new("hosts.left.count", "3"),
            Override::new("hosts.right.count", "3"),
        ])
        .check()
        .expect("groups stay of one size");
    assert_eq!(smaller.flows.len(), 3);
}

#[test]
fn the_example_of_the_readme_is_sound_and_the_readme_lists_every_scenario() {
    let readme = std::fs::read_to_string(folder().join("README.md")).expect("a text");
    let example = readme
        .split_once("```toml\n")
        .and_then(|(_, rest)| rest.split_once("```"))
        .map(|(example, _)| example)
        .expect("the readme has an example");
    let scenario = Scenario::from_toml(example, "README.md").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scenario.flows.len(), 11);
    for (name, _) in library() {
        assert!(readme.contains(&format!("`{name}`")), "the readme lists {name}");
    }
}
