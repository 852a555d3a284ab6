//! A daemon whose changes are files with a word in them.

use super::*;
use std::path::PathBuf;

/// A file whose word was changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Word {
    file: PathBuf,
    old: String,
    new: String,
}

impl Change for Word {
    const FILE: &'static str = "words";
    const LOCK: Lock = Lock::File("words.lock");

    fn in_words(&self) -> String {
        format!("{} for {}", self.new, self.old)
    }

    fn undo(&self) -> io::Result<bool> {
        match fs::read_to_string(&self.file)? {
            text if text == self.new => fs::write(&self.file, &self.old).map(|()| true),
            _ => Ok(false),
        }
    }
}

/// The same, of a daemon that has the directory to itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Alone {}

impl Change for Alone {
    const FILE: &'static str = "journal";
    const LOCK: Lock = Lock::Directory;

    fn in_words(&self) -> String {
        "nothing".to_owned()
    }

    fn undo(&self) -> io::Result<bool> {
        Ok(true)
    }
}

/// A directory with a file in it, whose word is changed from one to the other.
struct World {
    directory: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        World { directory: tempfile::tempdir().expect("a directory") }
    }

    fn open(&self) -> (Journal<Word>, Undone) {
        Journal::open(self.directory.path()).expect("nobody else has it")
    }

    fn change(&self, file: &str, old: &str, new: &str) -> Word {
        let file = self.directory.path().join(file);
        Word { file, old: old.to_owned(), new: new.to_owned() }
    }

    fn make(&self, journal: &Journal<Word>, change: &Word) {
        journal.make(change, || fs::write(&change.file, &change.new)).expect("a file");
    }

    fn journal(&self) -> Option<String> {
        fs::read_to_string(self.directory.path().join("words")).ok()
    }
}

#[test]
fn one_process_at_a_time_and_daemons_that_share_a_directory_are_no_hindrance_to_each_other() {
    let world = World::new();
    let directory = world.directory.path();
    let (journal, undone) = world.open();
    assert_eq!((undone, journal.standing()), (Undone::default(), vec![]));
    let (alone, _) = Journal::<Alone>::open(directory).expect("of another daemon");
    let seconds = [
        Journal::<Word>::open(directory).map(drop).expect_err("the second"),
        Journal::<Alone>::open(directory).map(drop).expect_err("the second"),
    ];
    let locked = [directory.join("words.lock"), directory.to_owned()];
    for (error, path) in seconds.iter().zip(locked) {
        let expected = format!("{}: another process has it open", path.display());
        assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::ResourceBusy, expected));
    }
    drop((journal, alone));
    assert!(Journal::<Word>::open(directory).is_ok() && Journal::<Alone>::open(directory).is_ok());
}

#[test]
fn a_change_is_known_before_it_is_made_and_forgotten_when_it_was_not() {
    let world = World::new();
    let (journal, _) = world.open();
    let (one, other) = (world.change("a", "one", "two"), world.change("b", "three", "four"));
    let seen = journal.make(&one, || {
        assert!(world.journal().expect("it is written").contains("\"new\":\"two\""));
        Ok(())
    });
    seen.expect("it was made");
    let refused = journal.make(&other, || Err(io::Error::from_raw_os_error(libc::EPERM)));
    assert_eq!(refused.expect_err("it was not").raw_os_error(), Some(libc::EPERM));
    assert_eq!(journal.standing(), ["two for one"]);
    journal.undone(&one).expect("it is written");
    assert_eq!((journal.standing(), world.journal()), (vec![], None), "no file without a change");
}

#[test]
fn what_was_left_is_undone_latest_first_unless_somebody_has_changed_it_since() {
    let world = World::new();
    let (journal, _) = world.open();
    let changes = [
        world.change("a", "one", "two"),
        world.change("a", "two", "three"),
        world.change("b", "four", "five"),
    ];
    changes.iter().for_each(|change| world.make(&journal, change));
    fs::write(&changes[2].file, "six").expect("a file");
    drop(journal);
    let (journal, undone) = world.open();
    // The other way round the first of both would not have been found as it was made.
    assert_eq!(undone.undone, ["three for two", "two for one"]);
    assert_eq!((undone.superseded, undone.left), (vec!["five for four".to_owned()], vec![]));
    let word = |change: &Word| fs::read_to_string(&change.file).expect("a file");
    assert_eq!((word(&changes[0]), word(&changes[2])), ("one".to_owned(), "six".to_owned()));
    assert_eq!(journal.standing(), [""; 0]);
}

#[test]
fn an_end_that_is_clean_undoes_the_same_and_leaves_no_file() {
    let world = World::new();
    let (journal, _) = world.open();
    let changes = [world.change("a", "one", "two"), world.change("a", "two", "three")];
    changes.iter().for_each(|change| world.make(&journal, change));
    let undone = journal.undo_all().expect("it is written");
    assert_eq!(undone.undone, ["three for two", "two for one"]);
    assert_eq!(fs::read_to_string(&changes[0].file).expect("a file"), "one");
    assert_eq!((journal.standing(), world.journal()), (vec![], None));
    // It goes on from there.
    world.make(&journal, &world.change("a", "one", "four"));
    assert_eq!(journal.standing(), ["four for one"]);
}

#[test]
fn what_cannot_be_undone_and_what_is_in_another_namespace_is_kept_in_its_order() {
    let world = World::new();
    let here = namespace().expect("there is one");
    let line = |file: &str, new: &str, namespace| {
        let line = Line { change: world.change(file, "old", new), namespace };
        serde_json::to_string(&line).expect("plain") + "\n"
    };
    let kept = line("gone", "elsewhere", here ^ 1) + &line("gone", "here", here);
    fs::write(world.directory.path().join("words"), &kept).expect("it is ours");
    let (journal, undone) = world.open();
    assert_eq!((undone.undone.len(), undone.superseded.len()), (0, 0));
    assert!(undone.left[0].starts_with("here for old: No such file"), "{undone:?}");
    assert_eq!(undone.left[1], "elsewhere for old: in another network namespace");
    assert_eq!(journal.standing(), ["elsewhere for old", "here for old"]);
    assert_eq!(world.journal(), Some(kept));
}

#[test]
fn what_is_no_journal_is_said_with_its_line_and_left_as_it_is() {
    let world = World::new();
    let path = world.directory.path().join("words");
    for (text, why) in [
        ("nonsense\n", "expected ident at line 1 column 2"),
        (
            "{\"file\":1,\"namespace\":2}\n",
            "invalid type: integer `1`, expected path string at line 1 column 9",
        ),
        ("{\"file\":\"a\",\"old\":\"b\",\"new\":\"c\"}\n", "missing field `namespace`"),
    ] {
        fs::write(&path, text).expect("it is ours");
        let error =
            Journal::<Word>::open(world.directory.path()).map(drop).expect_err("no journal");
        let expected = format!("{}, line 1 is no line of a journal: {why}", path.display());
        assert!(error.to_string().starts_with(&expected), "{error}");
        assert_eq!(world.journal().as_deref(), Some(text));
    }
}

#[test]
fn without_a_journal_there_is_nothing_to_clean_up() {
    let world = World::new();
    let found = Journal::<Word>::clean_up(world.directory.path()).expect("nothing is no error");
    assert_eq!(found, Undone::default());
    assert!(fs::read_dir(world.directory.path()).expect("there").next().is_none());
    let (journal, _) = world.open();
    world.make(&journal, &world.change("a", "one", "two"));
    drop(journal);
    let found = Journal::<Word>::clean_up(world.directory.path()).expect("it is ours");
    assert_eq!((found.undone.len(), world.journal()), (1, None));
}
