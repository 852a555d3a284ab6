//! The remedies: what each is for, where it is installed, by which command, and what it is in a model.

use super::allowance::MOST_QUEUED;
use super::model::{LossProcess, Model, Traffic};
use ackord_diagnose::Cause;
use ackord_live::Direction;

/// Something that can be done about lost time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemedyKind {
    /// Proxy TCP at a gateway before the access link.
    ProxyTcp,
    /// Snoop at a gateway before the access link.
    Snoop,
    /// BBR at the sender.
    Bbr,
    /// RACK at a sender that lacks it.
    Rack,
    /// A route's `reordering` at a sender without RACK.
    Reordering,
    /// A larger first window at the sender.
    InitialWindow,
    /// A larger receive buffer.
    ReceiveBuffer,
    /// A larger send buffer.
    SendBuffer,
    /// Nagle's algorithm off at the sender.
    NoDelay,
    /// Delayed acknowledgments that follow the gaps, at the receiver.
    AdaptiveAck,
    /// As many quick acknowledgments as the usual transfer has, at the receiver.
    QuickAck,
    /// FQ-CoDel at the bottleneck.
    FqCodel,
    /// Selective drop at the bottleneck.
    SelectiveDrop,
}

/// What a queue of a gateway is emptied at, of the link's rate: a little less, so that packets wait in it.
const QUEUE_RATE: f64 = 0.95;
/// `tcp_rmem` and `tcp_wmem` where they are raised, bytes.
const LARGE_BUFFER: u64 = 16_777_216;

use RemedyKind::{
    AdaptiveAck, Bbr, FqCodel, InitialWindow, NoDelay, ProxyTcp, QuickAck, Rack, ReceiveBuffer,
    Reordering, SelectiveDrop, SendBuffer, Snoop,
};

/// What may help against a cause. Waiting for an application, for the path itself or for what the capture
/// does not show, nothing does.
pub fn remedies_for(cause: Cause) -> &'static [RemedyKind] {
    match cause {
        Cause::ReceiverWindow => &[ReceiveBuffer],
        Cause::SendBuffer => &[SendBuffer],
        Cause::NagleDelayedAck => &[NoDelay, AdaptiveAck],
        Cause::DelayedAck => &[AdaptiveAck, QuickAck, InitialWindow],
        Cause::WindowGrowth => &[InitialWindow, Bbr, QuickAck],
        Cause::FastRecovery => &[Bbr, FqCodel],
        Cause::TimeoutTail
        | Cause::TimeoutWindow
        | Cause::TimeoutSmallWindow
        | Cause::TimeoutLostRetransmission => &[ProxyTcp, Snoop, Bbr, Rack],
        Cause::SpuriousReordering => &[Rack, Reordering],
        Cause::SpuriousDelay => &[Bbr],
        Cause::QueueingOwn => &[FqCodel, Bbr],
        Cause::QueueingOthers | Cause::UnfairShare => &[FqCodel, SelectiveDrop, Bbr],
        Cause::Outage => &[ProxyTcp, Snoop],
        Cause::RandomLoss => &[ProxyTcp, Snoop, Bbr],
        Cause::SetUp
        | Cause::SynLoss
        | Cause::ClientIdle
        | Cause::ServerIdle
        | Cause::ZeroWindow
        | Cause::MtuBlackHole
        | Cause::Policer
        | Cause::Shaper
        | Cause::AckPath
        | Cause::PathLimited
        | Cause::CaptureArtefact
        | Cause::Unknown => &[],
    }
}

