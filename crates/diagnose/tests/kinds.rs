//! One connection of each kind that a diagnosis has got wrong, with fixed numbers: the laws hold for all of them.

use crate::laws::{Law, check};
use crate::synthetic::{
    Copies, Directions, Ids, Jump, KeepAlive, Shape, Stack, Synthetic, Traffic, View,
};

const LAWS: [Law; 5] =
    [Law::AddsUp, Law::NoInventedLoss, Law::Bytes, Law::IdleTime, Law::NothingBeyond];

/// Ten requests over 40 ms, as on Linux, captured whole at the client.
const USUAL: Synthetic = Synthetic {
    shape: Shape {
        traffic: Traffic::Requests {
            count: 10,
            request: 300,
            response: 4_000,
            think_ms: 30,
            gap_ms: 900,
        },
        rtt_us: 40_000,
        mss: 1448,
        spacing_us: 100,
        window: 40,
        fins: None,
    },
    stack: Stack { ids: Ids::PerSocket, hz: 1000, keep_alive: None, seed: 7 },
    view: View {
        place: 0,
        copies: None,
        swapped: 0,
        early_us: 0,
        directions: Directions::Both,
        from_the_middle: false,
        jump: None,
    },
};

fn ids(ids: Ids) -> Synthetic {
    Synthetic { stack: Stack { ids, ..USUAL.stack }, ..USUAL }
}

fn clock(hz: u32) -> Synthetic {
    Synthetic { stack: Stack { hz, ..USUAL.stack }, ..USUAL }
}

fn keep_alive(bytes: u32) -> Synthetic {
    let keep_alive = Some(KeepAlive { bytes, every_ms: 400 });
    Synthetic { stack: Stack { keep_alive, ..USUAL.stack }, ..USUAL }
}

fn view(view: View) -> Synthetic {
    Synthetic { view, ..USUAL }
}

fn copies(after_us: u32, interfaces: bool) -> Synthetic {
    view(View { copies: Some(Copies { after_us, varies_us: 0, interfaces }), ..USUAL.view })
}

fn shape(shape: Shape) -> Synthetic {
    Synthetic { shape, ..USUAL }
}

#[test]
fn the_laws_hold_for_one_connection_of_each_kind() {
    let at_server = View { place: 1000, ..USUAL.view };
    let pushes = Traffic::Pushes { side: 1, count: 8, bytes: 2_000, gap_ms: 2_000 };
    let kinds = [
        ("as on Linux", USUAL),
        ("numbers of the whole host", ids(Ids::HostWide(20))),
        ("numbers of a busy host", ids(Ids::HostWide(2_000))),
        ("numbers with swapped bytes", ids(Ids::Swapped(20))),
        ("numbers per processor", ids(Ids::PerCpu)),
        ("random numbers", ids(Ids::Random)),
        ("no numbers", ids(Ids::Zero)),
        ("no timestamps", clock(0)),
        ("timestamps of 10 Hz", clock(10)),
        ("timestamps of 1 MHz", clock(1_000_000)),
        ("empty keep-alives", keep_alive(0)),
        ("keep-alives of one byte", keep_alive(1)),
        ("copies at once", copies(50, false)),
        ("copies behind a queue", copies(150_000, true)),
        ("copies by a relay", copies(8_000, false)),
        ("ACKs overtaken", view(View { swapped: 3, ..at_server })),
        ("ACKs before their data", view(View { early_us: 200, ..USUAL.view })),
        ("data alone", view(View { directions: Directions::FromServer, ..USUAL.view })),
        ("ACKs alone", view(View { directions: Directions::FromClient, ..USUAL.view })),
        ("from the middle", view(View { from_the_middle: true, ..at_server })),
        (
            "clock set back",
            view(View { jump: Some(Jump { after: 500, by_ms: -4_000 }), ..at_server }),
        ),
        ("loopback", shape(Shape { mss: 65_483, rtt_us: 40, ..USUAL.shape })),
        ("close without an answer", shape(Shape { fins: Some(5), ..USUAL.shape })),
        ("pauses of a server", shape(Shape { traffic: pushes, ..USUAL.shape })),
    ];
    for (kind, synthetic) in &kinds {
        for law in LAWS {
            assert_eq!(check(law, synthetic), Ok(()), "{kind}: {law:?}");
        }
    }
}
