//! Why a capture cannot be read at all, and what to do.

use std::io;

/// A capture cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no such file.
    #[error("{name}: there is no such file; check the name")]
    NotFound {
        /// The file.
        name: String,
    },
    /// It may not be read.
    #[error("{name}: no permission to read it; try `sudo`, or ask its owner for a copy")]
    NotPermitted {
        /// The file.
        name: String,
    },
    /// It is a directory.
    #[error("{name} is a directory; name the capture files in it")]
    Directory {
        /// The directory.
        name: String,
    },
    /// It has no bytes.
    #[error(
        "{name} is empty (0 bytes); if the capture still runs, its program has not written yet: \
         `tcpdump -U` writes every packet at once"
    )]
    Empty {
        /// The file.
        name: String,
    },
    /// It is of another kind.
    #[error("{name} is {what}, not a capture in pcap or pcapng; {advice}")]
    Foreign {
        /// The file.
        name: String,
        /// What it is.
        what: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// Nobody here knows its kind.
    #[error(
        "{name} is not a capture in pcap or pcapng: it begins with {first}; \
         if Wireshark opens it, `editcap -F pcapng OLD NEW` makes one of it"
    )]
    Unknown {
        /// The file.
        name: String,
        /// Its first bytes, in hexadecimal.
        first: String,
    },
    /// It begins as a capture does, and ends or breaks before the first packet.
    #[error("{name}: {what}; nothing of it can be read")]
    Damaged {
        /// The file.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// The file or the pipe failed.
    #[error("{name}: {source}")]
    Io {
        /// The file.
        name: String,
        /// How.
        source: io::Error,
    },
}

impl OpenError {
    /// What the operating system said of a file.
    pub(super) fn of_file(name: &str, source: io::Error) -> OpenError {
        let name = name.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => OpenError::NotFound { name },
            io::ErrorKind::PermissionDenied => OpenError::NotPermitted { name },
            _ => OpenError::Io { name, source },
        }
    }
}
