//! Events folded into series and summaries.
