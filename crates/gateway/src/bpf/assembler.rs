//! Instructions of the kernel's packet programs (RFC 9669), put together with labels.
//!
//! Only what the programs here use. The kernel's verifier looks at everything; what is found here is a label
//! that stands nowhere, which would be a defect of a program.
//!
//! A slot of the stack (8 bytes) is stored as a whole, or its first bytes are stored last: without CAP_PERFMON, which a
//! gateway gives up, kernels 5.15 to 6.5 refuse a store to a part of a slot whose beginning holds a known number.
//! [`Assembler::finish`] checks this.

/// A register. The context is in `R1` at first, answers of calls are in `R0`, `R1` to `R5` do not outlive a
/// call, `R10` is the end of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are numbers")]
pub(crate) enum Reg {
    R0,
    R1,
    R2,
    R3,
    R4,
    R5,
    R6,
    R7,
    R8,
    R9,
    R10,
}

/// The other operand of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    Register(Reg),
    Constant(i32),
}

impl From<Reg> for Operand {
    fn from(register: Reg) -> Operand {
        Operand::Register(register)
    }
}

impl From<i32> for Operand {
    fn from(constant: i32) -> Operand {
        Operand::Constant(constant)
    }
}

/// Arithmetic (RFC 9669 §4.1).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Alu {
    Add = 0x00,
    Sub = 0x10,
    And = 0x50,
    ShiftLeft = 0x60,
    ShiftRight = 0x70,
    Xor = 0xa0,
    Move = 0xb0,
}

/// When to jump (RFC 9669 §4.3), numbers without sign.
#[derive(Clone, Copy, Debug)]
pub(crate) enum If {
    Equal = 0x10,
    AtLeast = 0x30,
    AnyBitOf = 0x40,
    NotEqual = 0x50,
    Below = 0xa0,
    AtMost = 0xb0,
}

/// Bytes that are loaded or stored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Size {
    One = 0x10,
    Two = 0x08,
    Four = 0x00,
    Eight = 0x18,
}

/// Functions of the kernel (linux/bpf.h).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Helper {
    MapLookup = 1,
    MonotonicNanos = 5,
    StoreBytes = 9,
    Redirect = 23,
    LoadBytes = 26,
    ChangeHead = 43,
    SocketCookie = 46,
}

/// A place in a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label(usize);

/// An instruction as the kernel reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    immediate: i32,
}

mod class {
    pub(super) const LOAD: u8 = 0x00;
    pub(super) const LOAD_REGISTER: u8 = 0x01;
    pub(super) const STORE: u8 = 0x02;
    pub(super) const STORE_REGISTER: u8 = 0x03;
    pub(super) const ALU32: u8 = 0x04;
    pub(super) const JUMP: u8 = 0x05;
    pub(super) const JUMP32: u8 = 0x06;
    pub(super) const ALU64: u8 = 0x07;
}

/// Loads and stores at an address and an offset; additions that other processors may make at once.
const MEMORY: u8 = 0x60;
const ATOMIC: u8 = 0xc0;
const BY_REGISTER: u8 = 0x08;
const TO_NETWORK_ORDER: u8 = 0xd0 | BY_REGISTER;
const CALL: u8 = 0x80;
const EXIT: u8 = 0x90;
/// What a constant of eight bytes stands for: the address of the first value of a map, or a map.
const MAP: u8 = 1;
const MAP_VALUE: u8 = 2;

impl Instruction {
    /// Where on the stack it stores, and how many bytes; nothing if it does not.
    fn stored(&self) -> Option<(i16, i16)> {
        let is_store = matches!(self.code & 0x07, class::STORE | class::STORE_REGISTER);
        let is_on_stack = self.registers & 0x0f == Reg::R10 as u8;
        let len = match self.code & 0x18 {
            0x10 => 1,
            0x08 => 2,
            0x00 => 4,
            _ => 8,
        };
        (is_store && is_on_stack).then_some((self.offset, len))
    }
}

/// Returns the first instruction that stores to a part of a stack slot whose beginning was stored before.
fn partial_store(code: &[Instruction]) -> Option<usize> {
    let mut begun = std::collections::BTreeSet::new();
    code.iter().position(|one| {
        let Some((at, len)) = one.stored() else { return false };
        let slot = at.div_euclid(8);
        let is_partial = len < 8 && begun.contains(&slot);
        if at.rem_euclid(8) == 0 {
            begun.insert(slot);
        }
        is_partial
    })
}

