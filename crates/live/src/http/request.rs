//! What a request's head asks for.

use super::body::BodyDecoder;

/// A head longer than this is refused.
pub(crate) const LONGEST_HEAD: usize = 32 << 10;
/// More fields than this are refused.
const MOST_FIELDS: usize = 100;

/// A request's head.
#[derive(Debug)]
pub(crate) struct Request {
    /// The method as it was written.
    pub(crate) method: String,
    /// The target as it was written.
    pub(crate) target: String,
    /// How its body ends; nothing where it has none.
    pub(crate) body: Option<BodyDecoder>,
    /// Whether the client waits for a word before it sends the body.
    pub(crate) expects_continue: bool,
    /// Whether the connection stays open after the response.
    pub(crate) keep_alive: bool,
}

/// A head that cannot be answered with what it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadRequest {
    /// 400.
    Malformed,
    /// 431.
    TooLong,
    /// 501: a transfer coding that nobody uses any more.
    UnknownCoding,
    /// 417.
    UnknownExpectation,
}

impl Request {
    /// Takes a head off the front of `inbox`; nothing if it has not all arrived.
    pub(crate) fn take(inbox: &mut Vec<u8>) -> Result<Option<Request>, BadRequest> {
        let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut head = httparse::Request::new(&mut fields);
        match head.parse(inbox) {
            Ok(httparse::Status::Complete(len)) => {
                let request = Request::from_head(&head)?;
                inbox.drain(..len);
                Ok(Some(request))
            }
            Ok(httparse::Status::Partial) if inbox.len() > LONGEST_HEAD => Err(BadRequest::TooLong),
            Ok(httparse::Status::Partial) => Ok(None),
            Err(httparse::Error::TooManyHeaders) => Err(BadRequest::TooLong),
            Err(_) => Err(BadRequest::Malformed),
        }
    }

    fn from_head(head: &httparse::Request<'_, '_>) -> Result<Request, BadRequest> {
        let fields = &*head.headers;
        let malformed = BadRequest::Malformed;
        let chunked = is_chunked(fields)?;
        let length = content_length(fields)?;
        let body = match (chunked, length) {
            // RFC 9112 §6.1: both together may be an attempt to smuggle a request.
            (true, Some(_)) => return Err(malformed),
            (true, None) => Some(BodyDecoder::chunked()),
            (false, length) => length.map(BodyDecoder::counted),
        };
        let expects_continue = match values(fields, "expect").next() {
            None => false,
            Some(value) if value.eq_ignore_ascii_case(b"100-continue") => true,
            Some(_) => return Err(BadRequest::UnknownExpectation),
        };
        // RFC 9112 §9.3.
        let keep_alive = match head.version {
            _ if lists(fields, "connection", b"close") => false,
            Some(1) => true,
            _ if lists(fields, "connection", b"keep-alive") => true,
            _ => false,
        };
        Ok(Request {
            method: head.method.ok_or(malformed)?.to_owned(),
            target: head.path.ok_or(malformed)?.to_owned(),
            body,
            expects_continue,
            keep_alive,
        })
    }
}

/// The body's length, if the fields give one; they may repeat it but not contradict it.
pub(crate) fn content_length(fields: &[httparse::Header<'_>]) -> Result<Option<u64>, BadRequest> {
    let mut length = None;
    for value in values(fields, "content-length") {
        let digits = std::str::from_utf8(value)
            .ok()
            .filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
        let one = digits.and_then(|text| text.parse().ok()).ok_or(BadRequest::Malformed)?;
        if length.is_some_and(|length| length != one) {
            return Err(BadRequest::Malformed);
        }
        length = Some(one);
    }
    Ok(length)
}

/// Whether the body comes in chunks.
pub(crate) fn is_chunked(fields: &[httparse::Header<'_>]) -> Result<bool, BadRequest> {
    let mut codings = values(fields, "transfer-encoding");
    match (codings.next(), codings.next()) {
        (None, _) => Ok(false),
        (Some(coding), None) if coding.eq_ignore_ascii_case(b"chunked") => Ok(true),
        _ => Err(BadRequest::UnknownCoding),
    }
}

/// The values of all fields of this name.
fn values<'a>(fields: &'a [httparse::Header<'a>], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    fields
        .iter()
        .filter(move |field| field.name.eq_ignore_ascii_case(name))
        .map(|field| field.value.trim_ascii())
}

fn lists(fields: &[httparse::Header<'_>], name: &str, word: &[u8]) -> bool {
    values(fields, name)
        .flat_map(|value| value.split(|byte| *byte == b','))
        .any(|listed| listed.trim_ascii().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(head: &str) -> Result<Option<Request>, BadRequest> {
        Request::take(&mut head.as_bytes().to_vec())
    }

    #[test]
    fn a_head_is_taken_once_it_is_complete_and_what_follows_stays() {
        let wire = b"PUT /a HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc";
        let mut inbox = Vec::new();
        for (i, byte) in wire.iter().enumerate() {
            inbox.push(*byte);
            if i < wire.len() - 4 {
                assert!(Request::take(&mut inbox).expect("sound").is_none());
            }
        }
        let request = Request::take(&mut inbox).expect("sound").expect("complete");
        assert_eq!((request.method.as_str(), request.target.as_str()), ("PUT", "/a"));
        assert!(request.body.is_some() && request.expects_continue);
        assert_eq!((request.keep_alive, inbox.as_slice()), (true, &b"abc"[..]));
    }

    #[test]
    fn a_connection_stays_open_as_its_version_and_fields_say() {
        for (head, keep_alive) in [
            ("GET / HTTP/1.1\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nConnection: TE, Close\r\n\r\n", false),
            ("GET / HTTP/1.0\r\n\r\n", false),
            ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true),
        ] {
            assert_eq!(
                take(head).expect("sound").expect("complete").keep_alive,
                keep_alive,
                "{head}"
            );
        }
    }

    #[test]
    fn contradictory_and_unreadable_heads_are_refused() {
        let with = |fields: &str| take(&format!("PUT / HTTP/1.1\r\n{fields}\r\n\r\n")).err();
        let malformed = Some(BadRequest::Malformed);
        assert_eq!(with("Content-Length: 3\r\nContent-Length: 4"), malformed);
        assert_eq!(with("Content-Length: 3\r\nTransfer-Encoding: chunked"), malformed);
        assert_eq!(with("Content-Length: +3"), malformed);
        assert_eq!(with("Content-Length: 99999999999999999999"), malformed);
        assert_eq!(with("Transfer-Encoding: gzip"), Some(BadRequest::UnknownCoding));
        assert_eq!(with("Expect: a miracle"), Some(BadRequest::UnknownExpectation));
        assert_eq!(with("Content-Length: 3\r\nContent-Length: 3"), None);
        assert_eq!(take("\0\0\0").err(), malformed);
        assert_eq!(take(&"A".repeat(LONGEST_HEAD + 1)).err(), Some(BadRequest::TooLong));
        assert_eq!(with(&"A: b\r\n".repeat(MOST_FIELDS + 1)), Some(BadRequest::TooLong));
    }
}
