//! Text of a mahimahi trace: it is a trace that is written and read again as the same, or an error.
#![no_main]

use ackord_path::Trace;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(trace) = Trace::parse(text) {
        assert_eq!(Trace::parse(&trace.to_text()).as_ref(), Ok(&trace));
    }
});
