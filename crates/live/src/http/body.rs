//! Where a body ends (RFC 9112 §6 and §7.1).

/// Takes a body out of the bytes that arrive.
#[derive(Debug)]
pub(crate) struct BodyDecoder {
    state: BodyState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyState {
    /// This many bytes are to come.
    Counted(u64),
    /// Everything until the peer closes.
    UntilClose,
    /// A chunk's size line is next.
    ChunkSize,
    /// This many bytes of a chunk are to come.
    Chunk(u64),
    /// The line end after a chunk is next.
    ChunkEnd,
    /// Trailer fields until an empty line.
    Trailer,
    /// There is no more.
    Done,
}

/// A body is not framed as RFC 9112 wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a chunk of the body is malformed")]
pub(crate) struct MalformedBody;

/// A chunk size or a trailer field longer than this is not taken seriously.
const LONGEST_LINE: usize = 4096;

impl BodyDecoder {
    /// A body of `len` bytes.
    pub(crate) fn counted(len: u64) -> BodyDecoder {
        BodyDecoder { state: if len == 0 { BodyState::Done } else { BodyState::Counted(len) } }
    }

    /// A body in chunks that tell their size.
    pub(crate) fn chunked() -> BodyDecoder {
        BodyDecoder { state: BodyState::ChunkSize }
    }

    /// A body that ends with the connection.
    pub(crate) fn until_close() -> BodyDecoder {
        BodyDecoder { state: BodyState::UntilClose }
    }

    /// Moves what belongs to the body from the front of `inbox` to the end of `body`. Bytes after
    /// the body stay in `inbox`. Says whether the body is complete.
    pub(crate) fn decode(
        &mut self,
        inbox: &mut Vec<u8>,
        body: &mut Vec<u8>,
    ) -> Result<bool, MalformedBody> {
        let mut used = 0;
        let result = loop {
            let rest = &inbox[used..];
            match self.step(rest, body) {
                Ok(Some(bytes)) => used += bytes,
                Ok(None) => break Ok(false),
                Err(error) => break Err(error),
            }
            if self.state == BodyState::Done {
                break Ok(true);
            }
        };
        inbox.drain(..used);
        result
    }

    /// Whether the body is complete if the peer closes now.
    pub(crate) fn may_end_here(&self) -> bool {
        matches!(self.state, BodyState::UntilClose | BodyState::Done)
    }

    /// Uses some bytes and says how many; nothing if more have to arrive first.
    fn step(&mut self, rest: &[u8], body: &mut Vec<u8>) -> Result<Option<usize>, MalformedBody> {
        match self.state {
            BodyState::Done => return Ok(Some(0)),
            _ if rest.is_empty() => return Ok(None),
            BodyState::UntilClose => {
                body.extend_from_slice(rest);
                return Ok(Some(rest.len()));
            }
            BodyState::Counted(left) | BodyState::Chunk(left) => {
                let taken = left.min(rest.len() as u64);
                body.extend_from_slice(&rest[..taken as usize]);
                self.state = match (self.state, left - taken) {
                    (BodyState::Counted(_), 0) => BodyState::Done,
                    (BodyState::Counted(_), left) => BodyState::Counted(left),
                    (_, 0) => BodyState::ChunkEnd,
                    (_, left) => BodyState::Chunk(left),
                };
                return Ok(Some(taken as usize));
            }
            BodyState::ChunkSize => match httparse::parse_chunk_size(rest) {
                Ok(httparse::Status::Complete((used, size))) => {
                    self.state =
                        if size == 0 { BodyState::Trailer } else { BodyState::Chunk(size) };
                    return Ok(Some(used));
                }
                Ok(httparse::Status::Partial) => {}
                Err(_) => return Err(MalformedBody),
            },
            BodyState::ChunkEnd if rest.starts_with(b"\r\n") => {
                self.state = BodyState::ChunkSize;
                return Ok(Some(2));
            }
            BodyState::ChunkEnd if rest == b"\r" => {}
            BodyState::ChunkEnd => return Err(MalformedBody),
            BodyState::Trailer => {
                if let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") {
                    self.state = if end == 0 { BodyState::Done } else { BodyState::Trailer };
                    return Ok(Some(end + 2));
                }
            }
        }
        if rest.len() > LONGEST_LINE { Err(MalformedBody) } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds byte by byte; returns the body and what was left over.
    fn trickle(
        mut decoder: BodyDecoder,
        wire: &[u8],
    ) -> Result<(Vec<u8>, Vec<u8>, bool), MalformedBody> {
        let (mut inbox, mut body) = (Vec::new(), Vec::new());
        let mut complete = decoder.decode(&mut inbox, &mut body)?;
        for byte in wire {
            inbox.push(*byte);
            if !complete {
                complete = decoder.decode(&mut inbox, &mut body)?;
            }
        }
        Ok((body, inbox, complete))
    }

    #[test]
    fn chunks_come_out_as_one_body_and_the_next_request_stays() {
        let wire = b"4\r\nWiki\r\n6;note=x\r\npedia \r\n0\r\nA: b\r\n\r\nGET";
        let expected = (b"Wikipedia ".to_vec(), b"GET".to_vec(), true);
        assert_eq!(trickle(BodyDecoder::chunked(), wire), Ok(expected));
    }

    #[test]
    fn a_counted_body_ends_at_its_count_even_if_that_is_zero() {
        let expected = (b"abc".to_vec(), b"d".to_vec(), true);
        assert_eq!(trickle(BodyDecoder::counted(3), b"abcd"), Ok(expected));
        let expected = (Vec::new(), b"x".to_vec(), true);
        assert_eq!(trickle(BodyDecoder::counted(0), b"x"), Ok(expected));
        assert!(!BodyDecoder::counted(1).may_end_here());
    }

    #[test]
    fn without_length_the_body_ends_with_the_connection() {
        let (body, _, complete) = trickle(BodyDecoder::until_close(), b"abc").expect("no framing");
        assert_eq!((body.as_slice(), complete), (&b"abc"[..], false));
        assert!(BodyDecoder::until_close().may_end_here());
    }

    #[test]
    fn malformed_chunks_are_refused() {
        for wire in [&b"xyz\r\n"[..], b"1\r\nab\r\n", b"ffffffffffffffffff\r\n"] {
            assert_eq!(trickle(BodyDecoder::chunked(), wire), Err(MalformedBody));
        }
        let endless = [b"0\r\n".to_vec(), vec![b'a'; LONGEST_LINE + 1]].concat();
        assert_eq!(trickle(BodyDecoder::chunked(), &endless), Err(MalformedBody));
    }
}
