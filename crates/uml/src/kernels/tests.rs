//! The cache with fake kernels: what is found, what never is, what replaces what.

use super::cache::{BINARY, CONFIG};
use super::hash::hash_of_file;
use super::source::{check_tree, hash_of_tree, is_version};
use super::*;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use tempfile::TempDir;

const GO_ON: ControlFlow<()> = ControlFlow::Continue(());

/// A cache of its own, which goes with it.
struct Fake {
    kernels: Kernels,
    folder: TempDir,
    /// When the next one is said to have been built.
    now: u64,
}

impl Fake {
    fn new() -> Fake {
        let folder = tempfile::tempdir().unwrap();
        Fake { kernels: Kernels::at(&folder.path().join("kernels")), folder, now: 1 }
    }

    /// Keeps something that is no kernel but looks like one from outside.
    fn keep(&mut self, wish: &KernelWish, release: &str, source: Source) -> Kernel {
        let made = self.kernels.folder().join(".building");
        fs::create_dir_all(&made).unwrap();
        fs::write(made.join(BINARY), format!("{wish} {release} {source}")).unwrap();
        fs::write(made.join(CONFIG), "CONFIG_UML=y\n").unwrap();
        self.now += 1;
        let kernel = Kernel {
            name: wish.name.clone(),
            release: release.to_owned(),
            hz: wish.hz,
            hash: hash_of_file(&made.join(BINARY)).unwrap(),
            source,
            recipe: recipe::hash(wish.hz),
            lacks: Vec::new(),
            bytes: 3,
            built_at_unix_s: self.now,
            binary: BINARY.into(),
            config: CONFIG.into(),
        };
        let key = format!("{:012x}", self.now);
        self.kernels.keep(&made, &self.kernels.place(wish, &key), &kernel).unwrap()
    }

    fn stock(&mut self, name: &str, hz: u32, release: &str) -> Kernel {
        let package = format!("linux-source-{name}");
        let source = Source::Package { package, version: format!("{release}-1") };
        self.keep(&KernelWish { name: name.to_owned(), hz }, release, source)
    }

    fn own(&mut self, name: &str, hash: &str) -> Kernel {
        let source = Source::Tree { path: "src/linux".into(), hash: hash.to_owned() };
        self.keep(&KernelWish::named(name), "6.12.9", source)
    }

    fn refusal(&self, wish: &KernelWish) -> KernelError {
        self.kernels.find(wish).expect_err("nothing is to be found")
    }
}

/// Rewrites what is recorded of a kernel.
fn edit(kernel: &Kernel, from: &str, to: &str) {
    let record = kernel.binary.with_file_name("kernel.json");
    let text = fs::read_to_string(&record).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(&record, text.replace(from, to)).unwrap();
}

#[test]
fn a_kernel_is_found_by_version_by_release_and_by_ticks() {
    let mut fake = Fake::new();
    let slow = fake.stock("6.12", 250, "6.12.117");
    let quick = fake.stock("6.12", 1000, "6.12.117");
    assert_eq!(fake.kernels.find(&KernelWish::default()).unwrap(), slow);
    assert_eq!(fake.kernels.find(&KernelWish::named("6.12.117")).unwrap(), slow);
    assert_eq!(fake.kernels.find(&quick.wish()).unwrap(), quick);
    assert!(slow.binary.is_file() && slow.config.is_file());
    let odd = KernelWish { hz: 123, ..KernelWish::default() };
    assert!(matches!(fake.refusal(&odd), KernelError::BadHz(123)));
}

#[test]
fn of_several_the_newest_release_is_found_and_the_older_stays_to_be_asked_for() {
    let mut fake = Fake::new();
    let newer = fake.stock("6.12", 250, "6.12.117");
    let older = fake.stock("6.12", 250, "6.12.99");
    assert_eq!(fake.kernels.find(&KernelWish::default()).unwrap(), newer);
    assert_eq!(fake.kernels.find(&KernelWish::named("6.12.99")).unwrap(), older);
    let names: Vec<_> = fake.kernels.list().unwrap().kernels;
    let names: Vec<_> = names.iter().map(|kept| kept.kernel.release.as_str()).collect();
    assert_eq!(names, ["6.12.117", "6.12.99"]);
}

