use super::*;
use ackord_scenario::Style;
use ackord_units::{Choice, KnobValue, Knobs, Quantity, Rate, Ratio, Span};

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn checked(options: &LinkOptions) -> ShellLink {
    let link = options.check("ackord shell").unwrap_or_else(|error| match error {
        LinkError::Scenario(errors) => panic!("{}", errors.render(Style::Plain)),
        error => panic!("{error}"),
    });
    // What is printed means what is run.
    let mut again = Scenario::from_toml(&link.text, "again").expect("the text is a scenario");
    again.duration = LONGEST_RUN;
    assert_eq!(again, link.scenario);
    link
}

fn refusal(options: &LinkOptions) -> String {
    match options.check("ackord shell") {
        Err(LinkError::Scenario(errors)) => errors.render(Style::Plain),
        Err(error) => error.to_string(),
        Ok(link) => panic!("accepted: {}", link.text),
    }
}

#[test]
fn without_options_the_link_does_nothing_and_is_as_fast_as_it_goes() {
    let ShellLink { scenario, summary, .. } = checked(&LinkOptions::default());
    let link = &scenario.links[0];
    assert_eq!((link.forward.delay, link.forward.loss.is_none()), (Span::ZERO, true));
    assert_eq!(link.forward.rate, Rate::parse(FAST).expect("a rate"));
    assert_eq!((link.forward == link.reverse, scenario.links.len()), (true, 1));
    assert_eq!(summary, "a link that does nothing");
}

#[test]
fn rates_and_delays_of_both_directions_or_of_one() {
    let options = LinkOptions { rate: some("2mbit"), delay: some("20ms"), ..Default::default() };
    let ShellLink { scenario, summary, .. } = checked(&options);
    let link = &scenario.links[0];
    assert_eq!(
        (link.forward.rate, link.forward.delay),
        (Rate::from_mbits_per_sec(2), Span::from_millis(20))
    );
    assert_eq!((&link.forward, summary.as_str()), (&link.reverse, "2 Mbit/s, delay 20 ms"));
    let options = LinkOptions { up: some("500kbit"), down: some("6Mbit/s"), ..options };
    let ShellLink { scenario, summary, .. } = checked(&options);
    let link = &scenario.links[0];
    assert_eq!(link.forward.rate, Rate::from_mbits_per_sec(6), "forward is towards the shell");
    assert_eq!(link.reverse.rate, Rate::from_bits_per_sec(500_000));
    assert_eq!(summary, "up 500 kbit/s, down 6 Mbit/s, delay 20 ms");
}

#[test]
fn everything_that_goes_wrong_on_a_link_can_be_asked_for_at_once() {
    let options = LinkOptions {
        rate: some("10mbit"),
        delay: some("30ms"),
        reorder: some("5%:4ms"),
        loss: some("0.01"),
        loss_up: some("gilbert:mean_loss=2%,mean_burst=8"),
        corrupt: some("0.1%"),
        duplicate: some("1%"),
        fade: some("3s+1500ms,8s+0.5s/20s"),
        queue: some("fq_codel:target=7ms"),
        limit: some("200"),
        proxy: some("snoop"),
        wired_delay: some("10ms"),
        seed: Some(7),
        ..Default::default()
    };
    let ShellLink { scenario, summary, .. } = checked(&options);
    let (down, up) = (&scenario.links[0].forward, &scenario.links[0].reverse);
    let percent = |n: f64| KnobValue::Ratio(Ratio::new(n / 100.0).expect("a share"));
    fn value<K: Knobs>(choice: &Option<K>, knob: &str) -> Option<KnobValue> {
        choice.as_ref()?.value(knob)
    }
    assert_eq!(value(&down.loss, "per_packet"), Some(percent(1.0)));
    assert_eq!(value(&up.loss, "mean_burst"), Some(KnobValue::Number(8.0)));
    assert_eq!(value(&down.corrupt, "per_packet"), Some(percent(0.1)));
    assert_eq!(value(&down.jitter, "by"), Some(KnobValue::Span(Span::from_millis(4))));
    let from = [3, 8].map(Span::from_secs).to_vec();
    assert_eq!(value(&down.outage, "from"), Some(KnobValue::SpanList(from)));
    assert_eq!(down.queue.value("limit"), Some(KnobValue::Packets(200)));
    assert_eq!(down.queue.value("target"), Some(KnobValue::Span(Span::from_millis(7))));
    assert_eq!(scenario.proxies[0].choice.as_ref().map(|c| c.mechanism().name), Some("snoop"));
    assert_eq!((scenario.seed, scenario.links[1].forward.delay), (7, Span::from_millis(10)));
    assert_eq!(
        summary,
        "10 Mbit/s, delay 30 ms, reorder 5 %, loss 1 %, damage, duplicates, fades, fq-codel, snoop"
    );
}

