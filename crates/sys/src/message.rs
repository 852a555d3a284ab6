//! What driver and keeper say to each other: eight bytes, and sometimes a text or a descriptor.
//!
//! There are two sockets: news go from the keeper to the driver at any time; on the other one the
//! driver asks and the keeper answers.

/// News: everything is ready and the device comes along. The number is the keeper's process number
/// as the mounted `/proc` counts.
pub(super) const READY: u8 = 1;
/// News, or an answer: it could not be done. The number is the errno, the step says where.
pub(super) const FAILED: u8 = 2;
/// News: the command `index` has ended; the number is its wait status.
pub(super) const ENDED: u8 = 3;
/// News: the command `index` could not be started; the number is the errno.
pub(super) const NOT_STARTED: u8 = 4;
/// News: the command `index` was stopped, as by Ctrl-Z.
pub(super) const STOPPED: u8 = 5;
/// News: the wish `index` was refused, see [`super::plan::Plan::wishes`]; the number is the errno.
pub(super) const REFUSED: u8 = 6;
/// Order: let the command `index` start. No answer.
pub(super) const START: u8 = 7;
/// Order: send the command `index` the signal of this number. No answer.
pub(super) const SIGNAL: u8 = 8;
/// Order: let the stopped command `index` go on, in the foreground where the number is not zero.
/// No answer.
pub(super) const RESUME: u8 = 9;
/// Question: a socket of the family `index` and the kind `number`.
pub(super) const SOCKET: u8 = 10;
/// Question: the file of the path that follows, opened for reading.
pub(super) const OPEN: u8 = 11;
/// Answer: here it is, as a descriptor.
pub(super) const HERE: u8 = 12;

/// News: the device of this `index` comes along; the first comes with [`READY`].
pub(super) const DEVICE: u8 = 13;

/// Bytes of a message without a text.
pub(super) const MESSAGE_LEN: usize = 8;
/// Bytes of the longest question.
pub(super) const QUESTION_LEN: usize = 128;

/// A message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Message {
    /// Which of the constants above.
    pub(super) kind: u8,
    /// A [`super::SetupStep`], with a failure.
    pub(super) step: u8,
    /// Which command, wish or family.
    pub(super) index: u16,
    /// What the kind says.
    pub(super) number: i32,
}

impl Message {
    pub(super) fn new(kind: u8, index: u16, number: i32) -> Message {
        Message { kind, step: 0, index, number }
    }

    pub(super) fn to_bytes(self) -> [u8; MESSAGE_LEN] {
        let [low, high] = self.index.to_ne_bytes();
        let [a, b, c, d] = self.number.to_ne_bytes();
        [self.kind, self.step, low, high, a, b, c, d]
    }

    /// Reads what [`Message::to_bytes`] wrote; nothing where there are not enough bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Message> {
        let &[kind, step, low, high, a, b, c, d] = bytes.first_chunk()?;
        let (index, number) = (u16::from_ne_bytes([low, high]), i32::from_ne_bytes([a, b, c, d]));
        Some(Message { kind, step, index, number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back_and_less_is_refused() {
        let message = Message { kind: ENDED, step: 3, index: 300, number: -77 };
        assert_eq!(Message::from_bytes(&message.to_bytes()), Some(message));
        assert_eq!(Message::from_bytes(&message.to_bytes()[..7]), None);
    }
}
