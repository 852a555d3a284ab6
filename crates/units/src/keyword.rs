//! The words of knobs that take one of a few: what each stands for.

use crate::{Choice, KnobKind, Mechanism};

impl Choice {
    /// What the word of a knob stands for among `meanings`; nothing if it has no word, or one that
    /// they do not list. So a word that is registered and means nothing is never taken for another.
    ///
    /// # Panics
    /// If the mechanism lists no such knob, as [`Choice::value`] does.
    pub fn keyword<T: Copy>(&self, knob: &str, meanings: &[(&str, T)]) -> Option<T> {
        let word = self.value(knob)?.as_choice()?;
        meanings.iter().find(|(known, _)| *known == word).map(|&(_, meaning)| meaning)
    }
}

impl Mechanism {
    /// For tests: the pairs of words of one knob that build the same, whatever the other knobs
    /// that take words say. `built` shows what a choice becomes, or nothing where it is refused.
    pub fn confused_words(
        &'static self,
        built: impl Fn(&Choice) -> Option<String>,
    ) -> Vec<(&'static str, [&'static str; 2])> {
        let words = self.knobs.iter().flat_map(|knob| match knob.kind {
            KnobKind::Choice(words) => words.iter().map(|&word| (knob, word)).collect(),
            _ => Vec::new(),
        });
        let words: Vec<_> = words.collect();
        let with = |choice: Choice, (knob, word): (&crate::Knob, &str)| {
            choice.with(knob.name, knob.kind.parse(word).expect("a word it lists"))
        };
        let surroundings: Vec<_> = [Choice::of(self)]
            .into_iter()
            .chain(words.iter().map(|&word| with(Choice::of(self), word)))
            .collect();
        let mut confused = Vec::new();
        for (at, &one) in words.iter().enumerate() {
            let others = words[at + 1..].iter().filter(|(knob, _)| knob.name == one.0.name);
            for &other in others {
                let apart = surroundings.iter().any(|around| {
                    let [one, other] = [one, other].map(|word| built(&with(around.clone(), word)));
                    one.is_some() && other.is_some() && one != other
                });
                if !apart {
                    confused.push((one.0.name, [one.1, other.1]));
                }
            }
        }
        confused
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Knob;

    const fn knob(name: &'static str, words: &'static [&'static str]) -> Knob {
        Knob { name, kind: KnobKind::Choice(words), default: words[0], doc: "", source: "" }
    }

    static COLOURED: Mechanism = Mechanism {
        name: "coloured",
        family: "test",
        summary: "",
        source: "",
        knobs: &[knob("mode", &["grey", "full"]), knob("colour", &["red", "green", "blue"])],
    };

    #[test]
    fn a_word_without_a_meaning_is_nothing_and_not_the_last_one() {
        let choice = COLOURED.knob("colour").expect("listed").kind.parse("blue").expect("listed");
        let choice = Choice::of(&COLOURED).with("colour", choice);
        assert_eq!(choice.keyword("colour", &[("red", 1), ("blue", 3)]), Some(3));
        assert_eq!(choice.keyword("colour", &[("red", 1), ("green", 2)]), None);
    }

    #[test]
    fn words_are_told_apart_where_another_knob_lets_them_show() {
        let shown = |colours: &[(&str, u8)], choice: &Choice| {
            let full = choice.keyword("mode", &[("grey", false), ("full", true)])?;
            let colour = choice.keyword("colour", colours)?;
            Some(if full { format!("full {colour}") } else { "grey".to_owned() })
        };
        let sound = [("red", 1), ("green", 2), ("blue", 3)];
        assert_eq!(COLOURED.confused_words(|choice| shown(&sound, choice)), []);
        let alike = [("red", 1), ("green", 2), ("blue", 1)];
        let expected = [("colour", ["red", "blue"])];
        assert_eq!(COLOURED.confused_words(|choice| shown(&alike, choice)), expected);
        let missing = [("red", 1), ("green", 2)];
        let expected = [("colour", ["red", "blue"]), ("colour", ["green", "blue"])];
        assert_eq!(COLOURED.confused_words(|choice| shown(&missing, choice)), expected);
    }
}
