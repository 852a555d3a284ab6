//! Programs run on frames: here, so that a frame may go either way, and by the kernel.

use super::*;
use crate::ring::attach;
use ackord_wire::{Flags, IpFields, Payload, Segment, encode};
use proptest::prelude::*;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;

const KINDS: [LinkKind; 2] = [LinkKind::Ethernet, LinkKind::Bare];
const DATA: u32 = 1_400;

/// What a kernel knows beside a packet.
#[derive(Clone, Copy, Debug, Default)]
struct Beside {
    goes_out: bool,
    mark: u32,
    random: u32,
}

/// What a kernel's interpreter does (net/core/filter.c), as far as these programs go.
fn run(program: &[sock_filter], frame: &[u8], beside: Beside) -> u32 {
    let (mut a, mut kept, mut at) = (0_u32, None, 0);
    loop {
        let now = program[at];
        let (code, k) = (u32::from(now.code), now.k);
        let bytes = |count: usize| {
            let bytes = frame.get(k as usize..k as usize + count)?;
            Some(bytes.iter().fold(0, |sum, one| sum << 8 | u32::from(*one)))
        };
        let mut loaded = Some(a);
        let jump = |holds: bool| usize::from(if holds { now.jt } else { now.jf });
        at += 1;
        if code == BPF_LD | BPF_W | BPF_ABS {
            loaded = match k.wrapping_sub(libc::SKF_AD_OFF as u32) as i32 {
                libc::SKF_AD_PKTTYPE if beside.goes_out => Some(libc::PACKET_OUTGOING.into()),
                libc::SKF_AD_PKTTYPE => Some(libc::PACKET_HOST.into()),
                libc::SKF_AD_MARK => Some(beside.mark),
                libc::SKF_AD_RANDOM => Some(beside.random),
                _ => bytes(4),
            };
        } else if code == BPF_LD | BPF_B | BPF_ABS {
            loaded = bytes(1);
        } else if code == BPF_LD | BPF_MEM {
            loaded = Some(kept.expect("kept before"));
        } else if code == BPF_ST {
            kept = Some(a);
        } else if code == BPF_ALU | BPF_AND | BPF_K {
            loaded = Some(a & k);
        } else if code == BPF_JMP | BPF_JEQ | BPF_K {
            at += jump(a == k);
        } else if code == BPF_JMP | BPF_JSET | BPF_K {
            at += jump(a & k != 0);
        } else if code == BPF_JMP | BPF_JA {
            at += k as usize;
        } else {
            assert_eq!(code, BPF_RET | BPF_K, "nothing else is used");
            return k;
        }
        // What is not there ends the program.
        let Some(loaded) = loaded else { return 0 };
        a = loaded;
    }
}

fn ends(fixed: &str, mobile: &str) -> Endpoints {
    Endpoints { src: fixed.parse().expect("one"), dst: mobile.parse().expect("one") }
}

/// So many connections, of both versions, as their packets go out by a LAN interface.
fn many(count: u16) -> Vec<Endpoints> {
    let one = |number: u16| match number % 2 {
        0 => ends(&format!("198.51.100.{number}:443"), &format!("192.0.2.7:{}", 50_000 + number)),
        _ => ends(
            &format!("[2001:db8:1::{number}]:443"),
            &format!("[2001:db8::7]:{}", 50_000 + number),
        ),
    };
    (0..count).map(one).collect()
}

fn frame(kind: LinkKind, ends: Endpoints, flags: Flags) -> Vec<u8> {
    let segment = Segment { flags, payload_len: DATA, ..Segment::default() };
    let mut frame = Vec::new();
    if kind == LinkKind::Ethernet {
        frame.extend([2; 12]);
        frame.extend(if ends.src.is_ipv4() { [0x08, 0x00] } else { [0x86, 0xdd] });
    }
    encode(ends, IpFields::default(), &segment, Payload::Zeros(DATA), &mut frame).expect("sound");
    frame
}

fn both_ways() -> [Beside; 2] {
    [true, false].map(|goes_out| Beside { goes_out, ..Beside::default() })
}

#[test]
fn of_few_connections_nothing_is_copied_or_headers_but_how_they_begin_and_end() {
    let few = many(16);
    for (kind, are_shown) in KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let few = Few { ends: few.clone(), are_shown };
        let programs =
            [Wanted::DataOutHeadersIn, Wanted::Headers].map(|one| (one, one.filter(kind, &few)));
        for (wanted, program) in programs {
            for (ends, beside) in many(24).into_iter().flat_map(|ends| {
                both_ways().map(|way| (if way.goes_out { ends } else { ends.reversed() }, way))
            }) {
                let is_one = few.ends.contains(&ends) || few.ends.contains(&ends.reversed());
                let answer = |flags| run(&program, &frame(kind, ends, flags), beside);
                let (out, inwards) = wanted.bytes();
                let all = if beside.goes_out { out } else { inwards };
                let of_few = if are_shown { HEADERS_OF_FEW } else { 0 };
                let expected = if is_one { of_few } else { all };
                assert_eq!(answer(Flags::ACK), expected, "{kind:?} {wanted:?} {ends:?} {beside:?}");
                assert_eq!(answer(Flags::ACK | Flags::PSH), expected);
                for flag in [Flags::SYN, Flags::FIN, Flags::RST] {
                    assert_eq!(answer(flag | Flags::ACK), all, "{flag:?}");
                }
                // The other way round it is somebody else's.
                let other = Beside { goes_out: !beside.goes_out, ..beside };
                let others = if beside.goes_out { inwards } else { out };
                assert_eq!(run(&program, &frame(kind, ends, Flags::ACK), other), others);
            }
        }
    }
}

