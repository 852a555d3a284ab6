//! What comes before the first step: what kind of endpoint it is.

use super::tokens::Cursor;
use super::wrong::Wrong;
use crate::model::Reads;
use crate::problem::not_among;
use ackord_tcp::registry::Stack;
use ackord_units::Seq;
use ackord_wire::IpVersion;

/// The words a header line begins with.
pub(super) const WORDS: &[&str] = &["profile", "set", "ip", "role", "iss", "irs", "reads"];

/// The initial sequence numbers are far apart and not zero, so that an endpoint that takes one for
/// the other is caught.
const ISS: Seq = Seq(1_000_000_000);
const IRS: Seq = Seq(3_000_000_000);

/// What the header says.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) stack: Stack,
    pub(super) ip: IpVersion,
    pub(super) passive: bool,
    pub(super) iss: Seq,
    pub(super) irs: Seq,
    pub(super) reads: Reads,
    last_set: usize,
    choices_made: bool,
}

impl Default for Header {
    fn default() -> Header {
        Header {
            stack: Stack::named("rfc").expect("the profile is registered"),
            ip: IpVersion::V4,
            passive: false,
            iss: ISS,
            irs: IRS,
            reads: Reads::OnCall,
            last_set: 0,
            choices_made: false,
        }
    }
}

impl Header {
    /// Takes in a header line, whose text without its comment is `text`.
    pub(super) fn line(
        &mut self,
        line: usize,
        text: &str,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), Wrong> {
        let word = cursor.word("a header")?;
        match word.text {
            "profile" => {
                if self.choices_made {
                    let what = "a profile replaces every choice: write it before `set`";
                    return Err(cursor.wrong_before(what));
                }
                let name = cursor.word("the name of a profile")?;
                self.stack = Stack::named(name.text)
                    .map_err(|error| cursor.wrong_before(error.to_string()))?;
            }
            "set" => {
                let setting = text.trim_start().trim_start_matches("set");
                if setting.trim_start().starts_with("profile") {
                    return Err(cursor.wrong("a profile has a line of its own: `profile linux`"));
                }
                self.stack.set_text(setting).map_err(|error| cursor.wrong(error.to_string()))?;
                (self.choices_made, self.last_set) = (true, line);
                return Ok(());
            }
            "ip" => {
                self.ip = one_of(cursor, &[("v4", IpVersion::V4), ("v6", IpVersion::V6)])?;
            }
            "role" => self.passive = one_of(cursor, &[("active", false), ("passive", true)])?,
            "iss" => self.iss = Seq(cursor.count("a sequence number", MAX_SEQ)? as u32),
            "irs" => self.irs = Seq(cursor.count("a sequence number", MAX_SEQ)? as u32),
            _ => {
                self.reads =
                    one_of(cursor, &[("on-call", Reads::OnCall), ("at-once", Reads::AtOnce)])?;
            }
        }
        cursor.finish(&format!("`{}`", word.text))
    }

    /// Whether the settings make sense together; else the line of the last of them, and why not.
    pub(super) fn check(&self) -> Result<(), (usize, String)> {
        self.stack.check().map_err(|error| (self.last_set, error.to_string()))
    }
}

const MAX_SEQ: u64 = u32::MAX as u64;

fn one_of<T: Copy>(cursor: &mut Cursor<'_>, words: &[(&str, T)]) -> Result<T, Wrong> {
    let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
    let token = cursor.word(&names.join(" or "))?;
    match words.iter().find(|(name, _)| *name == token.text) {
        Some((_, value)) => Ok(*value),
        None => Err(cursor.wrong_before(not_among(token.text, "allowed here", &names))),
    }
}
