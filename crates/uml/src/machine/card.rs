//! A kernel's network card: the device end of virtio-net over vhost-user.
//!
//! The kernel sets the card up by messages over a socket and kicks it by messages, too; the card
//! interrupts the kernel by messages over a second socket that the kernel gives it
//! (`VHOST_USER_PROTOCOL_F_INBAND_NOTIFICATIONS`, so that every notification has its instant). A kick
//! is not answered: nobody has to wait for it, since what was sent is looked for when the kernel's
//! turn is over. Frames lie in the kernel's own memory, which is mapped here; whatever stands there is
//! checked before it is used.
//!
//! Not modelled: checksums and segmentation by the card (every frame is as long as the link allows),
//! several pairs of queues, a send queue that is not emptied at once.

use super::MachineError;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use virtio_bindings::virtio_config::VIRTIO_F_VERSION_1;
use virtio_bindings::virtio_net::{VIRTIO_NET_F_MAC, VIRTIO_NET_F_MTU};
use virtio_queue::{Queue, QueueT};
use vm_memory::{FileOffset, GuestAddress, GuestMemoryMmap};

/// Messages of the vhost-user protocol, as its specification numbers them.
mod request {
    pub(super) const GET_FEATURES: u32 = 1;
    pub(super) const SET_MEM_TABLE: u32 = 5;
    pub(super) const SET_VRING_NUM: u32 = 8;
    pub(super) const SET_VRING_ADDR: u32 = 9;
    pub(super) const SET_VRING_BASE: u32 = 10;
    pub(super) const GET_PROTOCOL_FEATURES: u32 = 15;
    pub(super) const SET_VRING_ENABLE: u32 = 18;
    pub(super) const SET_BACKEND_REQ_FD: u32 = 21;
    pub(super) const GET_CONFIG: u32 = 24;
    pub(super) const VRING_KICK: u32 = 35;
    /// The card's own: a queue has something new for the kernel.
    pub(super) const BACKEND_VRING_CALL: u32 = 4;
}
/// Flags of a message: the version, an answer, and that one is wanted.
const VERSION: u32 = 1;
const IS_REPLY: u32 = 4;
const NEED_REPLY: u32 = 8;
/// `VHOST_USER_F_PROTOCOL_FEATURES`, and which there are: BACKEND_REQ, CONFIG, INBAND_NOTIFICATIONS.
const F_PROTOCOL_FEATURES: u64 = 1 << 30;
const PROTOCOL_FEATURES: u64 = 1 << 5 | 1 << 9 | 1 << 14;
/// Bytes before a message's content, and of the longest content.
const HEADER: usize = 12;
const LONGEST: usize = 512;
/// As many kicks may wait: some thousand would fill the socket.
const MOST_KICKS: usize = 64;
/// Bytes of one read.
const READ: usize = 4096;
/// Bytes before a frame (`struct virtio_net_hdr_v1`).
const FRAME_HEADER: usize = 12;
/// Places in a queue.
const MOST_PLACES: u16 = 1024;
/// Regions of memory, and with them descriptors, in one message.
const MOST_REGIONS: usize = 8;
/// The two queues.
const RECEIVE: usize = 0;
const SEND: usize = 1;

/// The card.
pub(super) struct Card {
    socket: UnixStream,
    /// Where interrupts go; there once the kernel has given it.
    interrupts: Option<File>,
    memory: GuestMemoryMmap,
    queues: [Queue; 2],
    hardware_address: [u8; 6],
    mtu: u16,
    sent: VecDeque<Vec<u8>>,
    /// What has been read and not been looked at.
    pending: Vec<u8>,
    /// Kicks that may have come since messages were taken.
    kicks: usize,
    /// What came with the last message of that.
    descriptors: Vec<File>,
    /// Frames for which there was no room.
    refused: u64,
}

/// A message of the kernel.
struct Message {
    request: u32,
    flags: u32,
    content: Vec<u8>,
}