/// A program in the making.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    code: Vec<Instruction>,
    /// Where each label stands.
    labels: Vec<Option<usize>>,
    /// Which instructions jump where.
    jumps: Vec<(usize, Label)>,
}

impl Assembler {
    /// A label that stands nowhere yet.
    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// The label stands here.
    pub(crate) fn here(&mut self, label: Label) {
        self.labels[label.0] = Some(self.code.len());
    }

    fn push(&mut self, code: u8, (to, from): (Reg, Reg), offset: i16, immediate: i32) {
        let registers = (from as u8) << 4 | to as u8;
        self.code.push(Instruction { code, registers, offset, immediate });
    }

    fn push_with(&mut self, code: u8, to: Reg, operand: Operand) {
        match operand {
            Operand::Register(from) => self.push(code | BY_REGISTER, (to, from), 0, 0),
            Operand::Constant(constant) => self.push(code, (to, Reg::R0), 0, constant),
        }
    }

    /// Arithmetic of 64 bits; constants are extended with their sign.
    pub(crate) fn alu(&mut self, what: Alu, to: Reg, operand: impl Into<Operand>) {
        self.push_with(class::ALU64 | what as u8, to, operand.into());
    }

    /// Arithmetic of 32 bits; the others become zero.
    pub(crate) fn alu32(&mut self, what: Alu, to: Reg, operand: impl Into<Operand>) {
        self.push_with(class::ALU32 | what as u8, to, operand.into());
    }

    /// `to = operand`.
    pub(crate) fn set(&mut self, to: Reg, operand: impl Into<Operand>) {
        self.alu(Alu::Move, to, operand);
    }

    /// `to = R10 + offset`: an address on the stack.
    pub(crate) fn stack_address(&mut self, to: Reg, offset: i16) {
        self.set(to, Reg::R10);
        self.alu(Alu::Add, to, i32::from(offset));
    }

    /// Turns the lowest 16 or 32 bits round where this machine's order is not the network's.
    pub(crate) fn network_order(&mut self, of: Reg, bits: i32) {
        self.push(class::ALU32 | TO_NETWORK_ORDER, (of, Reg::R0), 0, bits);
    }

    /// `to = *(address + offset)`.
    pub(crate) fn load(&mut self, size: Size, to: Reg, (address, offset): (Reg, i16)) {
        self.push(class::LOAD_REGISTER | MEMORY | size as u8, (to, address), offset, 0);
    }

    /// `*(address + offset) = operand`.
    pub(crate) fn store(
        &mut self,
        size: Size,
        (address, offset): (Reg, i16),
        operand: impl Into<Operand>,
    ) {
        let code = MEMORY | size as u8;
        match operand.into() {
            Operand::Register(from) => {
                self.push(class::STORE_REGISTER | code, (address, from), offset, 0);
            }
            Operand::Constant(constant) => {
                self.push(class::STORE | code, (address, Reg::R0), offset, constant);
            }
        }
    }

    /// Adds to eight bytes at an address, whoever else does so.
    pub(crate) fn add_atomically(&mut self, address: Reg, what: Reg) {
        let code = class::STORE_REGISTER | ATOMIC | Size::Eight as u8;
        self.push(code, (address, what), 0, Alu::Add as i32);
    }

    /// `to =` a constant of eight bytes.
    pub(crate) fn set_long(&mut self, to: Reg, constant: u64) {
        self.long(to, 0, [constant as u32, (constant >> 32) as u32]);
    }

    /// `to =` the map behind this descriptor.
    pub(crate) fn set_map(&mut self, to: Reg, map: i32) {
        self.long(to, MAP, [map as u32, 0]);
    }

    /// `to =` the address of the first value of the array behind this descriptor.
    pub(crate) fn set_map_value(&mut self, to: Reg, map: i32) {
        self.long(to, MAP_VALUE, [map as u32, 0]);
    }

