//! Which connections are left alone, to be compared with.

use crate::Key;
use ackord_daemon::is_left_alone;
use std::net::SocketAddr;

/// Whether a connection is one of those of which `per_mille` in a thousand are left alone. By its ends
/// alone: the same after a restart, and nothing that either end would choose with this in mind.
pub fn is_control(key: Key, per_mille: u16) -> bool {
    let words = [key.mobile, key.fixed].into_iter().flat_map(|end| {
        let [high, low] = halves(end);
        [high, low, u64::from(end.port())]
    });
    is_left_alone(words, per_mille)
}

fn halves(end: SocketAddr) -> [u64; 2] {
    let bytes = match end {
        SocketAddr::V4(end) => end.ip().to_ipv6_mapped().octets(),
        SocketAddr::V6(end) => end.ip().octets(),
    };
    let whole = u128::from_be_bytes(bytes);
    [(whole >> 64) as u64, whole as u64]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_so_many_are_left_alone_always_the_same_ones() {
        let keys = (0..20_000_u32).map(|number| Key {
            mobile: SocketAddr::from(([192, 0, 2, (number % 250) as u8], (number / 250) as u16)),
            fixed: SocketAddr::from(([198, 51, 100, 1], 443)),
        });
        let left: Vec<Key> = keys.clone().filter(|key| is_control(*key, 50)).collect();
        // Of 20,000 a twentieth is 1000, give or take 31 (a standard deviation).
        assert!((850..1_150).contains(&left.len()), "{}", left.len());
        assert!(left.iter().all(|key| is_control(*key, 50) && is_control(*key, 100)));
        assert!(keys.clone().all(|key| is_control(key, 1_000) && !is_control(key, 0)));
        // The very same ones as ever: they are told by their ends alone.
        let first: Vec<String> = left.iter().take(4).map(|key| key.mobile.to_string()).collect();
        assert_eq!(first, ["192.0.2.30:0", "192.0.2.35:0", "192.0.2.59:0", "192.0.2.90:0"]);
    }
}
