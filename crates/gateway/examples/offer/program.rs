//! The program that makes of a frame the next packet of the next connection, another one at each interface.
//!
//! Frames are used again and again, and between two uses they were forwarded: so all headers are written anew, and the
//! checksum is that of the template and what differs.

use crate::assembler::{Alu, Assembler, If, Instruction, Reg, Size};
use crate::frame::{Differs, FIRST_PORT, HEADERS, TCP, Template};

/// What a program of XDP answers: the packet goes on, or it was none.
const PASS: i32 = 2;
const ABORTED: i32 = 0;

/// Where the number of the interface by which a packet came is in `xdp_md`.
const AT_INTERFACE: i16 = 12;
const CHECKSUM_AT: i16 = TCP as i16 + 16;

/// Each template goes with the map that keeps what is kept from packet to packet of its kind.
///
/// `R2` is the frame, `R5` the sum, `R6` the interface, `R7` what is kept from packet to packet, `R8` the connection, `R9` the number.
pub(crate) fn program(templates: &[(Template, i32)], connections: u32) -> Vec<Instruction> {
    let mut program = Assembler::default();
    let none = program.label();
    program.load(Size::Four, Reg::R6, (Reg::R1, AT_INTERFACE));
    program.load(Size::Four, Reg::R2, (Reg::R1, 0));
    program.load(Size::Four, Reg::R3, (Reg::R1, 4));
    program.set(Reg::R4, Reg::R2);
    program.alu(Alu::Add, Reg::R4, HEADERS as i32);
    program.jump_if(If::Below, Reg::R3, Reg::R4, none);
    for (template, kept) in templates {
        let other = program.label();
        program.jump_if32(If::NotEqual, Reg::R6, template.interface as i32, other);
        next(&mut program, &template.differs, connections, *kept);
        write_headers(&mut program, &template.frame);
        write_what_differs(&mut program, &template.differs);
        let sum = [template.frame[CHECKSUM_AT as usize], template.frame[CHECKSUM_AT as usize + 1]];
        program.alu(Alu::Add, Reg::R5, i32::from(!u16::from_ne_bytes(sum)));
        write_checksum(&mut program);
        program.exit_with(PASS);
        program.here(other);
    }
    program.here(none);
    program.exit_with(ABORTED);
    program.finish()
}

/// Whose turn it is; after the last one it is the first one's with the next number.
fn next(program: &mut Assembler, differs: &Differs, connections: u32, kept: i32) {
    let same_round = program.label();
    program.set_map_value(Reg::R7, kept);
    program.load(Size::Four, Reg::R8, (Reg::R7, 0));
    program.load(Size::Four, Reg::R9, (Reg::R7, 4));
    program.set(Reg::R0, Reg::R8);
    program.set(Reg::R1, Reg::R9);
    program.alu32(Alu::Add, Reg::R0, 1);
    program.jump_if32(If::Below, Reg::R0, connections as i32, same_round);
    program.set(Reg::R0, 0);
    program.alu32(Alu::Add, Reg::R1, differs.step as i32);
    program.here(same_round);
    program.store(Size::Four, (Reg::R7, 0), Reg::R0);
    program.store(Size::Four, (Reg::R7, 4), Reg::R1);
    program.alu32(Alu::Add, Reg::R9, differs.first as i32);
}

/// All headers but TCP's ports and what comes after them is overwritten; the rest of TCP's never changes.
fn write_headers(program: &mut Assembler, frame: &[u8]) {
    for at in (0..TCP).step_by(8) {
        let bytes = frame[at..at + 8].try_into().expect("eight");
        program.set_long(Reg::R1, u64::from_ne_bytes(bytes));
        program.store(Size::Eight, (Reg::R2, at as i16), Reg::R1);
    }
}

fn write_what_differs(program: &mut Assembler, differs: &Differs) {
    program.set(Reg::R1, Reg::R8);
    program.alu32(Alu::Add, Reg::R1, FIRST_PORT as i32);
    program.network_order(Reg::R1, 16);
    program.store(Size::Two, (Reg::R2, differs.port_at), Reg::R1);
    program.set(Reg::R5, Reg::R1);
    program.set(Reg::R1, Reg::R9);
    write_word(program, differs.number_at);
    program.set(Reg::R1, Reg::R9);
    program.alu32(Alu::Sub, Reg::R1, differs.before as i32);
    program.alu32(Alu::ShiftRight, Reg::R1, 10);
    write_word(program, differs.time_at);
}

/// Writes `R1` and adds it to the sum.
fn write_word(program: &mut Assembler, at: i16) {
    program.network_order(Reg::R1, 32);
    program.store(Size::Four, (Reg::R2, at), Reg::R1);
    program.set(Reg::R3, Reg::R1);
    program.alu(Alu::And, Reg::R3, 0xffff);
    program.alu(Alu::Add, Reg::R5, Reg::R3);
    program.alu(Alu::ShiftRight, Reg::R1, 16);
    program.alu(Alu::Add, Reg::R5, Reg::R1);
}

/// Folds the sum (RFC 1071) and writes what it lacks.
fn write_checksum(program: &mut Assembler) {
    for _ in 0..2 {
        program.set(Reg::R1, Reg::R5);
        program.alu(Alu::ShiftRight, Reg::R1, 16);
        program.alu(Alu::And, Reg::R5, 0xffff);
        program.alu(Alu::Add, Reg::R5, Reg::R1);
    }
    program.alu(Alu::Xor, Reg::R5, 0xffff);
    program.store(Size::Two, (Reg::R2, CHECKSUM_AT), Reg::R5);
}
