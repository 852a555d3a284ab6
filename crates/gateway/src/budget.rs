//! How much may be injected: nobody gets more out of the gateway than passed through it.

use ackord_units::Bytes;

/// What was earned and not spent.
///
/// A connection's: data towards the mobile host earns a share of its bytes, up to the burst; what is injected
/// spends them. So a connection's injections never exceed what its sender sent, and whoever forges packets is no
/// better off with a gateway on the way than without. That of all connections is earned by time alone.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    bytes: u64,
    burst: u64,
}

impl Budget {
    /// Nothing earned yet; at most `burst` is saved.
    pub fn new(burst: Bytes) -> Budget {
        Budget { bytes: 0, burst: burst.get() }
    }

    /// So much passed.
    pub fn earn(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes).min(self.burst);
    }

    /// Whether so much may be injected; it is then spent.
    pub fn spend(&mut self, bytes: u64) -> bool {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(self.bytes);
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_spent_that_was_not_earned() {
        let mut budget = Budget::new(Bytes(1_000));
        assert!(!budget.spend(1));
        budget.earn(600);
        assert!(budget.spend(400) && !budget.spend(201) && budget.spend(200));
        budget.earn(u64::MAX);
        assert!(!budget.spend(1_001) && budget.spend(1_000));
    }
}
