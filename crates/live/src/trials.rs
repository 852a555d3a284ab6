//! Trials: whatever foreign hosts send, nothing panics, and the bytes of one are never taken for those
//! of another. Property tests and fuzzing share them, so a case is nothing but bytes.
//!
//! | file | what |
//! | --- | --- |
//! | `trials/gateway.rs` | [`gateway`]: packets, sockets and time at the gateway of a shell |
//! | `trials/foreign.rs` | [`foreign`]: packets of two foreign hosts on an emulated path with a middlebox |
//! | `trials/case.rs` | numbers and packets out of the bytes of a case |
//!
//! Everywhere the byte with sequence number `n` is `n` modulo 256, so that one look at a segment or a
//! stream says whether its bytes are in their places, whoever sent them and however often.

mod case;
mod foreign;
mod gateway;

pub use foreign::foreign;
pub use gateway::gateway;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::fs;
    use std::path::Path;

    /// Mostly small numbers: the beginnings of cases say what is done, not with what.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop_oneof![0_u8..16, any::<u8>()], 1..600)
    }

    /// Every input that fuzzing has kept of a target.
    fn replay(name: &str, target: fn(&[u8])) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
        let mut inputs = 0;
        for entry in fs::read_dir(&folder).expect("a corpus") {
            let path = entry.expect("an entry").path();
            println!("{}", path.display());
            target(&fs::read(path).expect("readable"));
            inputs += 1;
        }
        assert!(inputs > 0, "an empty corpus");
    }

    #[test]
    fn the_corpus_of_the_gateway() {
        replay("gateway", super::gateway);
    }

    #[test]
    fn the_corpus_of_foreign_hosts() {
        replay("foreign", super::foreign);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn the_gateway_stands_whatever_comes(case in bytes()) {
            super::gateway(&case);
        }

        #[test]
        fn an_emulation_stands_whatever_foreign_hosts_send(case in bytes()) {
            super::foreign(&case);
        }
    }
}
