use super::*;
use ackord_scenario::Errors;

fn check(text: &str) -> Result<AgentConfig, Errors> {
    ConfigFile::new("agent.toml", text).check()
}

#[test]
fn an_empty_file_is_one_that_says_nothing_else() {
    let config = check("").expect("sound");
    assert_eq!(config.levers, [Lever::Nodelay, Lever::DelayedAck]);
    assert_eq!((config.by, config.on_exit), (By::Service, OnExit::Restore));
    assert!(config.quick.is_none() && config.pods.is_none() && config.cgroup.is_none());
    assert_eq!(config.control_per_mille(), 50);
    assert_eq!(config, ConfigOptions::default().file().check().expect("sound"));
}

#[test]
fn applications_get_what_the_first_rule_says_that_matches() {
    let config = check(
        "levers = \"nodelay\"\n\
         [[application]]\nname = [\"redis-*\", \"postgres\"]\nlevers = \"none\"\n\
         [[application]]\nname = \"*\"\nlevers = \"delayed-ack\"\n",
    )
    .expect("sound");
    let of = |name: &str| {
        let allowed = config.allowed(&[name]);
        Lever::ALL.map(|lever| allowed.has(lever))
    };
    assert_eq!(of("redis-server"), [false; 3]);
    assert_eq!(of("postgres"), [false; 3]);
    assert_eq!(of("redis"), [false, true, false]);
    assert!(matches("a*c*", "abcd") && !matches("a*c", "abcd") && matches("*", ""));
    assert!(matches("a**b", "ab") && matches("*ab*ab", "abab") && !matches("*ab*ab", "xab"));
    assert!(!matches("ab*ba", "aba") && matches("ab*ba", "abba") && !matches("", "a"));
    // A name that somebody else has chosen takes no time.
    assert!(!matches(&"*a".repeat(100), &"a".repeat(99)));
    assert!(!matches(&format!("{}b*", "a*".repeat(50)), &"a".repeat(240)));
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_what_is_allowed() {
    for (text, place, said) in [
        ("lever = \"nodelay\"\n", "1:1", "levers"),
        ("levers = \"nodelya\"\n", "1:10", "nodelay"),
        ("by = \"process\"\n", "1:6", "executable"),
        ("control = \"150 %\"\n", "1:11", "%"),
        ("cgroup = \"system.slice\"\n", "1:10", "a path from the root"),
        ("[quick]\nmark = \"0x3\"\n", "2:8", "one bit"),
        ("[limits]\nreport_every = \"1 ms\"\n", "2:16", "50 ms to 60 s"),
        ("levers = [\"nodelay\", \"quick-ack\"]\n", "1:10", "[quick]"),
        ("[metrics]\nlisten = \"0.0.0.0:9470\"\n", "2:10", "expose"),
        ("[end]\nretry = \"0 s\"\n", "2:9", "retry"),
        ("[history]\n", "1:", "store"),
        ("[quick]\n[routes]\ntable = 7411\n", "3:9", "that of `[quick]`"),
        ("[quick]\ntable = 7412\n[routes]\n", "3:", "that of `[quick]`"),
        ("[[application]]\nname = \"\"\nlevers = \"none\"\n", "2:8", "like `redis-*`"),
        // A range, a type, a unit, a word, a path, a key: of each kind one.
        ("version = 2\n", "1:11", "allowed: 1"),
        ("pingpong_thresh = 256\n", "1:19", "1 to 255"),
        ("pingpong_thresh = 1.5\n", "1:19", "found a number"),
        ("[limits]\nconnections = 99999999999999999999\n", "2:15", "1 to 10000000"),
        ("[quick]\npriority = 32766\n", "2:12", "1 to 32765"),
        ("[routes]\ninitcwnd = -1\n", "2:12", "1 to 255"),
        ("control = 5\n", "1:11", "no unit"),
        ("[begin]\nlost = \"100 MB\"\n", "2:8", "time span"),
        ("[end]\nsignificance = \"0 %\"\n", "2:16", "above zero"),
        ("levers = [\"none\"]\n", "1:11", "delayed-ack"),
        ("levers = []\n", "1:10", "at least one"),
        ("on_exit = \"kep\"\n", "1:11", "restore or keep"),
        ("[log]\nlevel = \"loud\"\n", "2:9", "debug"),
        ("[pods]\nfile = \"pods.json\"\n", "2:8", "a path from the root"),
        ("[state]\ndirectory = 1\n", "2:13", "a directory"),
        ("[metrics]\nlisten = \"9470\"\n", "2:10", "127.0.0.1:9470"),
        ("[quick]\nprioritty = 1\n", "2:1", "did you mean `priority`?"),
        ("[[application]]\nnames = \"a\"\nlevers = \"none\"\n", "2:1", "did you mean `name`?"),
        ("quick = 1\n", "1:9", "a table"),
        ("by = \"unit\"\nby = \"unit\"\n", "2:1", "duplicate key"),
        ("by = \n", "1:6", "not valid TOML"),
    ] {
        let errors = check(text).map(drop).expect_err(text).to_string();
        assert!(
            errors.contains(&format!("agent.toml:{place}")) && errors.contains(said),
            "{errors}"
        );
    }
}

#[test]
fn options_are_a_file() {
    let options = ConfigOptions {
        cgroup: Some("/sys/fs/cgroup/system.slice".to_owned()),
        by: Some("unit".to_owned()),
        levers: vec!["delayed-ack".to_owned()],
        control: Some("50%".to_owned()),
        quick: true,
    };
    let config = options.file().check().expect("sound");
    assert_eq!(config.levers, [Lever::DelayedAck]);
    assert_eq!(config.quick, Some(Table { table: 7_411, priority: 7_411, mark: 0x1000_0000 }));
    assert_eq!((config.control_per_mille(), config.by), (500, By::Unit));
}

#[test]
fn the_schema_knows_every_key() {
    let schema = agent_json_schema();
    for key in ["cgroup", "levers", "application", "quick", "routes", "history", "pods", "on_exit"]
    {
        assert!(schema["properties"].get(key).is_some(), "{key}");
    }
}

#[test]
fn the_schema_in_the_repository_is_this_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/agent.schema.json");
    let text = serde_json::to_string_pretty(&agent_json_schema()).expect("plain") + "\n";
    let stored = std::fs::read_to_string(path).expect("it is there");
    assert!(stored == text, "write it with `ackord agent schema > schema/agent.schema.json`");
}