#[test]
fn every_queue_and_every_box_can_be_chosen_by_its_name() {
    for queue in QueueChoice::MECHANISMS {
        checked(&LinkOptions { queue: some(queue.name), ..Default::default() });
    }
    for proxy in ProxyChoice::MECHANISMS {
        let options = LinkOptions { proxy: some(proxy.name), ..Default::default() };
        assert!(checked(&options).summary.ends_with(proxy.name), "{}", proxy.name);
    }
}

#[test]
fn a_link_may_be_taken_from_a_scenario_and_changed() {
    let options = LinkOptions {
        scenario: Some("fading-access-point".into()),
        link: some("air"),
        ..Default::default()
    };
    let there = Scenario::from_file("fading-access-point").expect("in the library");
    let ShellLink { scenario, .. } = checked(&options);
    assert_eq!(scenario.links[0].forward, there.links[1].forward);
    let changed = LinkOptions { delay: some("5ms"), limit: some("9"), ..options.clone() };
    let ShellLink { scenario, .. } = checked(&changed);
    let down = &scenario.links[0].forward;
    assert_eq!((down.delay, &down.loss), (Span::from_millis(5), &there.links[1].forward.loss));
    assert_eq!(down.queue.value("limit"), Some(KnobValue::Packets(9)));
    let which = refusal(&LinkOptions { link: None, ..options });
    assert!(which.contains("`wired`, `air`") && which.contains("--link"), "{which}");
    // Its trace is one of the library's, and towards the shell only.
    let traced = LinkOptions {
        scenario: Some("cellular-trace".into()),
        link: some("air"),
        ..Default::default()
    };
    let link = &checked(&traced).scenario.links[0];
    assert!(link.forward.trace.is_some() && link.reverse.trace.is_none());
}

#[test]
fn traces_are_read_up_first_as_by_mm_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    // One opportunity of 1504 bytes a millisecond, and two.
    let [up, down] = [file("up", "1\n"), file("down", "1\n1\n")];
    let options = LinkOptions { trace: Some([up, down]), ..Default::default() };
    let link = &checked(&options).scenario.links[0];
    assert_eq!(link.reverse.rate, Rate::from_bits_per_sec(12_032_000));
    assert_eq!(link.forward.rate, Rate::from_bits_per_sec(24_064_000));
    let missing = LinkOptions { trace: Some(["no".to_owned(), "where".to_owned()]), ..options };
    assert!(refusal(&missing).contains("there is no trace file `where`"));
}

#[test]
fn a_mistake_is_refused_with_key_and_value_and_what_would_be_right() {
    let says = |options: LinkOptions, parts: &[&str]| {
        let text = refusal(&options);
        assert!(parts.iter().all(|part| text.contains(part)), "{parts:?} not all in:\n{text}");
    };
    let base = LinkOptions::default;
    says(LinkOptions { rate: some("2mbps"), ..base() }, &["links.link.rate", "`mbps`", "Mbit/s"]);
    says(LinkOptions { delay: some("20"), ..base() }, &["links.link.delay", "has no unit", "ms"]);
    says(LinkOptions { loss: some("101%"), ..base() }, &["loss", "101", "0 % to 100 %"]);
    says(LinkOptions { queue: some("codle"), ..base() }, &["codle", "did you mean `codel`?"]);
    says(LinkOptions { queue: some("codel:tagret=5ms"), ..base() }, &["`target`"]);
    says(LinkOptions { proxy: some("snop"), ..base() }, &["did you mean `snoop`?"]);
    says(LinkOptions { fade: some("3s"), ..base() }, &["--fade 3s", "3s+1.5s"]);
    says(LinkOptions { fade: some("3s+2s,4s+1s"), ..base() }, &["outage"]);
    says(LinkOptions { rate: some("x\"\n"), ..base() }, &["does not start with a number"]);
}