impl Card {
    /// The card for a kernel that has just connected.
    pub(super) fn new(
        socket: UnixStream,
        hardware_address: [u8; 6],
        mtu: u16,
    ) -> Result<Card, MachineError> {
        let queue = || Queue::new(MOST_PLACES).map_err(broken);
        Ok(Card {
            socket,
            interrupts: None,
            memory: GuestMemoryMmap::default(),
            queues: [queue()?, queue()?],
            hardware_address,
            mtu,
            sent: VecDeque::new(),
            pending: Vec::new(),
            kicks: 0,
            descriptors: Vec::new(),
            refused: 0,
        })
    }

    /// Readable when the kernel has said something.
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Where the kernel answers interrupts.
    pub(super) fn interrupts(&self) -> Option<&File> {
        self.interrupts.as_ref()
    }

    /// Whether the kernel has set up both queues.
    pub(super) fn is_set_up(&self) -> bool {
        self.queues.iter().all(Queue::ready)
    }

    /// Frames that the kernel has sent and that nobody has taken yet.
    pub(super) fn sent(&mut self) -> &mut VecDeque<Vec<u8>> {
        &mut self.sent
    }

    /// Whether there are any.
    pub(super) fn has_sent(&self) -> bool {
        !self.sent.is_empty()
    }

    /// Frames that were lost, since the kernel had no room for them.
    pub(super) fn refused(&self) -> u64 {
        self.refused
    }

    /// Takes the messages that there are.
    pub(super) fn handle_messages(&mut self) -> Result<(), MachineError> {
        while !self.pending.is_empty() || self.read(MsgFlags::MSG_DONTWAIT)? {
            self.handle_message()?;
        }
        Ok(())
    }

    /// Takes the next message, and answers it if an answer is wanted.
    fn handle_message(&mut self) -> Result<(), MachineError> {
        let message = self.receive()?;
        let content = &message.content;
        let reply: Option<Vec<u8>> = match message.request {
            // What was sent is looked for in any case.
            request::VRING_KICK => return Ok(()),
            request::GET_FEATURES => Some(self.features().to_ne_bytes().to_vec()),
            request::GET_PROTOCOL_FEATURES => Some(PROTOCOL_FEATURES.to_ne_bytes().to_vec()),
            request::GET_CONFIG => Some(self.configuration(content)?),
            request::SET_BACKEND_REQ_FD => {
                self.interrupts = self.descriptors.drain(..).next();
                None
            }
            request::SET_MEM_TABLE => {
                self.memory = memory_of(content, std::mem::take(&mut self.descriptors))?;
                None
            }
            request::SET_VRING_NUM
            | request::SET_VRING_ADDR
            | request::SET_VRING_BASE
            | request::SET_VRING_ENABLE => {
                self.set_up_queue(message.request, content)?;
                None
            }
            // What it has chosen, and who owns the card: nothing follows from it.
            _ => None,
        };
        let wanted = message.flags & NEED_REPLY != 0;
        if let Some(reply) = reply.or_else(|| wanted.then(|| vec![0; 8])) {
            self.reply(message.request, &reply)?;
        }
        Ok(())
    }

    /// Puts a frame where the kernel finds it; true if the kernel is to be interrupted for it.
    pub(super) fn receive_frame(&mut self, frame: &[u8]) -> Result<bool, MachineError> {
        let Card { queues, memory, .. } = self;
        let queue = &mut queues[RECEIVE];
        let Some(chain) = queue.pop_descriptor_chain(&*memory) else {
            self.refused += 1;
            return Ok(false);
        };
        let place = chain.head_index();
        let mut header = [0; FRAME_HEADER];
        // How many buffers the frame takes: the last field.
        header[10] = 1;
        let mut writer = chain.writer(memory).map_err(broken)?;
        let length = FRAME_HEADER + frame.len();
        let fits = writer.write_all(&header).and_then(|()| writer.write_all(frame)).is_ok();
        if !fits {
            self.refused += 1;
        }
        let used = if fits { length as u32 } else { 0 };
        queue.add_used(memory, place, used).map_err(broken)?;
        queue.needs_notification(memory).map_err(broken)
    }

