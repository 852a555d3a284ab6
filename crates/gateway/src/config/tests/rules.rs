//! Which rule takes a connection, and which takes none.

use super::*;
use ipnet::IpNet;
use std::net::IpAddr;

#[test]
fn a_rule_that_never_matches_is_told_with_the_line_of_the_one_that_takes_all() {
    let rule = |name: &str, keys: &str| {
        format!("[[rule]]\nname = \"{name}\"\nremedy = \"none\"\n{keys}\n")
    };
    let covered = |first: &str, second: &str| {
        let text = with(&format!("{}{}", rule("first", first), rule("second", second)));
        match read(&text) {
            Ok(_) => false,
            Err(errors) => {
                let said = errors.to_string();
                assert!(
                    said.contains("first here") && said.contains("`second` never matches"),
                    "{said}"
                );
                assert!(matches!(errors.problems[0].place, Place::Text(_)));
                true
            }
        }
    };
    assert!(covered("port = [\"1-99\", \"100-200\"]", "port = \"50-150\""));
    assert!(covered(
        "mobile = [\"10.0.0.0/9\", \"10.128.0.0/9\"]",
        "mobile = \"10.0.0.0/8\"\nport = 1"
    ));
    assert!(covered("interface = \"wlan0\"", "dscp = 1"));
    assert!(covered("mark = \"0x1/0x1\"", "mark = \"0x3/0xff\""));
    assert!(!covered("mark = \"0x1/0x3\"", "mark = \"0x1/0x1\""));
    assert!(!covered("port = \"1-99\"", "port = \"50-100\""));
    assert!(!covered("mobile = \"10.0.0.0/8\"", "mobile = \"0.0.0.0/0\""));
    assert!(!covered("mobile = \"0.0.0.0/0\"", "mobile = \"::/0\""));
    assert!(!covered("dscp = 1", "port = 1"));
}

/// A condition as somebody would explain it, without lists, ranges or networks.
fn naive(rule: &Conditions, flow: &FlowFacts) -> bool {
    let bytes = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let bit = |bytes: &[u8], index: usize| bytes[index / 8] >> (7 - index % 8) & 1;
    let in_net = |net: &IpNet, ip: IpAddr| {
        let (net_bytes, ip) = (bytes(net.addr()), bytes(ip));
        let same = |index| bit(&net_bytes, index) == bit(&ip, index);
        net_bytes.len() == ip.len() && (0..usize::from(net.prefix_len())).all(same)
    };
    let mut fits = true;
    for (nets, ip) in [(&rule.mobile, flow.mobile.ip()), (&rule.fixed, flow.fixed.ip())] {
        fits &= nets.is_empty() || nets.iter().filter(|net| in_net(net, ip)).count() > 0;
    }
    for (ports, port) in
        [(&rule.ports, flow.fixed.port()), (&rule.mobile_ports, flow.mobile.port())]
    {
        let listed: Vec<u16> = ports.iter().flat_map(|range| range.from..=range.to).collect();
        fits &= ports.is_empty() || listed.contains(&port);
    }
    fits &= rule.dscps.is_empty() || rule.dscps.contains(&flow.dscp);
    fits &= rule.interfaces.is_empty() || rule.interfaces.contains(&flow.interface);
    if let Some(MarkMatch { value, mask }) = rule.mark {
        let known = |bit: &u32| flow.mark.mask >> bit & 1 == 1;
        let given = |bit: &u32| flow.mark.value >> bit & 1 == value >> bit & 1;
        fits &= (0..32).filter(|bit| mask >> bit & 1 == 1).all(|bit| known(&bit) && given(&bit));
    }
    fits
}

/// Few enough different ones that rules match now and then.
fn address() -> impl Strategy<Value = IpAddr> {
    (any::<bool>(), 0..4_u8, 0..4_u8).prop_map(|(six, high, low)| match six {
        true => IpAddr::from([0x2001, 0xdb8, u16::from(high), 0, 0, 0, 0, u16::from(low)]),
        false => IpAddr::from([10, 64 * high, 0, low]),
    })
}

