//! The head of a response, and which status says what.

use super::files::Refused;
use super::request::BadRequest;

/// Everything a response's head says.
pub(super) struct Response<'a> {
    pub(super) status: &'a str,
    pub(super) content_type: &'a str,
    pub(super) length: u64,
    pub(super) keep_alive: bool,
}

impl Response<'_> {
    /// Its bytes.
    pub(super) fn head(&self) -> Vec<u8> {
        let Response { status, content_type, length, keep_alive } = *self;
        let connection = if keep_alive { "keep-alive" } else { "close" };
        let head = format!(
            "HTTP/1.1 {status}\r\nServer: ackord\r\nContent-Type: {content_type}\r\n\
             Content-Length: {length}\r\nConnection: {connection}\r\n\r\n"
        );
        head.into_bytes()
    }
}

pub(super) fn status(why: Refused) -> &'static str {
    match why {
        Refused::Malformed => "400 Bad Request",
        Refused::Forbidden => "403 Forbidden",
        Refused::NotFound => "404 Not Found",
        Refused::InTheWay => "409 Conflict",
        Refused::NoRoom => "507 Insufficient Storage",
    }
}

pub(super) fn bad_request(error: BadRequest) -> &'static str {
    match error {
        BadRequest::Malformed => "400 Bad Request",
        BadRequest::TooLong => "431 Request Header Fields Too Large",
        BadRequest::UnknownCoding => "501 Not Implemented",
        BadRequest::UnknownExpectation => "417 Expectation Failed",
    }
}