#[test]
fn whoever_differs_in_one_end_or_has_another_shape_is_shown() {
    for (kind, version) in KINDS.into_iter().flat_map(|kind| [(kind, 0), (kind, 1)]) {
        let one = many(2)[version];
        let few = Few { ends: vec![one], are_shown: false };
        let program = Wanted::DataOutHeadersIn.filter(kind, &few);
        let out = Beside { goes_out: true, ..Beside::default() };
        let sound = frame(kind, one, Flags::ACK);
        let link = if kind == LinkKind::Ethernet { 14 } else { 0 };
        assert_eq!(run(&program, &sound, out), 0);
        // The first byte, the protocol, the ends of either address, the ports.
        let places: &[usize] = if version == 0 {
            &[0, 9, 12, 15, 16, 19, 20, 21, 22, 23]
        } else {
            &[0, 6, 20, 23, 36, 39, 40, 41, 42, 43]
        };
        for place in places {
            let mut other = sound.clone();
            // Of the first byte of IPv6 the last four bits are another field.
            other[link + place] ^= 0x11;
            assert_eq!(run(&program, &other, out), u32::MAX, "{kind:?} {version} {place}");
        }
        let mut tagged = sound.clone();
        tagged.splice(link.min(12)..link.min(12), [0x81, 0x00, 0, 7]);
        assert_eq!(run(&program, &tagged, out), u32::MAX);
    }
}

#[test]
fn by_the_wan_interface_a_share_is_shown_of_everything_but_syns_and_nothing_of_the_few() {
    for kind in KINDS {
        let few =
            Few { ends: many(2).into_iter().map(Endpoints::reversed).collect(), are_shown: false };
        let program = Wanted::ShareOut.filter(kind, &few);
        for (number, ends) in many(4).into_iter().map(Endpoints::reversed).enumerate() {
            let answer = |flags, random| {
                let beside = Beside { goes_out: true, random, ..Beside::default() };
                run(&program, &frame(kind, ends, flags), beside)
            };
            let shown = (0..1_000 * SHARE).filter(|random| answer(Flags::ACK, *random) == HEADERS);
            assert_eq!(shown.count(), if number < 2 { 0 } else { 1_000 });
            assert_eq!([1, 16].map(|random| answer(Flags::SYN, random)), [HEADERS; 2]);
            let back = frame(kind, ends.reversed(), Flags::SYN);
            assert_eq!(run(&program, &back, Beside::default()), 0, "what comes in is not wanted");
        }
    }
}

#[test]
fn marks_are_compared_as_they_were() {
    let mark = MarkMatch { value: 0x10, mask: 0xff };
    let program = Wanted::MarkedOut(mark).filter(LinkKind::Ethernet, &Few::default());
    let answer = |goes_out, mark| run(&program, &[0; 60], Beside { goes_out, mark, random: 0 });
    let answers = [(true, 0x110), (true, 0x11), (false, 0x10)].map(|(out, mark)| answer(out, mark));
    assert_eq!(answers, [HEADERS, 0, 0]);
}

/// How much of a frame the kernel gives whoever reads a socket with this program. It comes in there.
fn run_by_kernel(program: &[sock_filter], frame: &[u8]) -> Option<usize> {
    let (sender, receiver) = UnixDatagram::pair().expect("a pair");
    let receiver = OwnedFd::from(receiver);
    attach(&receiver, program).expect("the kernel takes it");
    let receiver = UnixDatagram::from(receiver);
    receiver.set_nonblocking(true).expect("a flag");
    // What a filter takes out is no error everywhere.
    let _ = sender.send(frame);
    receiver.recv(&mut vec![0; frame.len() + 1]).ok()
}

#[test]
fn the_kernel_answers_the_same() {
    let wanted = [Wanted::DataOutHeadersIn, Wanted::Headers, Wanted::HeadersIn, Wanted::ShareOut];
    for (wanted, kind) in wanted.into_iter().flat_map(|one| KINDS.map(|kind| (one, kind))) {
        for (count, are_shown) in [(0, false), (1, true), (16, false), (16, true), (40, true)] {
            let few = Few { ends: many(count), are_shown };
            let program = wanted.filter(kind, &few);
            assert!(program.len() < 300, "{}", program.len());
            for ends in many(20) {
                for flags in [Flags::ACK, Flags::ACK | Flags::FIN] {
                    let frame = frame(kind, ends.reversed(), flags);
                    let expected = run(&program, &frame, Beside::default()) as usize;
                    let expected = (expected > 0).then_some(expected.min(frame.len()));
                    assert_eq!(run_by_kernel(&program, &frame), expected, "{wanted:?} {ends:?}");
                }
            }
        }
    }
}

proptest! {
    /// Whatever is in a frame, cut off anywhere, a program ends with one of its answers; who is not one of the few
    /// and long enough for TCP is shown.
    #[test]
    fn any_frame_gets_an_answer(
        bytes in proptest::collection::vec(any::<u8>(), 0..120),
        goes_out in any::<bool>(),
        random in any::<u32>(),
        (count, are_shown) in (0_u16..20, any::<bool>()),
    ) {
        let few = Few { ends: many(count), are_shown };
        let beside = Beside { goes_out, mark: 0, random };
        for kind in KINDS {
            let answer = run(&Wanted::DataOutHeadersIn.filter(kind, &few), &bytes, beside);
            let all = if goes_out { u32::MAX } else { HEADERS };
            prop_assert!(answer == all || bytes.len() < 14 + 40 + 20 && answer == 0, "{answer}");
            let answer = run(&Wanted::ShareOut.filter(kind, &few), &bytes, beside);
            prop_assert!(answer == 0 || goes_out && answer == HEADERS, "{answer}");
        }
    }
}
