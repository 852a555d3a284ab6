//! What the format takes, and what it says about what it does not take.

use ackord_script::{Action, Script, parse, render_problems};
use ackord_units::Time;

fn read(text: &str) -> Script {
    parse(text).unwrap_or_else(|problems| panic!("{}", render_problems("test", text, &problems)))
}

/// The problems of a text, as they are told.
fn wrong(text: &str) -> String {
    match parse(text) {
        Ok(_) => panic!("nothing is wrong with {text}"),
        Err(problems) => render_problems("test", text, &problems),
    }
}

fn times(script: &Script) -> Vec<u64> {
    let millis = |at: Time| at.as_nanos() / 1_000_000;
    script.steps.iter().map(|step| millis(step.at)).collect()
}

#[test]
fn times_are_absolute_relative_or_those_of_the_line_above() {
    let script = read(
        "0 call listen\n0.1 assert cwnd > 0 B\n+20 ms quiet\nquiet\n+20ms quiet # here\n1 s quiet\n\
         1500ms quiet\n+0.5 quiet\nquiet for 1 s\nquiet until 4",
    );
    assert_eq!(times(&script), [0, 100, 120, 120, 140, 1000, 1500, 2000, 3000, 4000]);
}

#[test]
fn a_repeat_is_unrolled_with_its_variable_also_inside_another() {
    let script = read(
        "call listen\nrepeat 3 as i\n  +1 ms inject seq 1+1000*i:1001+1000*i\n  repeat 2 as j\n    \
         inject ack i+j\n  end\nend",
    );
    assert_eq!(script.steps.len(), 1 + 3 * 3);
    assert_eq!(times(&script).last(), Some(&3));
    let Action::Inject(last) = &script.steps[7].action else { panic!("an injection") };
    assert_eq!(last[0].fields.seq, Some(ackord_script::Number::Relative(2001)));
}

#[test]
fn what_is_wrong_is_told_with_its_line_its_column_and_the_nearest_word() {
    for (text, said) in [
        ("profil rfc\ncall listen", "test:1:1: `profil` is not a command"),
        ("profile linus\ncall listen", "did you mean `linux`?"),
        ("set congestion = rino\ncall listen", "did you mean `reno`?"),
        ("set rto_min = 200\ncall listen", "has no unit"),
        ("set loss.treshold = 3\ncall listen", "did you mean `threshold`?"),
        ("set rto_min = 2 s\nset rto_max = 1 s\ncall listen", "test:2: endpoint: `rto_min` (2 s)"),
        ("0 cal listen", "test:1:3: `cal` is not a command; did you mean `call`?"),
        ("0 call lisen", "did you mean `listen`?"),
        ("0 repeat 3 as i\nend", "test:1:3: `repeat` has no time: the lines between have"),
        ("0 inject akc 5", "did you mean `ack`?"),
        ("0 inject ack 5 <mms 1460>", "did you mean `mss`?"),
        ("0 inject ack 5 <mss 1460", "the line ends where an option or `>` belongs"),
        ("0 inject seq 10:5", "no range"),
        ("0 inject seq 1:100000", "no range of at most 65495 bytes"),
        ("0 inject 1000", "is not part of a segment"),
        ("0 expect 3 segments of 1000", "has no unit"),
        ("0 assert cwmd = 3 segments", "did you mean `cwnd`?"),
        ("0 assert cwnd = 3", "or write it as `10 segments`"),
        ("0 assert state = ESTABLISED", "did you mean `ESTABLISHED`?"),
        ("0 assert state < CLOSED", "is not a comparison of words"),
        ("0 assert rto = 1", "has no unit"),
        ("0.2 call listen\n0.1 quiet", "time goes back: 0.1 s is before 0.2 s"),
        ("0 call listen\nprofile rfc", "`profile` belongs before the first step"),
        ("repeat 3 as i\ncall listen", "`repeat` has no `end`"),
        ("repeat 3 as ms\ncall listen\nend", "`ms` is a unit"),
        ("call listen\nend", "no `repeat` to end"),
        ("0 +-5 ms inject ack 1", "only `expect` of a segment has a tolerance"),
        ("0 call write 5 kB now", "`now` has no place after the call"),
        ("# nothing", "a script without steps shows nothing"),
        ("call listen\nrepeat 20 as i\n+2400 h quiet\nend", "a script lasts"),
        ("ip v5\ncall listen", "`v5` is not allowed here"),
    ] {
        let told = wrong(text);
        assert!(told.contains(said), "{text}\n{told}");
    }
}

#[test]
fn every_wrong_line_is_told_and_a_repeated_one_once() {
    let told = wrong("0 cal listen\nrepeat 5 as i\n  inject akc 1\nend\n0 assrt cwnd = 1 B");
    assert_eq!(told.matches("test:").count(), 3, "{told}");
}

#[test]
fn a_script_cannot_be_made_endless() {
    let nested = "repeat 100000 as a\nrepeat 100000 as b\ninject ack 1\nend\nend";
    assert!(wrong(nested).contains("more than"));
    assert!(wrong("repeat 100000 as a\nrepeat 100000 as b\nend\nend").contains("more than"));
    let deep = "repeat 1 as _\n".repeat(20) + &"end\n".repeat(20);
    assert!(wrong(&deep).contains("inside each other"));
}