#[test]
fn what_is_not_built_is_refused_with_the_command_and_what_there_is() {
    let mut fake = Fake::new();
    let none = fake.refusal(&KernelWish::default()).to_string();
    assert_eq!(
        none,
        "the kernel 6.12 has not been built (there is none yet); build it: `ackord kernel build 6.12`"
    );
    fake.stock("6.12", 250, "6.12.117");
    fake.own("beta512", "0123456789abcdef");
    let other = fake.refusal(&KernelWish::named("6.1")).to_string();
    assert!(other.contains("(there are: 6.12, beta512)"), "{other}");
    let ticks = fake.refusal(&KernelWish { name: "6.12".into(), hz: 1000 }).to_string();
    assert!(ticks.contains("`ackord kernel build 6.12 --hz 1000`"), "{ticks}");
    let near = fake.refusal(&KernelWish::named("beta521")).to_string();
    assert!(near.contains("(there is `beta512`)"), "{near}");
    assert!(near.ends_with("`ackord kernel build --source DIR --name beta521`"), "{near}");
    assert_eq!(fake.refusal(&KernelWish::named("6.1")).exit_code(), 2);
}

#[test]
fn a_damaged_kernel_is_told_and_not_started() {
    let mut fake = Fake::new();
    let kernel = fake.stock("6.12", 250, "6.12.117");
    fs::write(&kernel.binary, "something else").unwrap();
    let error = fake.refusal(&KernelWish::default()).to_string();
    assert!(error.contains("is damaged") && error.contains("is not what was built"), "{error}");
    assert!(error.ends_with("`ackord kernel build 6.12`"), "{error}");
    assert!(matches!(fake.kernels.list().unwrap().kernels[0].state, State::Damaged(_)));
    fs::remove_file(&kernel.binary).unwrap();
    assert!(matches!(fake.refusal(&KernelWish::default()), KernelError::Damaged { .. }));
}

#[test]
fn half_a_kernel_is_never_found_nor_is_anything_foreign() {
    let mut fake = Fake::new();
    let kernel = fake.stock("6.12", 250, "6.12.117");
    let half = fake.kernels.folder().join(".building/made");
    fs::create_dir_all(&half).unwrap();
    for name in ["linux", "kernel.json", "kernel.config"] {
        fs::copy(kernel.binary.with_file_name(name), half.join(name)).unwrap();
    }
    let foreign = fake.kernels.folder().join("notes");
    fs::create_dir(&foreign).unwrap();
    fs::write(fake.kernels.folder().join("lock"), "").unwrap();
    let listing = fake.kernels.list().unwrap();
    assert_eq!((listing.kernels.len(), listing.unreadable), (1, vec![foreign]));
    fs::write(kernel.binary.with_file_name("kernel.json"), "{").unwrap();
    assert!(matches!(fake.refusal(&KernelWish::default()), KernelError::NotBuilt { .. }));
    assert_eq!(fake.kernels.remove_all().unwrap(), 2);
    assert!(fake.folder.path().is_dir());
}

#[test]
fn a_kernel_of_another_recipe_is_outdated_until_it_is_built_anew() {
    let mut fake = Fake::new();
    let kernel = fake.stock("6.12", 250, "6.12.117");
    edit(&kernel, &kernel.recipe, "0123");
    let error = fake.refusal(&KernelWish::named("6.12.117"));
    assert!(matches!(error, KernelError::Outdated { .. }));
    assert!(error.to_string().ends_with("build it anew: `ackord kernel build 6.12`"), "{error}");
    assert_eq!(fake.kernels.list().unwrap().kernels[0].state, State::Outdated);
    let anew = fake.stock("6.12", 250, "6.12.117");
    assert_eq!(fake.kernels.find(&KernelWish::default()).unwrap(), anew);
    assert!(!kernel.binary.exists());
}

#[test]
fn a_changed_tree_replaces_what_it_was_and_a_stock_kernel_stays() {
    let mut fake = Fake::new();
    let stock = fake.stock("6.12", 250, "6.12.117");
    let before = fake.own("beta512", "0123456789abcdef");
    let after = fake.own("beta512", "fedcba9876543210");
    assert_eq!(fake.kernels.find(&KernelWish::named("beta512")).unwrap(), after);
    assert!(!before.binary.exists() && stock.binary.exists());
}

