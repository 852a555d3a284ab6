//! The knobs of the endpoint itself, on the stock kernel.

use super::draft::{Draft, Wish, is_linux};
use super::kernel::micros;
use ackord_tcp::registry::Stack;
use ackord_tcp::{Config, InitialWindowBound};
use ackord_units::{Bytes, KnobType, Span};

/// Segments of this size need nothing to be set over a device of 1500 bytes.
const MSS: Bytes = Bytes(1460);

/// Asks for every knob.
pub(super) fn ask(draft: &mut Draft<'_>, choices: &Stack) {
    let choice = &choices.endpoint;
    for knob in Config::KNOBS {
        let wish = Wish::knob(choice, knob);
        let done = options(draft, &wish, knob.name)
            || windows(draft, choice, &wish, knob.name)
            || buffers(draft, choice, &wish, knob.name)
            || timers(draft, choice, &wish, knob.name)
            || keepalive(draft, choice, &wish, knob.name);
        if !done {
            draft.as_linux(&wish);
        }
    }
}

fn count(wish: &Wish) -> Option<u64> {
    u64::from_value(wish.value.clone())
}

fn span(wish: &Wish) -> Option<Span> {
    Span::from_value(wish.value.clone())
}

/// What is on or off, or one of a few.
fn options(draft: &mut Draft<'_>, wish: &Wish, knob: &str) -> bool {
    let on = |yes: &'static str, no: &'static str| if wish.is_on() { yes } else { no };
    match (knob, wish.word()) {
        ("sack", _) => draft.sysctl(wish, "tcp_sack", on("1", "0")),
        ("dsack", _) => draft.sysctl(wish, "tcp_dsack", on("1", "0")),
        ("timestamps", _) => draft.sysctl(wish, "tcp_timestamps", on("1", "0")),
        ("window_scaling", _) => draft.sysctl(wish, "tcp_window_scaling", on("1", "0")),
        ("frto", _) => draft.sysctl(wish, "tcp_frto", on("2", "0")),
        ("ecn", "accept") => draft.sysctl(wish, "tcp_ecn", "2"),
        ("ecn", _) => draft.sysctl(wish, "tcp_ecn", on("1", "0")),
        ("time_wait_resets", "ignore") => draft.sysctl(wish, "tcp_rfc1337", "1"),
        ("time_wait_resets", _) => draft.sysctl(wish, "tcp_rfc1337", "0"),
        ("idle_restart", "off") => draft.sysctl(wish, "tcp_slow_start_after_idle", "0"),
        ("idle_restart", "decay") => draft.sysctl(wish, "tcp_slow_start_after_idle", "1"),
        ("idle_restart", _) => {
            let name = "tcp_slow_start_after_idle";
            draft.sysctl_but(wish, name, "1", "half the window for each timeout of silence");
        }
        ("pacing", "on") => {
            // Any rate makes the kernel pace, and then at its own rate if that is lower.
            let most = i64::MAX.to_ne_bytes().to_vec();
            draft.socket_option("SO_MAX_PACING_RATE", PACING, most);
            draft.set(wish, "SO_MAX_PACING_RATE, the largest there is");
        }
        ("pacing", "auto") => draft.as_linux(wish),
        ("pacing", _) => draft.instead(wish, "pacing where the congestion control asks for it"),
        _ => return false,
    }
    true
}

const PACING: (i32, i32) = (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE);

/// Sizes of segments and windows.
fn windows(draft: &mut Draft<'_>, choice: &Config, wish: &Wish, knob: &str) -> bool {
    match knob {
        "mss" => mss(draft, choice, wish),
        "initial_window" => {
            let segments = initial_window(choice);
            draft.settings.route.initcwnd = Some(segments as u32);
            draft.set(wish, format!("initcwnd {segments} of the route"));
        }
        "initial_window_bound" => {
            let segments = initial_window(choice);
            draft.set(wish, format!("initcwnd {segments} of the route, which is within it"));
        }
        "max_window" if wish.value.is_none() => draft.already(wish, "it knows no such bound"),
        "max_window" => draft.instead(wish, "no bound but the send buffer and the peer's window"),
        _ => return false,
    }
    true
}