impl RemedyKind {
    /// Every remedy.
    pub const ALL: [RemedyKind; 13] = [
        ProxyTcp,
        Snoop,
        Bbr,
        Rack,
        Reordering,
        InitialWindow,
        ReceiveBuffer,
        SendBuffer,
        NoDelay,
        AdaptiveAck,
        QuickAck,
        FqCodel,
        SelectiveDrop,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ProxyTcp => "proxy-tcp",
            Snoop => "snoop",
            Bbr => "bbr",
            Rack => "rack",
            Reordering => "route reordering",
            InitialWindow => "initcwnd 32",
            ReceiveBuffer => "larger receive buffer",
            SendBuffer => "larger send buffer",
            NoDelay => "nodelay",
            AdaptiveAck => "adaptive delayed ACK",
            QuickAck => "quick ACKs",
            FqCodel => "fq-codel",
            SelectiveDrop => "selective drop",
        }
    }

    /// Where it has to be installed.
    pub fn place(self) -> &'static str {
        match self {
            ProxyTcp | Snoop => "gateway before the client's access link",
            Bbr | Rack | Reordering | InitialWindow | SendBuffer | NoDelay => "sender",
            ReceiveBuffer | AdaptiveAck | QuickAck => "receiver",
            FqCodel | SelectiveDrop => "bottleneck router",
        }
    }

    /// The command that does it. `INTERFACE` and `GATEWAY` are the reader's.
    pub fn command(self, model: &Model) -> String {
        let gateway = "ackord gateway run --wan eth0 --lan wlan0";
        let agent = "ackord agent run --all --lever";
        match self {
            ProxyTcp => format!("{gateway} --remedy proxy-tcp"),
            Snoop => format!("{gateway} --remedy snoop"),
            Bbr => {
                "sysctl -w net.core.default_qdisc=fq net.ipv4.tcp_congestion_control=bbr".to_owned()
            }
            Rack => "sysctl -w net.ipv4.tcp_recovery=1".to_owned(),
            Reordering => {
                "ip route change default via GATEWAY dev INTERFACE reordering 32".to_owned()
            }
            InitialWindow => {
                "ip route change default via GATEWAY dev INTERFACE initcwnd 32".to_owned()
            }
            ReceiveBuffer => format!(
                "sysctl -w net.ipv4.tcp_moderate_rcvbuf=1 net.core.rmem_max={LARGE_BUFFER} \
                 net.ipv4.tcp_rmem=\"4096 131072 {LARGE_BUFFER}\""
            ),
            SendBuffer => format!(
                "sysctl -w net.core.wmem_max={LARGE_BUFFER} net.ipv4.tcp_wmem=\"4096 16384 {LARGE_BUFFER}\""
            ),
            NoDelay => format!("TCP_NODELAY on the application's socket, or: {agent} nodelay"),
            AdaptiveAck => format!("{agent} delayed-ack"),
            QuickAck => format!("{agent} quick-ack"),
            FqCodel | SelectiveDrop => {
                let queue = if self == FqCodel { "fq-codel" } else { "selective-drop" };
                let rate = QUEUE_RATE * model.rate_bit_s / 1e3;
                format!("{gateway} --queue {queue} --rate {rate:.0}kbit")
            }
        }
    }

    /// Whether it can be tried on this model at all.
    pub fn applies(self, model: &Model) -> bool {
        match self {
            // What a client sends is lost before it comes to the gateway.
            ProxyTcp | Snoop => {
                let goes_wrong = model.loss != LossProcess::None || !model.outages.is_empty();
                model.direction == Direction::Download && goes_wrong && model.proxy.is_none()
            }
            Bbr => !model.congestion.contains("bbr"),
            Rack | Reordering => model.detection.is_some(),
            InitialWindow => model.initial_window < 32,
            ReceiveBuffer => model.receive_buffer.is_some(),
            SendBuffer => model.send_buffer.is_some(),
            NoDelay => {
                let small =
                    matches!(model.traffic, Traffic::TwoWrites { .. } | Traffic::Paced { .. });
                small && !model.no_delay
            }
            AdaptiveAck | QuickAck => model.ack.is_none(),
            // A gateway's queue stands towards the mobile hosts.
            FqCodel | SelectiveDrop => {
                model.direction == Direction::Download && model.queue.is_none()
            }
        }
    }

    /// Whether it gains the same time once in a transfer, however long that is.
    pub(super) fn helps_once(self) -> bool {
        matches!(self, InitialWindow | QuickAck)
    }

    /// The model with it.
    #[must_use]
    pub fn on(self, model: &Model) -> Model {
        let mut with = model.clone();
        let queue = |with: &mut Model, queue: &str| {
            with.queue = Some(queue.to_owned());
            with.rate_bit_s *= QUEUE_RATE;
        };
        match self {
            ProxyTcp => with.proxy = Some(PROXY_TCP.to_owned()),
            Snoop => with.proxy = Some(SNOOP.to_owned()),
            Bbr => with.congestion = BBR_OF_LINUX.to_owned(),
            Rack => with.detection = None,
            Reordering => with.detection = Some("{ kind = \"fixed\", threshold = 32 }".to_owned()),
            InitialWindow => with.initial_window = 32,
            ReceiveBuffer => with.receive_buffer = None,
            SendBuffer => with.send_buffer = None,
            NoDelay => with.no_delay = true,
            AdaptiveAck => {
                with.ack = Some("{ kind = \"adaptive\", mode = \"practical\" }".to_owned());
            }
            QuickAck => with.ack = Some("\"ari\"".to_owned()),
            FqCodel => queue(&mut with, "\"fq-codel\""),
            SelectiveDrop => {
                let limit = model.buffer.clamp(20, MOST_QUEUED);
                queue(
                    &mut with,
                    &format!("{{ kind = \"selective-drop\", limit = \"{limit} packets\" }}"),
                );
            }
        }
        with
    }
}

/// Proxy TCP as the gateway has it.
pub(super) const PROXY_TCP: &str = "{ kind = \"proxy-tcp\", mode = \"practical\" }";
/// Snoop as the gateway has it: beside the path.
pub(super) const SNOOP: &str = "{ kind = \"snoop\", stands = \"beside\", priority = \"none\" }";

/// Kernels have BBR's first version, which takes no notice of losses; so set, ours is within 3 % of kernel
/// 6.12's time with 0.5 and 3 % of random loss, bursts and none.
pub(super) const BBR_OF_LINUX: &str = "{ kind = \"bbr\", loss_thresh = \"0.5\", beta = 1 }";
