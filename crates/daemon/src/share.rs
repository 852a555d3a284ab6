//! Which connections are left alone, to be compared with: a share of them, by a hash.

/// Whether something that these words stand for is one of those of which `per_mille` in a thousand are left
/// alone. By the words alone: the same after a restart.
pub fn is_left_alone(words: impl IntoIterator<Item = u64>, per_mille: u16) -> bool {
    let mixed = words.into_iter().fold(0, |mixed, word| mix(mixed ^ word));
    mixed % 1_000 < u64::from(per_mille)
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
pub fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_so_many_are_left_alone_always_the_same_ones_and_more_of_a_larger_share() {
        let left =
            |per_mille| (0..20_000).filter(move |number| is_left_alone([*number, 443], per_mille));
        // Of 20,000 a twentieth is 1000, give or take 31 (a standard deviation).
        assert!((850..1_150).contains(&left(50).count()), "{}", left(50).count());
        assert!(left(50).eq(left(50)) && left(50).all(|number| is_left_alone([number, 443], 100)));
        assert_eq!((left(0).count(), left(1_000).count()), (0, 20_000));
    }

    #[test]
    fn the_words_are_mixed_as_printed() {
        // The first output of SplitMix64 seeded with 0.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }
}