#[test]
fn a_kernel_is_removed_by_name_and_an_unknown_name_is_told() {
    let mut fake = Fake::new();
    fake.stock("6.12", 250, "6.12.117");
    let quick = fake.stock("6.12", 1000, "6.12.117");
    fake.own("beta512", "0123456789abcdef");
    let error = fake.kernels.remove("beta5", None).expect_err("there is none").to_string();
    assert!(error.contains("(there is `beta512`)"), "{error}");
    assert_eq!(fake.kernels.remove("6.12", Some(1000)).unwrap(), [quick]);
    assert_eq!(fake.kernels.remove("6.12", None).unwrap().len(), 1);
    assert_eq!(fake.kernels.list().unwrap().kernels.len(), 1);
}

/// Something that looks like the source of a kernel.
fn tree(folder: &Path) {
    for file in ["Makefile", "Kconfig", "arch/um/Kconfig", "arch/um/drivers/virtio_uml.c"] {
        let file = folder.join(file);
        fs::create_dir_all(file.parent().expect("a folder")).unwrap();
        fs::write(&file, "content").unwrap();
    }
}

#[test]
fn the_hash_of_a_tree_is_of_names_and_contents_and_not_of_git() {
    let folder = tempfile::tempdir().unwrap();
    tree(folder.path());
    let hash = || hash_of_tree(folder.path(), &mut || GO_ON).unwrap();
    let before = hash();
    fs::create_dir(folder.path().join(".git")).unwrap();
    fs::write(folder.path().join(".git/index"), "whatever").unwrap();
    assert_eq!(hash(), before);
    fs::write(folder.path().join("Makefile"), "CONTENT").unwrap();
    let changed = hash();
    fs::write(folder.path().join("Makefile"), "content").unwrap();
    assert_eq!(hash(), before);
    fs::rename(folder.path().join("Makefile"), folder.path().join("makefile")).unwrap();
    let renamed = hash();
    assert!(changed != before && renamed != before && renamed != changed);
    let stopped = hash_of_tree(folder.path(), &mut || ControlFlow::Break(()));
    assert!(matches!(stopped, Err(KernelError::Interrupted)));
}

#[test]
fn a_tree_that_cannot_be_built_from_is_refused_with_what_helps() {
    let folder = tempfile::tempdir().unwrap();
    let none = check_tree(folder.path()).expect_err("it is empty").to_string();
    assert!(none.ends_with("no `Makefile`"), "{none}");
    tree(folder.path());
    check_tree(folder.path()).unwrap();
    fs::write(folder.path().join(".config"), "CONFIG_UML=y\n").unwrap();
    let dirty = check_tree(folder.path()).expect_err("it was built in").to_string();
    assert!(dirty.contains("has been built in") && dirty.contains("mrproper"), "{dirty}");
}

#[test]
fn a_tree_of_ones_own_cannot_be_called_like_a_version_nor_like_a_path() {
    let fake = Fake::new();
    for name in ["6.12", "../x", ".x", "a b", "", "-x"] {
        let order = BuildOrder {
            wish: KernelWish::named(name),
            tree: Some(fake.folder.path().to_owned()),
            jobs: None,
        };
        let error = fake.kernels.build(&order, &mut |_| GO_ON).expect_err("a bad name");
        assert!(matches!(error, KernelError::BadName(_)), "{name}: {error}");
    }
    assert!(
        is_version("6.12") && is_version("6.8.0") && !is_version("beta512") && !is_version("6")
    );
    assert!(!fake.kernels.folder().exists());
}

#[test]
fn an_unknown_version_is_refused_before_anything_is_done() {
    let fake = Fake::new();
    for version in ["0.99", "no version", "6.12-rc"] {
        let order = BuildOrder { wish: KernelWish::named(version), tree: None, jobs: None };
        let error = fake.kernels.build(&order, &mut |_| GO_ON).expect_err("there is none");
        assert!(matches!(error, KernelError::NoSource { .. }), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
    assert!(!fake.kernels.folder().exists());
}
