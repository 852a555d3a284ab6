//! Which bucket a flow's packets go into.

use ackord_units::Keyword;
use ackord_units::mix64;
use ackord_wire::FlowId;

/// How flows are told apart by a queue with a fixed number of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Keyword)]
pub enum BucketBy {
    /// By a salted hash: flows may share a bucket, as in routers.
    #[default]
    Hash,
    /// By the flow's number: none share a bucket while there are no more flows than buckets.
    Flow,
}

/// The buckets of a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buckets {
    count: u32,
    by: BucketBy,
    salt: u64,
}

impl Buckets {
    /// So many, at least one.
    pub(crate) fn new(count: u32, by: BucketBy, salt: u64) -> Buckets {
        Buckets { count: count.max(1), by, salt }
    }

    /// True if both have as many buckets and choose them by the same rule, whatever the salt.
    pub(crate) fn is_like(&self, other: &Buckets) -> bool {
        (self.count, self.by) == (other.count, other.by)
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Puts flows into other buckets from now on.
    pub(crate) fn perturb(&mut self, salt: u64) {
        self.salt = salt;
    }

    /// The bucket of a flow.
    pub(crate) fn of(&self, flow: FlowId) -> u32 {
        match self.by {
            BucketBy::Flow => flow.0 % self.count,
            BucketBy::Hash => {
                let hash = mix64(self.salt ^ u64::from(flow.0));
                ((u128::from(hash) * u128::from(self.count)) >> 64) as u32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_spreads_flows_evenly_and_a_salt_spreads_them_anew() {
        let mut buckets = Buckets::new(16, BucketBy::Hash, 1);
        let mut counts = [0_u32; 16];
        (0..16_000).for_each(|flow| counts[buckets.of(FlowId(flow)) as usize] += 1);
        // Binomial(16000, 1/16): 1000 with a standard deviation of 31; five of them.
        assert!(counts.iter().all(|count| count.abs_diff(1_000) < 153), "{counts:?}");
        let before: Vec<_> = (0..1_000).map(|flow| buckets.of(FlowId(flow))).collect();
        buckets.perturb(2);
        let same = (0..1_000).filter(|&flow| buckets.of(FlowId(flow)) == before[flow as usize]);
        // One in sixteen by chance: 62 with a standard deviation of 8.
        assert!(same.count() < 100);
    }

    #[test]
    fn by_number_flows_share_only_beyond_the_count() {
        let buckets = Buckets::new(4, BucketBy::Flow, 7);
        let placed: Vec<_> = (0..6).map(|flow| buckets.of(FlowId(flow))).collect();
        assert_eq!(placed, [0, 1, 2, 3, 0, 1]);
    }
}
