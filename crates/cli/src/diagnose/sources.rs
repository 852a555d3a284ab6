//! Captures that can be read again: what comes through a pipe is kept in a temporary file.

use crate::errors::Failure;
use ackord_diagnose::Reader;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// Whether captures are read once or more often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passes {
    Once,
    Again,
}

/// Captures to be read.
pub(super) struct Sources(Vec<Source>);

enum Source {
    /// A file, or a pipe that is read once.
    Path(PathBuf),
    /// What came through a pipe.
    Kept { name: String, file: File },
}

impl Sources {
    /// The captures named; those from pipes are read to their ends and kept if they are wanted again.
    pub(super) fn open(paths: &[PathBuf], passes: Passes) -> Result<Sources, Failure> {
        let open = |path: &PathBuf| match passes {
            Passes::Again if is_pipe(path) => keep(path),
            _ => Ok(Source::Path(path.clone())),
        };
        Ok(Sources(paths.iter().map(open).collect::<Result<_, Failure>>()?))
    }

    /// What was kept of an interface; nothing where nothing was.
    pub(super) fn of_interface(name: &str, file: Option<File>) -> Sources {
        let kept = file.map(|file| Source::Kept { name: name.to_owned(), file });
        Sources(kept.into_iter().collect())
    }

    /// Whether the end of a capture is in somebody else's hands.
    pub(super) fn waits_for_others(paths: &[PathBuf]) -> bool {
        paths.iter().any(|path| is_pipe(path))
    }

    /// Whether there is something to be read, and once more.
    pub(super) fn can_be_read_again(&self) -> bool {
        let again = |source: &Source| match source {
            Source::Path(path) => !is_pipe(path),
            Source::Kept { .. } => true,
        };
        !self.0.is_empty() && self.0.iter().all(again)
    }

    /// Readers from the beginning of each.
    pub(super) fn readers(&self) -> Result<Vec<Reader>, Failure> {
        let reader = |(number, source): (u16, &Source)| match source {
            Source::Path(path) => Reader::open(path, number).map_err(told),
            Source::Kept { name, .. } => {
                Reader::from_reader(name, Box::new(source.again()?), number).map_err(told)
            }
        };
        (0..).zip(&self.0).map(reader).collect()
    }

    /// The bytes of the first, unpacked.
    pub(super) fn unpacked(&self) -> Result<Box<dyn Read + Send>, Failure> {
        let Some(first) = self.0.first() else { return Ok(Box::new(io::empty())) };
        ackord_diagnose::unpacked(Box::new(first.again()?)).map_err(Failure::Input)
    }
}

impl Source {
    fn again(&self) -> Result<BufReader<File>, Failure> {
        let file = match self {
            Source::Path(path) => File::open(path),
            Source::Kept { file, .. } => file.try_clone().and_then(|mut file| {
                file.rewind()?;
                Ok(file)
            }),
        };
        file.map(BufReader::new).map_err(Failure::Input)
    }
}

fn told(error: ackord_diagnose::OpenError) -> Failure {
    Failure::Diagnose(error.to_string())
}

/// Whether it can be read only once. What is not there is found out when it is opened.
fn is_pipe(path: &Path) -> bool {
    path == Path::new("-")
        || std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

fn keep(path: &Path) -> Result<Source, Failure> {
    let (name, mut input): (String, Box<dyn Read>) = if path == Path::new("-") {
        ("standard input".to_owned(), Box::new(io::stdin().lock()))
    } else {
        let name = path.display().to_string();
        let file =
            File::open(path).map_err(|error| Failure::Diagnose(format!("{name}: {error}")))?;
        (name, Box::new(file))
    };
    let kept = tempfile::tempfile().and_then(|mut file| {
        io::copy(&mut input, &mut file)?;
        Ok(file)
    });
    let file = kept.map_err(|error| {
        Failure::Diagnose(format!(
            "{name} could not be kept in a temporary file: {error}; TMPDIR says where"
        ))
    })?;
    Ok(Source::Kept { name, file })
}
