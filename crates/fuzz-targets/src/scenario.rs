//! Text of a scenario file: it is a scenario whose canonical form means the same, or a list of what
//! is wrong with it that can be shown.

use ackord_scenario::{Scenario, Style};

/// Text of a scenario file.
pub fn scenario(data: &[u8]) {
    let text = crate::text(data);
    match Scenario::from_toml(text, "fuzzed.toml") {
        Ok(scenario) => {
            let canonical = scenario.canonical();
            let again = Scenario::from_toml(&canonical, "canonical.toml");
            let again = again.unwrap_or_else(|errors| panic!("{errors}\n{canonical}"));
            assert_eq!(again.canonical(), canonical);
            assert_eq!(again.hash(), scenario.hash());
        }
        Err(errors) => assert!(!errors.render(Style::Plain).is_empty()),
    }
}
