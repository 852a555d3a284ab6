//! Logarithm, exponential and power from sums and products alone: the same bits on every machine,
//! which the standard library's do not promise, since they are the platform's.

use std::f64::consts::{LN_2, SQRT_2};

/// The natural logarithm of a positive normal number.
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i32 - 1_023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1_023 << 52));
    if mantissa > SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 artanh t with t = (m - 1) / (m + 1), |t| <= 0.172: the first term left out is
    // below 2^-53.
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    let series = (0..11).rev().fold(0.0, |sum, n| sum * square + 1.0 / f64::from(2 * n + 1));
    f64::from(exponent) * LN_2 + 2.0 * t * series
}

/// e to the power of `x`, for |x| below 700.
pub fn exp(x: f64) -> f64 {
    // e^x = 2^n e^r with |r| <= ln 2 / 2, and e^r by its series: the 18th term is below 2^-60.
    let n = (x / LN_2).round();
    let r = x - n * LN_2;
    let series = (1..18).rev().fold(1.0, |sum, k| 1.0 + sum * r / f64::from(k));
    let n = n as i32;
    let power = |n: i32| f64::from_bits(((1_023 + n) as u64) << 52);
    // In two steps, because 2^n alone may be beyond the largest number.
    series * power(n / 2) * power(n - n / 2)
}

/// A positive normal number to the power of `y`, for results between e^-700 and e^700.
pub fn pow(x: f64, y: f64) -> f64 {
    exp(y * ln(x))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the platform's are what these are compared with")]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_right_over_the_whole_range() {
        for x in [f64::MIN_POSITIVE, 1e-300, 1e-9, 0.25, 0.5, 0.999_999, 1.0, 1.5, 2.0, 7.3, 1e300]
        {
            let (found, known) = (ln(x), x.ln());
            assert!((found - known).abs() <= 1e-15 * known.abs().max(1.0), "{x}: {found}, {known}");
        }
    }

    #[test]
    fn the_exponential_is_right_over_the_whole_range() {
        for x in [-700.0, -30.5, -1.0, -1e-9, 0.0, 1e-12, 0.3465, 0.3466, 1.0, 20.0, 699.0_f64] {
            let (found, known) = (exp(x), x.exp());
            // n ln 2 is rounded before it is taken off: an error that grows with |x|.
            let bound = (4.0 + x.abs()) * f64::EPSILON / 2.0;
            assert!((found / known - 1.0).abs() <= bound, "{x}: {found}, {known}");
        }
    }

    #[test]
    fn the_power_is_right_where_draws_use_it() {
        for (x, y) in [(1e4, -0.9), (1e-16, -1.0 / 0.9), (0.5, -1.0 / 1.5), (1.0, 3.0), (1e4, 0.1)]
        {
            let (found, known) = (pow(x, y), f64::powf(x, y));
            // The rounding of y ln x becomes an error of the result that grows with it.
            let bound = (8.0 + 4.0 * (y * x.ln()).abs()) * f64::EPSILON / 2.0;
            assert!((found / known - 1.0).abs() <= bound, "{x}^{y}: {found}, {known}");
        }
    }

    #[test]
    fn the_bits_stay_what_they_are_on_every_machine() {
        // Worked out apart from this code.
        let bits = [ln(0.3), exp(1.7), pow(0.3, -1.0 / 1.5)].map(f64::to_bits);
        assert_eq!(bits, [0xbff3_4378_fcbd_a720, 0x4015_e552_770d_f8a7, 0x4001_d9fe_e007_23a0]);
    }
}
