//! The five choices of an endpoint, on the stock kernel.

use super::draft::{Draft, Wish};
use super::kernel::{TCP_DELACK_MAX_US, micros};
use ackord_tcp::ack::Verdict;
use ackord_tcp::registry::{Ack, Congestion, Loss, LossRecovery, NagleVariant, Stack};
use ackord_units::{KnobType, Knobs, Span};

/// The kernel's own default for a delayed acknowledgment at most.
const DELAYED_ACK_MOST: Span = Span::from_millis(200);
/// Segments that the kernel acknowledges at once at the start of a connection.
const QUICK_ACKS: u64 = 16;

/// Asks for all five.
pub(super) fn ask(draft: &mut Draft<'_>, choices: &Stack) {
    congestion(draft, &choices.congestion);
    loss(draft, &choices.loss);
    recovery(draft, choices);
    ack(draft, &choices.ack);
    nagle(draft, &choices.nagle);
}

/// The knobs of a choice, each given to `each`.
fn knobs(choice: &dyn Knobs, mut each: impl FnMut(&'static str, &Wish)) {
    for knob in choice.mechanism().knobs {
        each(knob.name, &Wish::knob(choice, knob));
    }
}

fn congestion(draft: &mut Draft<'_>, choice: &Congestion) {
    let wish = Wish::mechanism(choice);
    let asked = choice.mechanism().name;
    // What both have goes by the same name.
    let kernels = draft.kernel.congestions.iter().any(|has| has == asked).then_some(asked);
    // Reno is in every kernel, and is what the others are variations of.
    let name = kernels.unwrap_or("reno");
    let option = (libc::IPPROTO_TCP, libc::TCP_CONGESTION);
    draft.socket_option("TCP_CONGESTION", option, name.as_bytes().to_vec());
    draft.settings.route.congestion = Some(name.to_owned());
    let by = format!("TCP_CONGESTION = {name}, and congctl of the route");
    match (kernels, choice) {
        (Some(_), Congestion::Bbr(_)) => {
            draft.instead(&wish, format!("{by}: it is version 1 of BBR"))
        }
        (Some(_), _) => draft.set(&wish, by),
        (None, _) => draft.instead(&wish, format!("{by}: this kernel has no {asked}")),
    }
    knobs(choice, |knob, wish| match (knob, choice) {
        ("beta_ecn", Congestion::Reno(_)) if wish.asked() == "0.5" => {
            draft.already(wish, "a mark halves the window");
        }
        ("beta_ecn", Congestion::Cubic(_)) if wish.value.is_none() => {
            draft.already(wish, "a mark does what a loss does");
        }
        ("beta_ecn", _) => draft.instead(wish, "what a loss does"),
        ("abc_limit_after_timeout", _) if wish.value.is_none() => {
            draft.already(wish, "growth is counted alike after a timeout");
        }
        (_, Congestion::Cubic(_)) | ("growth" | "abc_limit", _) => draft.as_linux(wish),
        _ if kernels.is_some() => {
            draft.instead(wish, "its module's own value, which belongs to the whole machine");
        }
        _ => draft.instead(wish, "nothing of the kind"),
    });
}

fn loss(draft: &mut Draft<'_>, choice: &Loss) {
    let wish = Wish::mechanism(choice);
    match choice {
        Loss::Rack(_) => draft.sysctl(&wish, "tcp_recovery", "1"),
        Loss::Fixed(_) => draft.sysctl_but(&wish, "tcp_recovery", "0", FIXED),
        _ => draft.sysctl_but(&wish, "tcp_recovery", "1", "RACK-TLP, the kernel has no other"),
    }
    // Where a tail loss probe is no part of what was asked for, there is none.
    if matches!(choice, Loss::Fixed(_)) {
        draft.write("net/ipv4/tcp_early_retrans", "0", &wish.key);
    }
    knobs(choice, |knob, wish| match (knob, choice) {
        ("tlp", _) => {
            draft.sysctl(wish, "tcp_early_retrans", if wish.is_on() { "3" } else { "0" });
        }
        ("threshold", Loss::Fixed(_)) => draft.sysctl(wish, "tcp_reordering", wish.asked()),
        ("limited_transmit", Loss::Fixed(_)) if wish.is_on() => {
            draft.already(wish, "the first two duplicates let new segments out");
        }
        ("limited_transmit", Loss::Fixed(_)) => draft.instead(wish, "on"),
        (_, Loss::Rack(_)) => draft.as_linux(wish),
        _ => draft.instead(wish, "nothing of the kind"),
    });
}

/// What `tcp_recovery = 0` leaves.
const FIXED: &str = "a kernel since 6.17 keeps RACK whatever is written there, an older one counts \
                     duplicates; tail loss probes are off";

fn recovery(draft: &mut Draft<'_>, choices: &Stack) {
    let choice = &choices.recovery;
    let wish = Wish::mechanism(choice);
    match (choice, choices.endpoint.offers.sack) {
        (LossRecovery::Sack(_), true) => {
            draft.already(&wish, "it recovers by SACK where both ends agreed on it")
        }
        (LossRecovery::NewReno(_), false) => {
            draft.already(&wish, "it recovers by partial acknowledgments")
        }
        (_, true) => draft.instead(&wish, "recovery by SACK, since `sack` is on"),
        (_, false) => draft.instead(&wish, "recovery by partial acknowledgments (NewReno)"),
    }
    knobs(choice, |_, wish| draft.as_linux(wish));
}

fn ack(draft: &mut Draft<'_>, choice: &Ack) {
    let wish = Wish::mechanism(choice);
    match choice {
        Ack::Linux(_) => draft.already(&wish, "its own delayed acknowledgments"),
        Ack::Immediate(_) => {
            draft.settings.route.quick_ack = true;
            draft.set(&wish, "quickack of the route");
        }
        _ => draft.instead(
            &wish,
            format!(
                "its own delayed acknowledgments: the first {QUICK_ACKS} at once, then every \
                 second full-sized segment, the others after 40 to 200 ms"
            ),
        ),
    }
    knobs(choice, |knob, wish| match (knob, choice) {
        ("pingpong_threshold", Ack::Linux(_)) => {
            draft.sysctl(wish, "tcp_pingpong_thresh", wish.asked());
        }
        ("sack_compression_delay", Ack::Linux(_)) => {
            let delay = Span::from_value(wish.value.clone());
            let nanos = delay.unwrap_or(Span::ZERO).as_nanos();
            draft.sysctl(wish, "tcp_comp_sack_delay_ns", nanos.to_string());
        }
        ("sack_compression_limit", Ack::Linux(_)) => {
            draft.sysctl(wish, "tcp_comp_sack_nr", wish.asked());
        }
        (_, Ack::Linux(_)) => draft.as_linux(wish),
        ("timeout" | "ato_max", _) => delayed_ack_most(draft, wish),
        ("every", _) if wish.asked() == "2" => draft.already(wish, "every second one"),
        ("every", _) => draft.instead(wish, "every second full-sized segment"),
        ("counts", _) if wish.word() == "full-sized" => {
            draft.already(wish, "more than a full-sized segment's worth of bytes");
        }
        ("count" | "quick_ack_limit", _) => {
            draft.instead(wish, format!("{QUICK_ACKS} at once in a row"));
        }
        _ => draft.instead(wish, "nothing of the kind"),
    });
}

/// How long an acknowledgment may wait: the kernel takes an upper bound, in whole ticks, and knows
/// neither less than two nor more than 200 ms.
fn delayed_ack_most(draft: &mut Draft<'_>, wish: &Wish) {
    let Some(asked) = Span::from_value(wish.value.clone()) else {
        return draft.already(wish, "at most 200 ms");
    };
    if asked >= DELAYED_ACK_MOST {
        return draft.instead(wish, "40 to 200 ms, by the gaps between segments");
    }
    let Some(least) = draft.kernel.delayed_ack_least else {
        return draft.instead(wish, "40 to 200 ms: this kernel has no TCP_DELACK_MAX_US");
    };
    let most = asked.max(least);
    let bound = micros(most) as i32;
    let option = (libc::IPPROTO_TCP, TCP_DELACK_MAX_US);
    draft.socket_option("TCP_DELACK_MAX_US", option, bound.to_ne_bytes().to_vec());
    let bound = format!("TCP_DELACK_MAX_US = {bound}, an upper bound that is rounded up to ticks");
    if most > asked {
        draft.instead(wish, format!("{bound}; less than two ticks is not to be had"));
    } else {
        draft.instead(wish, bound);
    }
}

fn nagle(draft: &mut Draft<'_>, choice: &NagleVariant) {
    let wish = Wish::mechanism(choice);
    let bulk = matches!(choice, NagleVariant::Ari(ari) if ari.verdict == Verdict::Bulk);
    let option = (libc::IPPROTO_TCP, libc::TCP_NODELAY);
    match choice {
        NagleVariant::Minshall(_) => draft.already(&wish, "Minshall's variant is its own"),
        NagleVariant::Ari(_) if bulk => {
            draft.instead(&wish, "Minshall's variant, since the verdict is bulk")
        }
        NagleVariant::Off(_) | NagleVariant::Ari(_) => {
            draft.option(&wish, "TCP_NODELAY", option, 1)
        }
        NagleVariant::On(_) | NagleVariant::PluggedIn(_) => {
            draft.instead(&wish, "Minshall's variant")
        }
    }
    knobs(choice, |_, wish| match bulk {
        true => draft.set(wish, "leaving TCP_NODELAY off"),
        false => draft.set(wish, "TCP_NODELAY = 1"),
    });
}
