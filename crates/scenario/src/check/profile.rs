//! `profile = "..."`: every choice and knob of a stack at once.

use super::reader::Field;
use super::report::Report;
use crate::error::{NameOf, Wrong};
use ackord_tcp::registry::{PROFILES, Stack, profile};

/// The endpoint that the profile named in `field` stands for.
pub(super) fn named(report: &mut Report, field: &Field<'_>) -> Option<Stack> {
    let name = field.text(report, "the name of a profile")?;
    let found = profile(name);
    if found.is_none() {
        let known = PROFILES.iter().map(|profile| profile.name);
        field.report(report, Wrong::unknown_name(NameOf::Profile, name, known));
    }
    found.map(Stack::of_profile)
}
