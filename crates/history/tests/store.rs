//! The store: what is recorded stays, what is not a store is left alone.

use ackord_history::{History, Segments, Store, StoreError, Transfer, Verdict};
use ackord_units::{Bytes, Span, Time};
use redb::{Database, TableDefinition};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const NOW: Time = Time::from_nanos(1_700_000_000_000_000_000);

const SEGMENTS: Segments = Segments { size: Bytes(1_460), quick_ack_limit: 512 };

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deeper/history.redb");
    (folder, path)
}

fn transfers(sizes: &[u64]) -> Vec<Transfer> {
    let transfer = |size: &u64| Transfer { size: Bytes(*size), ended_at: NOW, took: None };
    sizes.iter().map(transfer).collect()
}

fn counts(store: &Store) -> Vec<(String, u64)> {
    let list = store.list().expect("a sound store");
    list.into_iter().map(|(name, history)| (name, history.transfers())).collect()
}

#[test]
fn what_is_recorded_is_there_when_it_is_opened_again() {
    let (_folder, path) = place();
    let told = Store::open(&path).expect("a new store");
    let history = told.record("web", &transfers(&[2_000; 8]), NOW).expect("recorded");
    told.record("backup", &transfers(&[5_000_000; 8]), NOW).expect("recorded");
    drop(told);
    let store = Store::open_existing(&path).expect("it is there");
    assert_eq!(store.get("web").expect("sound"), history);
    assert_eq!(counts(&store), [("backup".to_owned(), 8), ("web".to_owned(), 8)]);
    let verdict = |name| store.get(name).expect("sound").advice(NOW, SEGMENTS).verdict;
    assert_eq!((verdict("web"), verdict("backup")), (Verdict::Short, Verdict::Bulk));
    assert_eq!(store.get("nobody").expect("sound"), History::default());
}

#[test]
fn one_call_or_many_make_the_same_history() {
    let (_folder, path) = place();
    let store = Store::open(&path).expect("a new store");
    let all = transfers(&[2_000, 900_000, 1_500, 2_048, 77]);
    store.record("at once", &all, NOW).expect("recorded");
    for transfer in &all {
        store.record("one by one", &[*transfer], NOW).expect("recorded");
    }
    assert_eq!(store.get("at once").expect("sound"), store.get("one by one").expect("sound"));
}

#[test]
fn an_import_with_an_impossible_name_counts_nothing() {
    let (_folder, path) = place();
    let store = Store::open(&path).expect("a new store");
    let bad = [("good".to_owned(), transfers(&[1])), ("bad\n".to_owned(), transfers(&[2]))];
    assert!(matches!(store.import(&bad, NOW), Err(StoreError::BadName(_))));
    assert_eq!(counts(&store), []);
}

#[test]
fn what_claims_to_come_later_than_now_comes_now() {
    let (_folder, path) = place();
    let store = Store::open(&path).expect("a new store");
    let later = NOW + Span::from_secs(86_400 * 365);
    let transfer = Transfer { size: Bytes(5), ended_at: later, took: None };
    let history = store.record("clock", &[transfer], NOW).expect("recorded");
    assert_eq!(history.seen(), Some((NOW, NOW)));
}

#[test]
fn forgetting_takes_one_or_all() {
    let (_folder, path) = place();
    let store = Store::open(&path).expect("a new store");
    for name in ["a", "b", "c"] {
        store.record(name, &transfers(&[1]), NOW).expect("recorded");
    }
    assert!(store.forget("b").expect("sound"));
    assert!(!store.forget("b").expect("sound"));
    assert_eq!(counts(&store), [("a".to_owned(), 1), ("c".to_owned(), 1)]);
    assert_eq!(store.forget_all().expect("sound"), 2);
    assert_eq!(counts(&store), []);
}

#[test]
fn a_second_opener_is_told_and_the_first_goes_on() {
    let (_folder, path) = place();
    let store = Store::open(&path).expect("a new store");
    assert!(matches!(Store::open(&path), Err(StoreError::InUse(_))));
    store.record("web", &transfers(&[1]), NOW).expect("recorded");
    drop(store);
    assert_eq!(counts(&Store::open(&path).expect("free again")), [("web".to_owned(), 1)]);
}

#[test]
fn nothing_is_made_where_a_store_must_exist() {
    let (_folder, path) = place();
    assert!(matches!(Store::open_existing(&path), Err(StoreError::Missing(_))));
    assert!(!path.exists());
}

/// Tries to open a file that is no store of ours, and checks that it is as it was.
fn refused(path: &Path) -> StoreError {
    let before = std::fs::read(path).expect("it is there");
    let error = Store::open(path).expect_err("it is no store");
    assert!(std::fs::read(path).expect("it is still there") == before, "{error}");
    error
}

fn redb_with(path: &Path, table: &str, version: u64) {
    let table: TableDefinition<'_, &str, u64> = TableDefinition::new(table);
    let database = Database::create(path).expect("a new database");
    let transaction = database.begin_write().expect("writable");
    transaction.open_table(table).expect("a table").insert("version", version).expect("kept");
    transaction.commit().expect("kept");
}

#[test]
fn a_foreign_file_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in [("empty", &b""[..]), ("text", b"redb? no"), ("magic", b"redb\x1a\x0a")]
    {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("written");
        assert!(matches!(refused(&path), StoreError::Foreign(_)), "{name}");
    }
    let path = folder.path().join("other.redb");
    redb_with(&path, "somebody.elses", 1);
    assert!(matches!(refused(&path), StoreError::Foreign(_)));
}

#[test]
fn a_store_of_a_later_version_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("later.redb");
    redb_with(&path, "ackord.history.meta", 2);
    let error = refused(&path);
    assert!(matches!(error, StoreError::Newer { found: 2, known: 1, .. }), "{error}");
}

#[test]
fn a_store_that_lost_its_end_or_was_overwritten_is_an_error() {
    let (_folder, path) = place();
    Store::open(&path).expect("a new store").record("web", &transfers(&[1]), NOW).expect("kept");
    let whole = std::fs::read(&path).expect("readable");
    for kept in [9, 100, 4_096, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..kept]).expect("written");
        let outcome = Store::open(&path).and_then(|store| store.list());
        assert!(outcome.is_err(), "{kept} of {} bytes", whole.len());
    }
}