    /// Interrupts the kernel for frames that have come; its answer comes from
    /// [`Card::interrupts`].
    pub(super) fn interrupt(&mut self) -> Result<(), MachineError> {
        let mut bytes = Vec::with_capacity(HEADER + 8);
        for word in [request::BACKEND_VRING_CALL, VERSION | NEED_REPLY, 8, RECEIVE as u32, 0] {
            bytes.extend(word.to_ne_bytes());
        }
        let Some(socket) = &mut self.interrupts else {
            return Err(MachineError::Protocol("a card without interrupts".to_owned()));
        };
        Ok(socket.write_all(&bytes)?)
    }

    /// Takes the kernel's answer to an interrupt.
    pub(super) fn interrupt_answered(&mut self) -> Result<(), MachineError> {
        let mut bytes = [0; HEADER + 8];
        let Some(socket) = &mut self.interrupts else { return Ok(()) };
        socket.read_exact(&mut bytes)?;
        match bytes[HEADER..] {
            [0, 0, 0, 0, 0, 0, 0, 0] => Ok(()),
            _ => Err(MachineError::Protocol("an interrupt was refused".to_owned())),
        }
    }

    fn features(&self) -> u64 {
        let mtu = if self.mtu > ETHERNET_MTU { 1 << VIRTIO_NET_F_MTU } else { 0 };
        1 << VIRTIO_F_VERSION_1 | F_PROTOCOL_FEATURES | 1 << VIRTIO_NET_F_MAC | mtu
    }

    /// `struct virtio_net_config`: address, status, pairs of queues, MTU.
    fn configuration(&self, asked: &[u8]) -> Result<Vec<u8>, MachineError> {
        let mut all = self.hardware_address.to_vec();
        all.extend([1, 0, 1, 0]);
        all.extend(self.mtu.to_le_bytes());
        let (from, length) = (word(asked, 0)? as usize, (word(asked, 4)? as usize).min(LONGEST));
        let mut reply = asked[..12].to_vec();
        reply.extend((from..from + length).map(|at| all.get(at).copied().unwrap_or(0)));
        Ok(reply)
    }

    fn set_up_queue(&mut self, what: u32, content: &[u8]) -> Result<(), MachineError> {
        let Some(queue) = self.queues.get_mut(word(content, 0)? as usize) else { return Ok(()) };
        let value = word(content, 4)?;
        match what {
            request::SET_VRING_NUM => queue.set_size(value as u16),
            request::SET_VRING_BASE => {
                queue.set_next_avail(value as u16);
                queue.set_next_used(value as u16);
            }
            request::SET_VRING_ENABLE => queue.set_ready(value != 0),
            _ => {
                let halves =
                    |at| Ok::<_, MachineError>((word(content, at)?, word(content, at + 4)?));
                let (low, high) = halves(8)?;
                queue.set_desc_table_address(Some(low), Some(high));
                let (low, high) = halves(16)?;
                queue.set_used_ring_address(Some(low), Some(high));
                let (low, high) = halves(24)?;
                queue.set_avail_ring_address(Some(low), Some(high));
            }
        }
        Ok(())
    }

    /// Takes what the kernel has sent, and gives it the room back. Its kicks are taken now and then,
    /// before there is no room for more of them.
    pub(super) fn take_sent(&mut self) -> Result<(), MachineError> {
        let Card { queues, memory, sent, .. } = self;
        let (queue, before) = (&mut queues[SEND], sent.len());
        while queue.ready()
            && let Some(chain) = queue.pop_descriptor_chain(&*memory)
        {
            let place = chain.head_index();
            let mut reader = chain.reader(memory).map_err(broken)?;
            let mut header = [0; FRAME_HEADER];
            let mut frame = Vec::with_capacity(reader.available_bytes());
            reader.read_exact(&mut header)?;
            reader.read_to_end(&mut frame)?;
            sent.push_back(frame);
            queue.add_used(memory, place, 0).map_err(broken)?;
        }
        self.kicks += 1 + sent.len() - before;
        if self.kicks > MOST_KICKS {
            self.kicks = 0;
            self.handle_messages()?;
        }
        Ok(())
    }

