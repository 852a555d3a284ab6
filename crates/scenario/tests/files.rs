//! Files that cannot be read, and what is said about them.

use ackord_scenario::{Scenario, ScenarioFile};
use std::fs;
use std::path::PathBuf;

/// A folder of its own for one test, gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).expect("the build folder can be written to");
        Folder(folder)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).expect("the build folder can be written to");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn refused(path: impl Into<PathBuf>) -> String {
    ScenarioFile::open(path.into()).expect_err("cannot be read").to_string()
}

#[test]
fn a_missing_file_brings_the_nearest_library_scenario_to_mind() {
    assert_eq!(
        refused("scenarios/dumbel.toml"),
        "error: there is no such file, and no built-in scenario of this name\n\
         --> scenarios/dumbel.toml\n \
          = help: did you mean `dumbbell`?\n \
          = help: `ackord list scenarios` lists the built-in ones\n\n\
         scenarios/dumbel.toml: 1 error\n"
    );
    assert!(refused("lossywifi").contains("`lossy-wifi`"));
    assert!(refused("wifi").contains("`lossy-wifi`"), "a part of a name is remembered too");
    let far = refused("/nowhere/zzzzzzzzzzzzzzzzzzzz.toml");
    assert!(far.contains("`ackord list scenarios`") && !far.contains("did you mean"), "{far}");
}

#[test]
fn a_library_scenario_is_found_by_name_from_anywhere() {
    for path in ["dumbbell", "scenarios/dumbbell.toml", "some/where/scenarios/dumbbell.toml"] {
        let scenario = Scenario::from_file(path).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(scenario.name, "dumbbell");
    }
    assert!(ScenarioFile::open("elsewhere/dumbbell.toml").is_err(), "that names a file");
    let unknown = ScenarioFile::from_library("dumbel").expect_err("no such name").to_string();
    assert!(unknown.contains("did you mean `dumbbell`?"), "{unknown}");
}

#[test]
fn a_directory_is_not_a_file() {
    let folder = Folder::new("directory");
    let text = refused(&folder.0);
    assert!(text.starts_with("error: this is a directory, not a file\n"), "{text}");
}

#[test]
fn bytes_that_are_not_text_are_placed() {
    let folder = Folder::new("bytes");
    let text = refused(folder.file("latin1.toml", b"version = 1\nname = \"caf\xe9\"\n"));
    assert!(text.starts_with("error: line 2 is not UTF-8 text\n"), "{text}");
}

#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    let folder = Folder::new("large");
    let text = refused(folder.file("large.toml", &vec![b'#'; 17 * 1024 * 1024]));
    assert!(text.starts_with("error: the file is too large\n"), "{text}");
}

#[test]
fn errors_name_the_file_as_it_was_given() {
    let folder = Folder::new("named");
    let path = folder.file("named.toml", b"version = 3\n");
    let errors = Scenario::from_file(&path).expect_err("incomplete");
    assert!(errors.to_string().contains(&format!("--> {}:1:11", path.display())), "{errors}");
}

#[test]
fn a_scenario_with_windows_line_ends_is_the_same_scenario() {
    let file = ScenarioFile::from_library("dumbbell").expect("in the library");
    let windows = file.text().replace('\n', "\r\n");
    let scenario = Scenario::from_toml(&windows, "windows").expect("sound");
    assert_eq!(scenario, file.check().expect("sound"));
}
