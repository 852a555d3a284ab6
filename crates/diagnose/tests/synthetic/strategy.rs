//! Random connections and captures, one dimension at a time or all together.

use super::{Copies, Directions, Ids, Jump, KeepAlive, Shape, Stack, Synthetic, Traffic, View};
use proptest::option;
use proptest::prelude::*;

/// What is unusual; all else is as on Linux, captured whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dimension {
    Nothing,
    /// Responses longer than the window.
    Windows,
    Ids,
    Clocks,
    Copies,
    OvertakenAcks,
    EarlyAcks,
    Directions,
    KeepAlives,
    Loopback,
    Middle,
    Fins,
    Jumps,
    All,
}

/// Returns captures that are unusual in this dimension.
pub(crate) fn captures(of: Dimension) -> impl Strategy<Value = Synthetic> {
    (shapes(of), stacks(of), views(of)).prop_map(|(shape, stack, view)| {
        // Without a number per socket and without timestamps nothing tells a late copy from a retransmission.
        let marked = matches!(stack.ids, Ids::PerSocket) || stack.hz >= 1000;
        let copies = view.copies.filter(|_| marked);
        // Without the handshake, a clock of 100 ms does not measure the path.
        let coarse = view.from_the_middle && stack.hz == 10;
        let stack = Stack { hz: if coarse { 1000 } else { stack.hz }, ..stack };
        Synthetic { shape, stack, view: View { copies, ..view } }
    })
}

/// Returns `strategy` where the dimension is this one, the usual value where it is another, and either of
/// them where all are unusual.
fn when<T: Clone + std::fmt::Debug + 'static>(
    of: Dimension,
    this: Dimension,
    strategy: impl Strategy<Value = T> + 'static,
    usual: T,
) -> BoxedStrategy<T> {
    match of {
        _ if of == this => strategy.boxed(),
        // So that what does not matter is left out of a minimal example.
        Dimension::All => prop_oneof![Just(usual), strategy].boxed(),
        _ => Just(usual).boxed(),
    }
}

fn traffic(of: Dimension) -> impl Strategy<Value = Traffic> {
    let windows = matches!(of, Dimension::Windows | Dimension::All);
    let most = if windows { 100_000 } else { 14_000_u32 };
    let requests = (2..12_u32, 50..1_400_u32, 100..most, 1..400_u32, 5..1_200_u32);
    let pushes = (0..2_usize, 2..12_u32, 100..most, 5..3_000_u32);
    prop_oneof![
        requests.prop_map(|(count, request, response, think_ms, gap_ms)| {
            Traffic::Requests { count, request, response, think_ms, gap_ms }
        }),
        pushes.prop_map(|(side, count, bytes, gap_ms)| Traffic::Pushes {
            side,
            count,
            bytes,
            gap_ms
        }),
        (20_000..3_000_000_u32).prop_map(|bytes| Traffic::Bulk { bytes }),
        (500..20_000_u32).prop_map(|pause_ms| Traffic::Idle { pause_ms }),
    ]
}

fn shapes(of: Dimension) -> impl Strategy<Value = Shape> {
    let fins = when(of, Dimension::Fins, option::of(0..6_u32), None);
    let mss = when(of, Dimension::Loopback, Just(65_483), 1448);
    let path = (200..200_000_u32, 10..1_000_u32, 10..200_u32);
    (traffic(of), path, fins, mss).prop_map(|(traffic, path, fins, mss)| {
        let (rtt_us, spacing_us, window) = path;
        // A loopback interface has no path.
        let rtt_us = if mss > 9_000 { 20 + rtt_us % 100 } else { rtt_us };
        Shape { traffic, rtt_us, mss, spacing_us, window: window / 2 * 2, fins }
    })
}

fn stacks(of: Dimension) -> impl Strategy<Value = Stack> {
    let ids = prop_oneof![
        Just(Ids::PerSocket),
        (1..3_000_u32).prop_map(Ids::HostWide),
        (1..3_000_u32).prop_map(Ids::Swapped),
        Just(Ids::PerCpu),
        Just(Ids::Random),
        Just(Ids::Zero),
    ];
    let hz = proptest::sample::select(vec![0, 10, 100, 250, 1_000_000, 1_000_000_000]);
    let keep = (0..=1_u32, 300..3_000_u32)
        .prop_map(|(bytes, every_ms)| Some(KeepAlive { bytes, every_ms }));
    let ids = when(of, Dimension::Ids, ids, Ids::PerSocket);
    let hz = when(of, Dimension::Clocks, hz, 1000);
    let keep = when(of, Dimension::KeepAlives, keep, None);
    (ids, hz, keep, any::<u64>()).prop_map(|(ids, hz, keep_alive, seed)| Stack {
        ids,
        hz,
        keep_alive,
        seed,
    })
}

fn views(of: Dimension) -> impl Strategy<Value = View> {
    let copies = (0..200_000_u32, 0..100_000_u32, any::<bool>());
    let copies = copies.prop_map(|(after_us, varies_us, interfaces)| {
        Some(Copies { after_us, varies_us, interfaces })
    });
    let copies = when(of, Dimension::Copies, copies, None);
    let swapped = when(of, Dimension::OvertakenAcks, 1..10_u32, 0);
    let early = when(of, Dimension::EarlyAcks, 1..300_u32, 0);
    let directions = proptest::sample::select(vec![
        Directions::Both,
        Directions::FromServer,
        Directions::FromClient,
    ]);
    let directions = when(of, Dimension::Directions, directions, Directions::Both);
    let middle = when(of, Dimension::Middle, Just(true), false);
    let jump =
        (1..1_000_u32, -5_000..50_000_i32).prop_map(|(after, by_ms)| Some(Jump { after, by_ms }));
    let jump = when(of, Dimension::Jumps, jump, None);
    // ACKs are captured right after their data at the receiver only.
    let place = match of {
        Dimension::EarlyAcks => prop_oneof![Just(0), Just(1000)].boxed(),
        _ => (0..=1000_u32).boxed(),
    };
    (place, copies, swapped, early, directions, middle, jump).prop_map(
        |(place, copies, swapped, early_us, directions, from_the_middle, jump)| View {
            place,
            copies,
            // Where the clock jumps between an ACK and its data nothing shows which was first.
            swapped: if jump.is_some() { 0 } else { swapped },
            early_us: if jump.is_some() { 0 } else { early_us },
            directions,
            from_the_middle,
            jump,
        },
    )
}