    fn reply(&mut self, request: u32, content: &[u8]) -> Result<(), MachineError> {
        let mut bytes = Vec::with_capacity(HEADER + content.len());
        for word in [request, VERSION | IS_REPLY, content.len() as u32] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(content);
        Ok(self.socket.write_all(&bytes)?)
    }

    /// The next message.
    fn receive(&mut self) -> Result<Message, MachineError> {
        self.read_more(HEADER)?;
        let length = HEADER + (word(&self.pending, 8)? as usize).min(LONGEST);
        self.read_more(length)?;
        let (request, flags) = (word(&self.pending, 0)?, word(&self.pending, 4)?);
        let message: Vec<u8> = self.pending.drain(..length).collect();
        Ok(Message { request, flags, content: message[HEADER..].to_vec() })
    }

    /// Reads until so much is there, and whatever comes with it.
    fn read_more(&mut self, wanted: usize) -> Result<(), MachineError> {
        while self.pending.len() < wanted {
            self.read(MsgFlags::empty())?;
        }
        Ok(())
    }

    /// Reads what there is; false if that is nothing. A read ends with a message that has descriptors
    /// (unix(7)), so those that wait are the last message's.
    fn read(&mut self, flags: MsgFlags) -> Result<bool, MachineError> {
        let mut bytes = [0; READ];
        let mut control = cmsg_space!([RawFd; MOST_REGIONS]);
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let flags = flags | MsgFlags::MSG_CMSG_CLOEXEC;
        let socket = self.socket.as_raw_fd();
        let received = match recvmsg::<()>(socket, &mut parts, Some(&mut control), flags) {
            Err(Errno::EAGAIN) => return Ok(false),
            other => other?,
        };
        for message in received.cmsgs()? {
            if let ControlMessageOwned::ScmRights(some) = message {
                self.descriptors.extend(some.into_iter().map(own));
            }
        }
        let length = received.bytes;
        if length == 0 {
            return Err(MachineError::Gone);
        }
        self.pending.extend_from_slice(&bytes[..length]);
        Ok(true)
    }
}

/// The longest packet of a card that says nothing of its MTU.
const ETHERNET_MTU: u16 = 1500;

/// The memory that the kernel has told of: for each region where it begins, how long it is, where
/// the kernel itself sees it, and where it lies in its file.
fn memory_of(content: &[u8], files: Vec<File>) -> Result<GuestMemoryMmap, MachineError> {
    let mut ranges = Vec::new();
    for (number, file) in files.into_iter().enumerate() {
        let at = 8 + 32 * number;
        let (begins, length) = (long(content, at)?, long(content, at + 8)? as usize);
        let place = FileOffset::new(file, long(content, at + 24)?);
        ranges.push((GuestAddress(begins), length, Some(place)));
    }
    ranges.sort_by_key(|(begins, ..)| *begins);
    GuestMemoryMmap::from_ranges_with_files(ranges).map_err(broken)
}

fn word(bytes: &[u8], at: usize) -> Result<u32, MachineError> {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map(u32::from_ne_bytes).ok_or_else(too_short)
}

fn long(bytes: &[u8], at: usize) -> Result<u64, MachineError> {
    let eight = bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok());
    eight.map(u64::from_ne_bytes).ok_or_else(too_short)
}

fn too_short() -> MachineError {
    MachineError::Protocol("a message to the card is too short".to_owned())
}

fn broken(error: impl std::fmt::Display) -> MachineError {
    MachineError::Protocol(format!("the card's queues: {error}"))
}

#[allow(unsafe_code, reason = "nix gives received descriptors as bare numbers")]
fn own(descriptor: RawFd) -> File {
    // SAFETY: the kernel has just made this descriptor for us and nobody else has it.
    File::from(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
