//! What leaves by an interface goes to a TAP device instead, while somebody there is alive.
//!
//! Whoever stands behind the TAP device sends by a packet socket on the same interface. Its packets are known
//! by that socket's cookie, which nobody else can have: marks stay free for whoever uses them. A packet with
//! a mark gets [`Steer::PREFIX`] bytes with the mark in front, since a TAP device does not tell it; nobody
//! can forge them who does not know the secret in them.
//!
//! Not kept on the way: a packet's priority, its socket, its timestamps.

use super::assembler::{Assembler, Helper, If, Instruction, Reg, Size};
use super::heartbeat::Heartbeat;
use super::sys::Program;
use super::{AT_MARK, LET_PASS};
use crate::LinkKind;
use std::io;

/// What a program that steers has to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steer {
    /// The index of the TAP device.
    pub(crate) to: u32,
    /// The cookie of the socket whose packets pass.
    pub(crate) cookie: u64,
    /// What nobody else knows.
    pub(crate) secret: u64,
    /// Bare packets have no place for a mark.
    pub(crate) kind: LinkKind,
}

/// An Ethernet type for local experiments (IEEE 802), behind the secret.
const LOCAL_TYPE: u16 = 0x88b5;

impl Steer {
    /// Bytes before a packet with a mark: as an Ethernet header, and the mark.
    pub(crate) const PREFIX: usize = 18;

    /// Loads the program.
    pub(crate) fn load(self, heartbeat: &Heartbeat) -> io::Result<Program> {
        Program::load("ackord_steer", &self.program(heartbeat))
    }

    fn program(self, heartbeat: &Heartbeat) -> Vec<Instruction> {
        let mut program = Assembler::default();
        let (pass, redirect) = (program.label(), program.label());
        program.set(Reg::R6, Reg::R1);
        program.set_map_value(Reg::R1, heartbeat.descriptor());
        program.load(Size::Eight, Reg::R7, (Reg::R1, 0));
        program.jump_if(If::Equal, Reg::R7, 0, pass);
        program.call(Helper::MonotonicNanos);
        program.jump_if(If::AtMost, Reg::R7, Reg::R0, pass);
        // Forwarded packets have no socket, and a cookie of zero.
        program.set(Reg::R1, Reg::R6);
        program.call(Helper::SocketCookie);
        program.set_long(Reg::R1, self.cookie);
        program.jump_if(If::Equal, Reg::R0, Reg::R1, pass);
        if self.kind == LinkKind::Ethernet {
            program.load(Size::Four, Reg::R7, (Reg::R6, AT_MARK));
            program.jump_if(If::Equal, Reg::R7, 0, redirect);
            self.put_mark_in_front(&mut program, redirect);
        }
        program.here(redirect);
        program.set(Reg::R1, self.to as i32);
        program.set(Reg::R2, 0);
        program.call(Helper::Redirect);
        program.exit();
        program.here(pass);
        program.exit_with(LET_PASS);
        program.finish()
    }

    /// The mark is in `R7`. Where there is no memory the packet goes without it.
    fn put_mark_in_front(self, program: &mut Assembler, without: crate::bpf::assembler::Label) {
        program.set(Reg::R1, Reg::R6);
        program.set(Reg::R2, Steer::PREFIX as i32);
        program.set(Reg::R3, 0);
        program.call(Helper::ChangeHead);
        program.jump_if(If::NotEqual, Reg::R0, 0, without);
        // By whole slots of the stack, see `assembler.rs`. The mark begins the last one, at -8.
        let mut slots = [0; 16];
        slots[2..14].copy_from_slice(&self.prefix());
        slots[14..].copy_from_slice(&LOCAL_TYPE.to_be_bytes());
        for (slot, bytes) in slots.as_chunks::<8>().0.iter().enumerate() {
            program.set_long(Reg::R1, u64::from_ne_bytes(*bytes));
            program.store(Size::Eight, (Reg::R10, -24 + 8 * slot as i16), Reg::R1);
        }
        program.store(Size::Four, (Reg::R10, -8), Reg::R7);
        program.set(Reg::R1, Reg::R6);
        program.set(Reg::R2, 0);
        program.stack_address(Reg::R3, -22);
        program.set(Reg::R4, Steer::PREFIX as i32);
        program.set(Reg::R5, 0);
        program.call(Helper::StoreBytes);
    }

    /// The first twelve bytes: a group address that is nobody's, and the secret.
    fn prefix(self) -> [u8; 12] {
        let mut prefix = [0; 12];
        prefix[0] = 3;
        prefix[4..].copy_from_slice(&self.secret.to_be_bytes());
        prefix
    }

    /// The mark of a frame that came out of the TAP device, where it has one in front.
    pub(crate) fn mark_before(self, frame: &[u8]) -> Option<u32> {
        let (front, rest) = frame.split_first_chunk::<12>()?;
        let [high, low, a, b, c, d, ..] = rest else { return None };
        let marked = *front == self.prefix() && [*high, *low] == LOCAL_TYPE.to_be_bytes();
        marked.then(|| u32::from_ne_bytes([*a, *b, *c, *d]))
    }
}
