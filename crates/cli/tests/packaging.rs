//! What is delivered around the program, as far as it can be tried without installing it: the unit, manual
//! pages, OpenWrt's files. `make package` tries the package itself.

use crate::common::{ackord, output, text};
use ackord_testing::installed;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging")
}

fn said(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&both).into_owned()
}

#[test]
fn systemd_understands_the_units_and_calls_them_well_confined() {
    if !installed(&["systemd-analyze"]) {
        return;
    }
    // Tenths: what a service may have that is on the network and in its devices, or that looks at all processes and runs
    // as root, and not much more.
    // Each has a directory of its own: systemd moves one that units with and without DynamicUser= share.
    let units = [("gateway", "30", "ackord-gateway"), ("agent", "50", "ackord")];
    for (daemon, exposure, directory) in units {
        let unit = format!("ackord-{daemon}.service");
        let text_of = fs::read_to_string(packaging().join("systemd").join(&unit)).unwrap();
        // Nothing is installed here: neither the program nor its manual.
        let program = env!("CARGO_BIN_EXE_ackord");
        let lines = text_of.lines().filter(|line| !line.starts_with("Documentation="));
        let here: String =
            lines.map(|line| line.replace("/usr/bin/ackord", program) + "\n").collect();
        assert!(here.contains(&format!("ExecStart={program} {daemon} run ")), "{here}");
        let runtime = format!("RuntimeDirectory={directory}");
        // What never comes right does not start again for ever.
        for line in ["RestartSec=5", "StartLimitIntervalSec=1h", "StartLimitBurst=60", &runtime] {
            assert!(here.lines().any(|one| one == line), "{unit}: no {line}");
        }
        let help = said(&output(&[daemon, "status", "--help"]));
        assert!(help.contains(&format!("[default: /run/{directory}]")), "{help}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(&unit);
        fs::write(&path, here).unwrap();
        let verified =
            Command::new("systemd-analyze").args(["verify", text(&path)]).output().unwrap();
        assert_eq!((verified.status.success(), said(&verified).as_str()), (true, ""));
        let threshold = format!("--threshold={exposure}");
        let security = ["security", "--offline=yes", &threshold, text(&path)];
        let judged = Command::new("systemd-analyze").args(security).output().unwrap();
        assert!(judged.status.success(), "{}", said(&judged));
    }
}

#[test]
fn kubernetes_understands_the_manifest() {
    let manifest = packaging().join("kubernetes/ackord-agent.yaml");
    // The program of the same name from PyPI, which brings the API's schemas.
    if !installed(&["kubernetes-validate"]) {
        return;
    }
    let mut validate = Command::new("kubernetes-validate");
    let validated = validate.args(["--strict", text(&manifest)]).output().unwrap();
    assert!(validated.status.success(), "{}", said(&validated));
    assert!(said(&validated).contains("daemonset/ackord-agent"), "{}", said(&validated));
}

#[test]
fn every_command_has_a_manual_page_that_man_can_read() {
    let folder = tempfile::tempdir().unwrap();
    assert!(output(&["man", text(folder.path())]).status.success());
    let page = |name: &str| folder.path().join(name);
    for name in [
        "ackord.1",
        "ackord-run.1",
        "ackord-gateway.1",
        "ackord-gateway-status.1",
        "ackord-agent.1",
    ] {
        assert!(page(name).is_file(), "{name}");
    }
    let status = fs::read_to_string(page("ackord-gateway-status.1")).unwrap();
    assert!(status.contains("treated connections") || status.contains("Treated connections"));
    if !installed(&["man"]) {
        return;
    }
    for name in ["ackord.1", "ackord-gateway-run.1", "ackord-gateway-capture.1"] {
        let man =
            Command::new("man").args(["--warnings", "-l", text(&page(name))]).output().unwrap();
        assert!(man.status.success() && man.stderr.is_empty(), "{}", said(&man));
        assert!(String::from_utf8_lossy(&man.stdout).contains("SYNOPSIS"));
    }
}

#[test]
fn the_examples_that_are_shipped_are_sound() {
    for (daemon, folder, least) in [("gateway", "examples", 4), ("agent", "agent", 3)] {
        let examples = fs::read_dir(packaging().join(folder)).unwrap();
        let examples = examples.map(|entry| entry.unwrap().path());
        let examples: Vec<_> = examples.filter(|path| path.is_file()).collect();
        assert!(examples.len() >= least, "{examples:?}");
        for example in examples {
            let checked = output(&[daemon, "check", text(&example)]);
            assert_eq!(checked.status.code(), Some(0), "{}", said(&checked));
        }
    }
}

#[test]
fn shell_scripts_are_sound_to_shellcheck() {
    if !installed(&["shellcheck"]) {
        return;
    }
    let root = packaging().join("..");
    let own = [
        "scripts/package.sh",
        "scripts/package-test.sh",
        "scripts/install.sh",
        "scripts/other-kernels.sh",
        "scripts/other-kernels/apt.sh",
        "scripts/other-kernels/boot.sh",
        "scripts/other-kernels/images.sh",
        "scripts/other-kernels/init",
    ];
    let openwrt = [
        "packaging/openwrt/files/etc/init.d/ackord",
        "packaging/openwrt/files/usr/lib/ackord/uci-to-toml.sh",
        "crates/cli/tests/openwrt/functions.sh",
        "crates/cli/tests/openwrt/rc.common",
    ];
    for (dialect, scripts) in [("sh", &own[..]), ("dash", &openwrt)] {
        let mut shellcheck = Command::new("shellcheck");
        shellcheck
            .args(["--severity", "warning", "--shell", dialect])
            .args(scripts)
            .current_dir(&root);
        let checked = shellcheck.output().unwrap();
        assert!(checked.status.success(), "{}", said(&checked));
    }
}

/// A folder with OpenWrt's files in it, stand-ins for what else they ask for, and this program.
struct Router {
    root: tempfile::TempDir,
}

impl Router {
    fn new(config: &str) -> Router {
        let root = tempfile::tempdir().unwrap();
        let place = |path: &str| {
            let place = root.path().join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            place
        };
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openwrt");
        fs::copy(tests.join("functions.sh"), place("lib/functions.sh")).unwrap();
        fs::copy(tests.join("rc.common"), place("etc/rc.common")).unwrap();
        for file in ["etc/init.d/ackord", "usr/lib/ackord/uci-to-toml.sh"] {
            let from = packaging().join("openwrt/files").join(file);
            // With the shell that OpenWrt has.
            let script = fs::read_to_string(from).unwrap();
            let script = script.replacen("#!/bin/sh\n", "#!/usr/bin/env -S busybox ash\n", 1);
            let to = place(file);
            fs::write(&to, script).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(to, mode).unwrap();
        }
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ackord"), place("usr/bin/ackord")).unwrap();
        let router = Router { root };
        fs::create_dir_all(router.path("etc/config")).unwrap();
        router.configure(config);
        router
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn configure(&self, config: &str) {
        fs::write(self.path("etc/config/ackord"), config).unwrap();
    }

    /// What procd would be told, and whether the script says that it went well.
    fn does(&self, action: &str) -> (bool, String) {
        let script = [self.path("etc/rc.common"), self.path("etc/init.d/ackord")];
        let mut ash = Command::new("busybox");
        ash.arg("ash").args(script).arg(action).env("IPKG_INSTROOT", self.root.path());
        let ran = ash.output().unwrap();
        (ran.status.success(), said(&ran))
    }

    fn written(&self) -> Option<String> {
        fs::read_to_string(self.path("var/run/ackord/gateway.toml")).ok()
    }
}

const CONFIG: &str = r#"
config gateway 'main'
	option enabled '1'
	option wan 'wan'
	list lan 'br-lan'
	list lan 'wlan1'
	option remedy 'proxy-tcp'
	option control '10%'
	option metrics 'none'
	option log_level 'debug'

config queue 'lan'
	option discipline 'fq-codel'
	option rate '20 Mbit/s'

config rule
	option name 'a "quoted" name'
	list mobile '192.0.2.0/24'
	list port '80'
	list port '8000-8100'
	option remedy 'none'

config limits 'limits'
	option connections '5000'
	option cache '16 MB'
"#;

#[test]
fn openwrt_starts_it_with_what_uci_says() {
    if !installed(&["busybox"]) {
        return;
    }
    let router = Router::new(&CONFIG.replace("a \"quoted\" name", "web"));
    let (well, told) = router.does("start");
    assert!(well, "{told}");
    let config = router.path("var/run/ackord/gateway.toml");
    assert!(told.contains(&format!("/usr/bin/ackord gateway run {}\n", text(&config))), "{told}");
    for line in ["open gateway\n", "set respawn 3600 5 60\n", "set reload_signal HUP\n", "close\n"]
    {
        assert!(told.contains(line), "{line} in {told}");
    }
    let written = router.written().expect("a configuration");
    for line in [
        "wan = \"wan\"",
        "lan = [\"br-lan\", \"wlan1\"]",
        "control = \"10%\"",
        "[queue.lan]",
        "port = [80, \"8000-8100\"]",
        "connections = 5000",
        "cache = \"16 MB\"",
        "listen = \"none\"",
        "level = \"debug\"",
    ] {
        assert!(written.lines().any(|one| one == line), "{line} in {written}");
    }
    assert!(output(&["gateway", "check", text(&config)]).status.success());
    assert_eq!(router.does("triggers").1, "trigger ackord\n");
}

#[test]
fn openwrt_keeps_the_configuration_of_before_where_a_new_one_is_not_sound() {
    if !installed(&["busybox"]) {
        return;
    }
    let sound = CONFIG.replace("a \"quoted\" name", "web");
    let router = Router::new(&sound);
    assert!(router.does("start").0);
    let before = router.written();
    router.configure(&sound.replace("proxy-tcp", "proxi-tcp"));
    let (well, told) = router.does("reload");
    assert!(!well && told.contains("proxi-tcp") && !told.contains("open gateway"), "{told}");
    assert_eq!(router.written(), before);
    // Off means off, and the file of the package is off.
    let shipped = packaging().join("openwrt/files/etc/config/ackord");
    router.configure(&fs::read_to_string(shipped).unwrap());
    assert_eq!(router.does("start"), (true, String::new()));
}

#[test]
fn the_configuration_that_openwrt_gets_is_sound_once_it_is_enabled() {
    if !installed(&["busybox"]) {
        return;
    }
    let shipped = fs::read_to_string(packaging().join("openwrt/files/etc/config/ackord")).unwrap();
    let enabled = shipped.replace("option enabled '0'", "option enabled '1'");
    // With what stands there to be uncommented.
    let all = enabled.replace("\n#config", "\nconfig").replace("\n#\t", "\n\t");
    assert_ne!(all, enabled);
    for config in [enabled, all] {
        let (well, told) = Router::new(&config).does("start");
        assert!(well, "{told}");
    }
}

#[test]
fn a_string_of_uci_stays_that_string_whatever_is_in_it() {
    if !installed(&["busybox"]) {
        return;
    }
    let router = Router::new(CONFIG);
    let convert = router.path("usr/lib/ackord/uci-to-toml.sh");
    let converted =
        Command::new(convert).env("IPKG_INSTROOT", router.root.path()).output().unwrap();
    let toml = said(&converted);
    assert!(toml.contains(r#"name = "a \"quoted\" name""#), "{toml}");
    // The gateway reads it as that name, and says what it thinks of it.
    let file = router.path("quoted.toml");
    fs::write(&file, &toml).unwrap();
    let checked = ackord(&["gateway", "check", text(&file)]).output().unwrap();
    assert!(!said(&checked).contains("TOML"), "{}", said(&checked));
}
