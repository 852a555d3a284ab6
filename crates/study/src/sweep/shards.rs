//! Shards of a sweep: whether they make a whole, and their files in one folder.

use super::folder::{Folder, JOURNAL, SweepError, cannot};
use super::plan::Shard;
use super::sweep::finished;
use std::fs;
use std::path::Path;

/// Every shard of one sweep is there once, and finished.
pub(super) fn check(shards: &[Folder]) -> Result<(), SweepError> {
    let wrong = |what: String| Err(SweepError::Shards(what));
    let [first, others @ ..] = shards else { return wrong("no folder is named".to_owned()) };
    let whole = first.plan.clone().whole();
    for other in others {
        let differences = other.plan.clone().whole().differences(&whole);
        if !differences.is_empty() {
            let (one, two) = (other.path.display(), first.path.display());
            return wrong(format!(
                "`{one}` and `{two}` are of different sweeps: {}",
                differences.join(", ")
            ));
        }
    }
    let Some(of) = first.shard().map(Shard::of) else {
        return wrong(format!("`{}` is no shard but a whole sweep", first.path.display()));
    };
    for shard in Shard::all(of) {
        let there: Vec<_> = shards.iter().filter(|folder| folder.shard() == Some(shard)).collect();
        match there[..] {
            [_] => {}
            [] => return wrong(format!("shard {shard} is missing")),
            [one, two, ..] => {
                let (one, two) = (one.path.display(), two.path.display());
                return wrong(format!("shard {shard} is there twice: `{one}` and `{two}`"));
            }
        }
    }
    if let Some(odd) = shards.iter().find(|folder| folder.shard().map(Shard::of) != Some(of)) {
        return wrong(format!("`{}` is none of {of} shards", odd.path.display()));
    }
    for folder in shards {
        let (done, of) = finished(folder)?;
        if done < of {
            let path = folder.path.display();
            return wrong(format!("`{path}` is not finished: {done} of {of} runs are done"));
        }
    }
    Ok(())
}

/// Their journals behind each other, and the files of each run.
pub(super) fn copy(shards: &[Folder], out: &Path) -> Result<(), SweepError> {
    let mut journal = Vec::new();
    for shard in shards {
        let file = shard.path.join(JOURNAL);
        if file.exists() {
            journal.extend(fs::read(&file).map_err(cannot("read", &file))?);
            if journal.last().is_some_and(|last| *last != b'\n') {
                journal.push(b'\n');
            }
        }
        for quantity in &shard.plan.series {
            let (from, to) = (series_of(&shard.path, quantity), series_of(out, quantity));
            fs::create_dir_all(&to).map_err(cannot("create the folder", &to))?;
            for entry in fs::read_dir(&from).into_iter().flatten().flatten() {
                let target = to.join(entry.file_name());
                fs::copy(entry.path(), &target).map_err(cannot("write", &target))?;
            }
        }
    }
    let (file, partial) = (out.join(JOURNAL), out.join("runs.partial"));
    fs::write(&partial, journal).map_err(cannot("write", &partial))?;
    fs::rename(&partial, &file).map_err(cannot("write", &file))
}

fn series_of(folder: &Path, quantity: &str) -> std::path::PathBuf {
    folder.join("series").join(quantity)
}