fn mss(draft: &mut Draft<'_>, choice: &Config, wish: &Wish) {
    let asked = choice.mss;
    if asked == MSS {
        draft.already(wish, "the MTU of 1500 bytes less 40; options come out of it");
    } else if asked > MSS {
        draft.instead(wish, "1460 B: the device takes packets of 1500 bytes");
    } else {
        let option = (libc::IPPROTO_TCP, libc::TCP_MAXSEG);
        draft.option(wish, "TCP_MAXSEG", option, asked.get() as i32);
    }
}

/// The initial window in segments, within its bound.
fn initial_window(choice: &Config) -> u64 {
    let (asked, mss) = (choice.window.initial_segments, choice.mss.get().max(1));
    let within = |bytes: u64| (bytes.max(2 * mss) / mss).max(1);
    match choice.window.initial_bound {
        InitialWindowBound::Rfc6928 => asked.min(within(14_600)),
        InitialWindowBound::Rfc3390 => asked.min(within(4_380)).min(4),
        // RFC 5681 §3.1: two segments beyond 2190 bytes, three beyond 1095, else four.
        InitialWindowBound::Rfc5681 => {
            asked.min(if mss > 2_190 { 2 } else { 3 + u64::from(mss <= 1_095) })
        }
        InitialWindowBound::None => asked,
    }
}

/// Buffers. The kernel counts what a packet takes in its memory, we count data; of what a receive
/// buffer holds it offers half until it has seen how well packets are filled.
fn buffers(draft: &mut Draft<'_>, choice: &Config, wish: &Wish, knob: &str) -> bool {
    let receive_tuned = choice.buffers.tunes_receive;
    let send_tuned = choice.buffers.tunes_send;
    match knob {
        "receive_buffer_tuning" => {
            draft.sysctl(wish, "tcp_moderate_rcvbuf", if wish.is_on() { "1" } else { "0" });
        }
        "send_buffer_tuning" if wish.is_on() => {
            draft.already(wish, "as long as SO_SNDBUF is not set");
        }
        "send_buffer_tuning" => draft.set(wish, "net.ipv4.tcp_wmem: it starts where it ends"),
        "receive_buffer" => receive_buffer(draft, choice, wish, receive_tuned),
        "send_buffer" => send_buffer(draft, choice, wish, send_tuned),
        "receive_buffer_initial" if !receive_tuned => no_effect(draft, wish),
        "send_buffer_initial" if !send_tuned => no_effect(draft, wish),
        "receive_buffer_initial" if is_linux(wish) => draft.as_linux(wish),
        "receive_buffer_initial" => draft.set(wish, "net.ipv4.tcp_rmem, the second number"),
        "send_buffer_initial" => draft.set(wish, "net.ipv4.tcp_wmem, the second number"),
        _ => return false,
    }
    true
}

fn no_effect(draft: &mut Draft<'_>, wish: &Wish) {
    draft.already(wish, "nothing is tuned: no effect");
}

fn receive_buffer(draft: &mut Draft<'_>, choice: &Config, wish: &Wish, tuned: bool) {
    let initial = choice.buffers.receive_initial.get();
    let most = choice.buffers.receive.get();
    // A stock kernel is left as it is: the profile speaks of data, its own numbers of memory.
    let stock = tuned && is_linux(wish) && initial == 83_000;
    if stock {
        return draft.already(wish, "net.ipv4.tcp_rmem as it is, which counts memory, not data");
    }
    let (first, last) = (2 * if tuned { initial } else { most }, 2 * most);
    let value = format!("{} {first} {last}", first.min(4096));
    let but = "twice the data, since it offers half of its memory until it has seen how well \
               packets are filled; then it may offer more";
    draft.sysctl_but(wish, "tcp_rmem", value, but);
}

fn send_buffer(draft: &mut Draft<'_>, choice: &Config, wish: &Wish, tuned: bool) {
    let most = choice.buffers.send.get();
    let first = if tuned { choice.buffers.send_initial.get() } else { most };
    if tuned && is_linux(wish) && first == 16_384 {
        return draft.sysctl(wish, "tcp_wmem", format!("4096 {first} {most}"));
    }
    let value = format!("{} {first} {most}", first.min(4096));
    let but = "it counts memory, of which a large segment needs little more than its data";
    draft.sysctl_but(wish, "tcp_wmem", value, but);
}

