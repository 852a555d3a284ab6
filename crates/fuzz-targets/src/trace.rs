//! Text of a mahimahi trace: it is a trace that is written and read again as the same, or an error.

use ackord_path::Trace;

/// Text of a mahimahi trace.
pub fn trace(data: &[u8]) {
    let text = crate::text(data);
    if let Ok(trace) = Trace::parse(text) {
        assert_eq!(Trace::parse(&trace.to_text()).as_ref(), Ok(&trace));
    }
}