fn network() -> impl Strategy<Value = IpNet> {
    (address(), 0..=128_u8).prop_map(|(address, bits)| {
        let most = if address.is_ipv4() { 32 } else { 128 };
        IpNet::new(address, bits.min(most)).expect("no more bits than there are").trunc()
    })
}

fn some<T: Clone + std::fmt::Debug>(of: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<T>> {
    prop_oneof![3 => Just(Vec::new()), 2 => proptest::collection::vec(of, 1..4)]
}

fn ports() -> impl Strategy<Value = Vec<PortRange>> {
    some((0..20_u16, 0..8_u16).prop_map(|(from, more)| PortRange { from, to: from + more }))
}

#[test]
fn of_a_mark_some_bits_are_known_and_stay_as_they_were_told() {
    let mark = |value, mask| MarkMatch { value, mask };
    let nothing = MarkMatch::default();
    assert!(nothing.covers(mark(7, 0xff)) && !mark(0, 1).covers(nothing));
    let known = nothing.and(mark(0x10, 0xff)).and(mark(0x300, 0xf00));
    assert_eq!(known, mark(0x310, 0xfff));
    // Conditions that overlap are each fulfilled, or not.
    assert!(mark(0x10, 0xf0).covers(known) && mark(0x310, 0xfff).covers(known));
    assert!(!mark(0x10, 0x10ff).covers(known), "of the other bits nobody was told");
    assert_eq!(known.and(mark(0x20, 0xff)), known);
    let rule = |name: &str, mark| {
        let conditions = Conditions { mark, ..Conditions::default() };
        Rule { name: name.to_owned(), conditions, remedy: None }
    };
    let twice = Some(mark(1, 3));
    let rules = [rule("a", twice), rule("b", None), rule("c", twice), rule("d", Some(known))];
    assert_eq!(Rules::new(rules.into(), None).marks(), [mark(1, 3), known]);
}

fn mark() -> impl Strategy<Value = MarkMatch> {
    (0..8_u32, 0..8_u32).prop_map(|(value, mask)| MarkMatch { value: value & mask, mask })
}

fn conditions() -> impl Strategy<Value = Conditions> {
    let mark = proptest::option::of(mark());
    let nets = (some(network()), some(network()));
    (some(0..3_usize), nets, ports(), ports(), some(0..6_u8), mark).prop_map(
        |(interfaces, (mobile, fixed), ports, mobile_ports, dscps, mark)| Conditions {
            interfaces,
            mobile,
            fixed,
            ports,
            mobile_ports,
            dscps,
            mark,
        },
    )
}

fn flow() -> impl Strategy<Value = FlowFacts> {
    let end = || (address(), 0..28_u16).prop_map(SocketAddr::from);
    (0..3_usize, end(), end(), 0..6_u8, mark()).prop_map(
        |(interface, mobile, fixed, dscp, mark)| FlowFacts { interface, mobile, fixed, dscp, mark },
    )
}

proptest! {
    #[test]
    fn the_first_rule_that_matches_is_the_one(
        each in proptest::collection::vec(conditions(), 0..8),
        flow in flow(),
    ) {
        let first = each.iter().position(|one| naive(one, &flow)).unwrap_or(each.len());
        let rule = |(index, conditions)| Rule { name: format!("{index}"), conditions, remedy: None };
        let rules = Rules::new(each.into_iter().enumerate().map(rule).collect(), None);
        prop_assert_eq!(rules.classify(&flow), RuleIndex(first));
    }

    #[test]
    fn a_rule_that_is_covered_is_never_the_one(
        (first, second) in (conditions(), conditions()),
        flows in proptest::collection::vec(flow(), 50),
    ) {
        if first.cover(&second) {
            for flow in flows {
                prop_assert!(!second.match_flow(&flow) || first.match_flow(&flow));
            }
        }
    }
}