/// Timers and how often they expire.
fn timers(draft: &mut Draft<'_>, choice: &Config, wish: &Wish, knob: &str) -> bool {
    let times = |most: u64| count(wish).unwrap_or(0).clamp(1, most).to_string();
    match knob {
        "rto_min" => rto_min(draft, wish),
        "rto_max" => rto_max(draft, wish),
        "max_retransmissions" => draft.sysctl(wish, "tcp_retries2", times(255)),
        "r1_retransmissions" => draft.sysctl(wish, "tcp_retries1", times(255)),
        "syn_linear_timeouts" => {
            let linear = count(wish).unwrap_or(0);
            draft.sysctl(wish, "tcp_syn_linear_timeouts", linear.min(127).to_string());
        }
        "syn_retransmissions" => {
            // Absent, a SYN is given up as data is. The kernel counts beside the linear timeouts.
            let all = count(wish).unwrap_or_else(|| choice.retries.max.into());
            let doubled = all.saturating_sub(choice.retries.syn_linear.into());
            draft.sysctl(wish, "tcp_syn_retries", doubled.clamp(1, 127).to_string());
        }
        "syn_ack_retransmissions" => {
            let all = count(wish).unwrap_or_else(|| choice.retries.max.into());
            draft.sysctl(wish, "tcp_synack_retries", all.min(255).to_string());
        }
        "user_timeout" => match span(wish) {
            None => draft.already(wish, "none until a socket asks"),
            Some(limit) => {
                let option = (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT);
                draft.option(wish, "TCP_USER_TIMEOUT", option, limit.as_millis() as i32);
            }
        },
        "challenge_ack_interval" => {
            let interval = span(wish).unwrap_or(Span::ZERO).as_millis();
            draft.sysctl(wish, "tcp_invalid_ratelimit", interval.to_string());
        }
        "fin_wait_2_timeout" => match span(wish) {
            None => draft.instead(wish, "60 s (net.ipv4.tcp_fin_timeout)"),
            Some(timeout) => draft.sysctl(wish, "tcp_fin_timeout", secs(timeout).to_string()),
        },
        _ => return false,
    }
    true
}

/// Whole seconds, rounded up, one at least.
fn secs(span: Span) -> u64 {
    span.as_millis().div_ceil(1000).max(1)
}

fn rto_min(draft: &mut Draft<'_>, wish: &Wish) {
    let least = span(wish).unwrap_or(Span::ZERO);
    if (draft.kernel.has)("net/ipv4/tcp_rto_min_us") {
        return draft.sysctl(wish, "tcp_rto_min_us", micros(least).to_string());
    }
    draft.settings.route.rto_min = Some(least);
    draft.set(wish, "rto_min of the route");
}

/// The kernel allows one to 120 seconds.
fn rto_max(draft: &mut Draft<'_>, wish: &Wish) {
    let most = span(wish).unwrap_or(Span::ZERO).as_millis();
    let value = most.clamp(1_000, 120_000);
    let but = if value == most { "" } else { "it allows no more" };
    draft.sysctl_but(wish, "tcp_rto_max_ms", value.to_string(), but);
}

/// Keepalive counts in whole seconds.
fn keepalive(draft: &mut Draft<'_>, choice: &Config, wish: &Wish, knob: &str) -> bool {
    let off = !choice.keepalive.wanted;
    let tcp = |name| (libc::IPPROTO_TCP, name);
    match knob {
        "keepalive" if off => draft.already(wish, "off until a socket asks"),
        "keepalive" => {
            draft.option(wish, "SO_KEEPALIVE", (libc::SOL_SOCKET, libc::SO_KEEPALIVE), 1);
        }
        "keepalive_idle" => {
            let secs = secs(span(wish).unwrap_or(Span::ZERO)).min(32_767) as i32;
            draft.option(wish, "TCP_KEEPIDLE", tcp(libc::TCP_KEEPIDLE), secs);
        }
        "keepalive_interval" => {
            let secs = secs(span(wish).unwrap_or(Span::ZERO)).min(32_767) as i32;
            draft.option(wish, "TCP_KEEPINTVL", tcp(libc::TCP_KEEPINTVL), secs);
        }
        "keepalive_probes" => {
            let probes = count(wish).unwrap_or(1).clamp(1, 127) as i32;
            draft.option(wish, "TCP_KEEPCNT", tcp(libc::TCP_KEEPCNT), probes);
        }
        _ => return false,
    }
    true
}
