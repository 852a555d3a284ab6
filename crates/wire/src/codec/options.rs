//! TCP options, both ways.

use crate::{Options, SackBlock, Timestamps};
use ackord_units::Seq;

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// Bytes a TCP header has for options.
pub(super) const MAX_LEN: u32 = 40;

/// The options area of a TCP header cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// An option reaches beyond the header.
    #[error("TCP option {kind} reaches beyond the header")]
    Truncated {
        /// The option's kind.
        kind: u8,
    },
    /// An option has a length that its kind cannot have.
    #[error("TCP option {kind} has the impossible length {len}")]
    BadLength {
        /// The option's kind.
        kind: u8,
        /// The length it claims.
        len: u8,
    },
}

/// Appends the options in the layout of [`Options::wire_len`], whether they fit or not.
pub(crate) fn put(options: &Options, out: &mut Vec<u8>) {
    let mut put = |bytes: &[u8]| out.extend_from_slice(bytes);
    if let Some(mss) = options.mss {
        let [high, low] = mss.to_be_bytes();
        put(&[MSS, 4, high, low]);
    }
    match (options.sack_permitted, options.timestamps.is_some()) {
        (true, true) => put(&[SACK_PERMITTED, 2]),
        (true, false) => put(&[NOP, NOP, SACK_PERMITTED, 2]),
        (false, true) => put(&[NOP, NOP]),
        (false, false) => {}
    }
    if let Some(timestamps) = options.timestamps {
        put(&[TIMESTAMPS, 10]);
        put(&timestamps.value.to_be_bytes());
        put(&timestamps.echo.to_be_bytes());
    }
    if let Some(shift) = options.window_scale {
        put(&[NOP, WINDOW_SCALE, 3, shift]);
    }
    let blocks = options.sack.as_slice();
    if !blocks.is_empty() {
        put(&[NOP, NOP, SACK, 2 + 8 * blocks.len() as u8]);
        for block in blocks {
            put(&block.start.0.to_be_bytes());
            put(&block.end.0.to_be_bytes());
        }
    }
}

/// Reads the options area. Unknown kinds are skipped (RFC 9293 §3.1, MUST-6); of an option given
/// twice the last one counts.
pub(crate) fn read(mut area: &[u8]) -> Result<Options, OptionsError> {
    let mut options = Options::default();
    loop {
        let (kind, len) = match *area {
            [] | [END, ..] => return Ok(options),
            [NOP, ..] => {
                area = &area[1..];
                continue;
            }
            [kind] => return Err(OptionsError::Truncated { kind }),
            [kind, len, ..] if len < 2 => return Err(OptionsError::BadLength { kind, len }),
            [kind, len, ..] => (kind, len),
        };
        if area.len() < usize::from(len) {
            return Err(OptionsError::Truncated { kind });
        }
        let (option, rest) = area.split_at(usize::from(len));
        read_one(kind, &option[2..], &mut options).ok_or(OptionsError::BadLength { kind, len })?;
        area = rest;
    }
}

/// Takes one option's value; nothing if the kind is known and the length wrong.
fn read_one(kind: u8, value: &[u8], options: &mut Options) -> Option<()> {
    match kind {
        MSS => options.mss = Some(u16::from_be_bytes(value.try_into().ok()?)),
        WINDOW_SCALE => {
            let [shift] = value.try_into().ok()?;
            options.window_scale = Some(shift);
        }
        SACK_PERMITTED => {
            let [] = value.try_into().ok()?;
            options.sack_permitted = true;
        }
        TIMESTAMPS => {
            let bytes: [u8; 8] = value.try_into().ok()?;
            let (value, echo) = be_pair(bytes);
            options.timestamps = Some(Timestamps { value, echo });
        }
        SACK => {
            let (blocks, rest) = value.as_chunks::<8>();
            if blocks.is_empty() || !rest.is_empty() {
                return None;
            }
            options.sack = Default::default();
            for block in blocks {
                let (start, end) = be_pair(*block);
                // Forty bytes hold four blocks at most, so none is turned away.
                options.sack.push(SackBlock { start: Seq(start), end: Seq(end) });
            }
        }
        _ => {}
    }
    Some(())
}

fn be_pair(bytes: [u8; 8]) -> (u32, u32) {
    let both = u64::from_be_bytes(bytes);
    ((both >> 32) as u32, both as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_option_is_skipped_and_the_rest_read() {
        let area = [254, 4, 0xde, 0xad, NOP, WINDOW_SCALE, 3, 7];
        assert_eq!(read(&area), Ok(Options { window_scale: Some(7), ..Options::default() }));
    }

    #[test]
    fn nothing_after_the_end_of_options_counts() {
        assert_eq!(read(&[END, MSS, 4, 1, 2]), Ok(Options::default()));
    }

    #[test]
    fn impossible_options_are_named() {
        assert_eq!(read(&[MSS, 3, 1]), Err(OptionsError::BadLength { kind: MSS, len: 3 }));
        assert_eq!(read(&[77, 0]), Err(OptionsError::BadLength { kind: 77, len: 0 }));
        assert_eq!(read(&[77, 5, 1]), Err(OptionsError::Truncated { kind: 77 }));
        assert_eq!(read(&[SACK]), Err(OptionsError::Truncated { kind: SACK }));
        assert_eq!(read(&[SACK, 2]), Err(OptionsError::BadLength { kind: SACK, len: 2 }));
    }

    #[test]
    fn a_syn_of_a_common_stack_is_laid_out_as_usual() {
        let options = Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 1, echo: 0 }),
            ..Options::default()
        };
        let expected = [2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7];
        let mut written = Vec::new();
        put(&options, &mut written);
        assert_eq!(written, expected);
    }
}
