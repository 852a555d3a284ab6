//! Orders and answers between the run and a kernel that scripts are played against.
//!
//! An order is a frame, so that it has its instant and its place among the segments that arrive. The
//! answer stands on the serial line, and a frame says that it is there.
//!
//! The kernel waits for an order without looking at the clock, which would cost it time.

use super::messages::Order;
use super::orders::{HEADER, Orders, order_frame};
use super::script_messages::{ScriptOrder, ScriptTold};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{MsgFlags, recv};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;

/// Bytes of an order's text at most.
const LONGEST: usize = 256;

/// A frame with an order, to a card of this address.
pub(crate) fn script_frame(to: [u8; 6], order: ScriptOrder) -> Vec<u8> {
    let mut frame = order_frame(to, Order::Stop);
    frame.truncate(HEADER);
    frame.extend(serde_json::to_vec(&order).unwrap_or_default());
    // The shortest frame there is; spaces are nothing to JSON.
    frame.resize(frame.len().max(60), b' ');
    frame
}

/// The kernel's end.
pub(super) struct Dialogue {
    orders: Orders,
    line: File,
}

impl Dialogue {
    /// At the device of this number, with this line to answer on.
    pub(super) fn open(device: i32, line: &File) -> io::Result<Dialogue> {
        let orders = Orders::listen(device)?;
        let flags = OFlag::from_bits_retain(fcntl(orders.as_fd(), FcntlArg::F_GETFL)?);
        fcntl(orders.as_fd(), FcntlArg::F_SETFL(flags - OFlag::O_NONBLOCK))?;
        Ok(Dialogue { orders, line: line.try_clone()? })
    }

    /// Waits for the next order.
    pub(super) fn next(&self) -> io::Result<ScriptOrder> {
        let mut frame = [0; HEADER + LONGEST];
        loop {
            let got = recv(self.orders.as_fd().as_raw_fd(), &mut frame, MsgFlags::empty())?;
            if let Ok(order) = serde_json::from_slice(&frame[HEADER.min(got)..got]) {
                return Ok(order);
            }
        }
    }

    /// Answers.
    pub(super) fn answer(&mut self, told: &ScriptTold) -> io::Result<()> {
        let mut text = serde_json::to_vec(told)?;
        text.push(b'\n');
        self.line.write_all(&text)?;
        self.orders.hello()
    }
}
