//! When a packet should come out of a link of constant rate and delay, and by how much it missed.

use ackord_units::{Bytes, Rate, Span};

/// What a link does to packets that it does not drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LinkTheory {
    pub(super) rate: Rate,
    pub(super) delay: Span,
}

impl LinkTheory {
    /// When packets of `ip_len` bytes that enter at these instants, which are in order, come out:
    /// each is transmitted after the one before it, and then travels.
    pub(super) fn arrivals(self, entered: impl Iterator<Item = u64>, ip_len: u32) -> Vec<u64> {
        let transmission = self.rate.time_for(Bytes(u64::from(ip_len))).as_nanos();
        let mut free_at = 0;
        let arrival = |entered: u64| {
            free_at = entered.max(free_at) + transmission;
            free_at + self.delay.as_nanos()
        };
        entered.map(arrival).collect()
    }
}

/// How something is distributed that may be negative, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// How many values.
    pub count: u64,
    /// The smallest, in nanoseconds.
    pub least_nanos: i64,
    /// Half of them are at most this, in nanoseconds.
    pub p50_nanos: i64,
    /// All but 1 % are at most this, in nanoseconds.
    pub p99_nanos: i64,
    /// The largest, in nanoseconds.
    pub max_nanos: i64,
}

impl Spread {
    /// Of these values, in any order; all zero where there is none.
    pub(super) fn of(mut nanos: Vec<i64>) -> Spread {
        nanos.sort_unstable();
        let quantile = |share: f64| {
            let rank = (share * nanos.len() as f64).ceil() as usize;
            nanos.get(rank.saturating_sub(1)).copied().unwrap_or_default()
        };
        Spread {
            count: nanos.len() as u64,
            least_nanos: nanos.first().copied().unwrap_or_default(),
            p50_nanos: quantile(0.5),
            p99_nanos: quantile(0.99),
            max_nanos: nanos.last().copied().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_wait_for_those_before_them_and_for_nobody_else() {
        // 1250 bytes at 10 Mbit/s take 1 ms.
        let link = LinkTheory { rate: Rate::from_mbits_per_sec(10), delay: Span::from_millis(5) };
        let millis = |at: [u64; 4]| at.map(|at| at * 1_000_000);
        let entered = millis([10, 10, 11, 20]);
        let arrivals = link.arrivals(entered.into_iter(), 1_250);
        assert_eq!(arrivals, millis([16, 17, 18, 26]).to_vec());
    }

    #[test]
    fn quantiles_are_values_that_were_there() {
        let spread = Spread::of((1..=1000).rev().collect());
        let Spread { count, least_nanos, p50_nanos, p99_nanos, max_nanos } = spread;
        assert_eq!((count, least_nanos), (1000, 1));
        assert_eq!((p50_nanos, p99_nanos, max_nanos), (500, 990, 1000));
        assert_eq!(Spread::of(Vec::new()), Spread::default());
        assert_eq!(Spread::of(vec![-7]).p50_nanos, -7);
    }
}
