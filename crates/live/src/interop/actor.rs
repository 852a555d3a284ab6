//! Our application in an interoperation run: a program of steps on one connection.

use super::program::Step;
use super::stream::{BLOCK, Checksum, Source};
use crate::host::{Service, Stream};
use crate::http::Transfer;
use ackord_units::Time;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::rc::Rc;

/// What one connection has come to.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) sent: u64,
    pub(super) received: u64,
    sent_hash: Sha256,
    received_hash: Sha256,
    pub(super) outcome: Outcome,
}

/// How far a program has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Steps are left.
    #[default]
    Running,
    /// All its steps are done; one that waits for a reset is never done by itself.
    Done,
    /// The peer closed before it had sent what it was to send.
    EndedEarly,
}

impl Tally {
    pub(super) fn sent_checksum(&self) -> Checksum {
        Checksum::of(&self.sent_hash)
    }

    pub(super) fn received_checksum(&self) -> Checksum {
        Checksum::of(&self.received_hash)
    }
}

/// The application.
pub(super) struct Actor {
    steps: Rc<[Step]>,
    at: usize,
    /// Bytes of the present step that were sent, and that were received.
    step_sent: u64,
    step_received: u64,
    source: Source,
    /// What has been read and not yet been sent back.
    waiting: Vec<u8>,
    resume_at: Option<Time>,
    inbox: Vec<u8>,
    tally: Rc<RefCell<Tally>>,
}

/// What a step comes to when it can go no further.
enum StepProgress {
    Done,
    Waits,
    Failed,
}

impl Actor {
    /// An application that will do `steps`, sending `source`; `tally` says what came of it.
    pub(super) fn new(steps: Rc<[Step]>, source: Source, tally: Rc<RefCell<Tally>>) -> Actor {
        Actor {
            steps,
            at: 0,
            step_sent: 0,
            step_received: 0,
            source,
            waiting: Vec::new(),
            resume_at: None,
            inbox: Vec::new(),
            tally,
        }
    }

    fn step(&mut self, step: Step, now: Time, stream: &mut dyn Stream) -> StepProgress {
        match step {
            Step::Send(bytes) => self.send(bytes, stream),
            Step::Receive(bytes) => self.receive(bytes, stream),
            Step::ReceiveToEnd => self.receive_to_end(stream),
            Step::Exchange { send, receive } => {
                match (self.send(send, stream), self.receive(receive, stream)) {
                    (StepProgress::Done, StepProgress::Done) => StepProgress::Done,
                    (StepProgress::Failed, _) | (_, StepProgress::Failed) => StepProgress::Failed,
                    _ => StepProgress::Waits,
                }
            }
            Step::Echo(bytes) => self.echo(Some(bytes), stream),
            Step::EchoToEnd => self.echo(None, stream),
            Step::Shut | Step::Close => {
                stream.close();
                StepProgress::Done
            }
            Step::Pause(span) => {
                let until = *self.resume_at.get_or_insert(now + span);
                if now < until {
                    return StepProgress::Waits;
                }
                self.resume_at = None;
                StepProgress::Done
            }
            Step::Drained if stream.acked() == stream.written() => StepProgress::Done,
            Step::Drained => StepProgress::Waits,
            Step::Reset => {
                stream.abort();
                StepProgress::Done
            }
            Step::AwaitReset => {
                self.read(u64::MAX, stream);
                if stream.at_end() { StepProgress::Failed } else { StepProgress::Waits }
            }
        }
    }

    fn send(&mut self, bytes: u64, stream: &mut dyn Stream) -> StepProgress {
        while self.step_sent < bytes {
            let piece = self.source.peek(bytes - self.step_sent);
            let taken = stream.write(piece);
            let mut tally = self.tally.borrow_mut();
            tally.sent_hash.update(&piece[..taken]);
            tally.sent += taken as u64;
            self.step_sent += taken as u64;
            self.source.advance(taken);
            if taken == 0 {
                return StepProgress::Waits;
            }
        }
        StepProgress::Done
    }

    fn receive(&mut self, bytes: u64, stream: &mut dyn Stream) -> StepProgress {
        self.step_received += self.read(bytes - self.step_received, stream);
        match self.step_received < bytes {
            false => StepProgress::Done,
            true if stream.at_end() => StepProgress::Failed,
            true => StepProgress::Waits,
        }
    }

    fn receive_to_end(&mut self, stream: &mut dyn Stream) -> StepProgress {
        self.read(u64::MAX, stream);
        if stream.at_end() { StepProgress::Done } else { StepProgress::Waits }
    }

    fn echo(&mut self, bytes: Option<u64>, stream: &mut dyn Stream) -> StepProgress {
        loop {
            if self.waiting.is_empty() {
                let left = bytes.map_or(u64::MAX, |bytes| bytes - self.step_received);
                let read = self.read_piece(left, stream);
                self.step_received += read;
                if read == 0 {
                    return match bytes {
                        Some(bytes) if self.step_received == bytes => StepProgress::Done,
                        Some(_) if stream.at_end() => StepProgress::Failed,
                        None if stream.at_end() => StepProgress::Done,
                        _ => StepProgress::Waits,
                    };
                }
                self.waiting.extend_from_slice(&self.inbox);
            }
            let taken = stream.write(&self.waiting);
            let mut tally = self.tally.borrow_mut();
            tally.sent_hash.update(&self.waiting[..taken]);
            tally.sent += taken as u64;
            self.waiting.drain(..taken);
            if taken == 0 {
                return StepProgress::Waits;
            }
        }
    }

    /// Reads what is there, up to `limit` bytes, into the checksum.
    fn read(&mut self, limit: u64, stream: &mut dyn Stream) -> u64 {
        let mut all = 0;
        loop {
            let read = self.read_piece(limit - all, stream);
            all += read;
            if read == 0 {
                return all;
            }
        }
    }

    /// Reads one piece, up to `limit` bytes; it is then in the inbox.
    fn read_piece(&mut self, limit: u64, stream: &mut dyn Stream) -> u64 {
        self.inbox.clear();
        let limit = limit.min(BLOCK as u64) as usize;
        let read = if limit == 0 { 0 } else { stream.read(limit, &mut self.inbox) } as u64;
        let mut tally = self.tally.borrow_mut();
        tally.received_hash.update(&self.inbox);
        tally.received += read;
        read
    }
}

impl Service for Actor {
    fn advance(&mut self, now: Time, stream: &mut dyn Stream) {
        while let Some(step) = self.steps.get(self.at).copied() {
            match self.step(step, now, stream) {
                StepProgress::Waits => return,
                StepProgress::Failed => {
                    self.tally.borrow_mut().outcome = Outcome::EndedEarly;
                    self.at = self.steps.len();
                    stream.abort();
                    return;
                }
                StepProgress::Done => {
                    (self.at, self.step_sent, self.step_received) = (self.at + 1, 0, 0);
                }
            }
        }
        let mut tally = self.tally.borrow_mut();
        if tally.outcome == Outcome::Running {
            tally.outcome = Outcome::Done;
        }
    }

    fn transfers(&self) -> &[Transfer] {
        &[]
    }

    fn deadline(&self) -> Option<Time> {
        self.resume_at
    }
}

impl std::fmt::Debug for Actor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Actor").field("step", &self.steps.get(self.at)).finish_non_exhaustive()
    }
}