    fn long(&mut self, to: Reg, kind: u8, [low, high]: [u32; 2]) {
        let code = class::LOAD | Size::Eight as u8;
        let registers = kind << 4 | to as u8;
        self.code.push(Instruction { code, registers, offset: 0, immediate: low as i32 });
        self.code.push(Instruction { code: 0, registers: 0, offset: 0, immediate: high as i32 });
    }

    /// Goes on elsewhere.
    pub(crate) fn jump(&mut self, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.push(class::JUMP, (Reg::R0, Reg::R0), 0, 0);
    }

    /// Goes on elsewhere if this holds of 64 bits.
    pub(crate) fn jump_if(&mut self, what: If, of: Reg, than: impl Into<Operand>, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.push_with(class::JUMP | what as u8, of, than.into());
    }

    /// Goes on elsewhere if this holds of the lower 32 bits.
    pub(crate) fn jump_if32(&mut self, what: If, of: Reg, than: impl Into<Operand>, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.push_with(class::JUMP32 | what as u8, of, than.into());
    }

    /// Calls a function of the kernel with what is in `R1` to `R5`.
    pub(crate) fn call(&mut self, helper: Helper) {
        self.push(class::JUMP | CALL, (Reg::R0, Reg::R0), 0, helper as i32);
    }

    /// Answers this.
    pub(crate) fn exit_with(&mut self, answer: i32) {
        self.set(Reg::R0, answer);
        self.exit();
    }

    /// Answers what is in `R0`.
    pub(crate) fn exit(&mut self) {
        self.push(class::JUMP | EXIT, (Reg::R0, Reg::R0), 0, 0);
    }

    /// The program.
    ///
    /// # Panics
    /// If a label that is jumped to stands nowhere, or too far away: a defect of the program.
    pub(crate) fn finish(mut self) -> Vec<Instruction> {
        for (from, label) in self.jumps {
            let to = self.labels[label.0].expect("a label that is jumped to stands somewhere");
            let distance = to as i64 - from as i64 - 1;
            self.code[from].offset = i16::try_from(distance).expect("programs here are short");
        }
        debug_assert_eq!(partial_store(&self.code), None, "older kernels refuse this program");
        self.code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_as_the_kernel_reads_them_and_labels_become_distances() {
        let mut program = Assembler::default();
        let (loops, ends) = (program.label(), program.label());
        program.here(loops);
        program.set(Reg::R6, Reg::R1);
        program.load(Size::Four, Reg::R7, (Reg::R6, 8));
        program.jump_if(If::Equal, Reg::R7, 0, ends);
        program.set_long(Reg::R1, 0x1122_3344_5566_7788);
        program.jump(loops);
        program.here(ends);
        program.exit_with(-1);
        let as_bytes: Vec<(u8, u8, i16, i32)> = program
            .finish()
            .iter()
            .map(|one| (one.code, one.registers, one.offset, one.immediate))
            .collect();
        // The opcodes of RFC 9669 §4 and §5, worked out by hand.
        let expected = [
            (0xbf, 0x16, 0, 0),
            (0x61, 0x67, 8, 0),
            (0x15, 0x07, 3, 0),
            (0x18, 0x01, 0, 0x5566_7788),
            (0x00, 0x00, 0, 0x1122_3344),
            (0x05, 0x00, -6, 0),
            (0xb7, 0x00, 0, -1),
            (0x95, 0x00, 0, 0),
        ];
        assert_eq!(as_bytes, expected);
    }

    #[test]
    fn finds_a_store_to_a_part_of_a_slot_whose_beginning_was_stored() {
        let stores = |places: &[(Size, i16)]| {
            let mut program = Assembler::default();
            for (size, at) in places {
                program.store(*size, (Reg::R10, *at), 0);
                program.store(*size, (Reg::R9, *at), 0);
            }
            partial_store(&program.code)
        };
        assert_eq!(stores(&[(Size::Four, -24), (Size::Four, -20)]), Some(2));
        assert_eq!(stores(&[(Size::Eight, -8), (Size::Two, -8)]), Some(2));
        assert_eq!(stores(&[(Size::Four, -20), (Size::Four, -24), (Size::Eight, -24)]), None);
    }

    #[test]
    #[should_panic = "stands somewhere"]
    fn a_label_that_stands_nowhere_is_found() {
        let mut program = Assembler::default();
        let nowhere = program.label();
        program.jump(nowhere);
        program.finish();
    }
}
