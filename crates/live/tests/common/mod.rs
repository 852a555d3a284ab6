//! What the live tests share: folders with random files, runs, and a look at captures.

use ackord_live::{
    CommandOutcome, Lateness, LiveError, LiveOptions, LiveReport, NamespaceError, ServeOptions,
    serve,
};
use ackord_scenario::{Override, ScenarioFile};
use ackord_testing::skipped;
pub(crate) use ackord_testing::{assert_timely, installed, timely};
use ackord_units::Span;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Runs must not disturb each other's timing: two cores, and every run has a deadline.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Waits until no other live test of this program runs.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The library's lossy path, with changes.
pub(crate) fn options(changes: &[(&str, &str)]) -> LiveOptions {
    let overrides = changes.iter().map(|(path, value)| Override::new(*path, *value));
    let file = ScenarioFile::from_library("lossy-wifi").expect("in the library");
    let scenario = file.with_overrides(overrides).check().expect("a sound scenario");
    LiveOptions::new(scenario).expect("a file descriptor")
}

/// A quick path without loss, for tests that are not about the path.
pub(crate) const QUICK: &[(&str, &str)] =
    &[("links.wifi.delay", "1 ms"), ("links.wifi.loss.per_packet", "0 %")];

/// Serves `folder` to a shell script that runs before the stock kernel.
pub(crate) fn serve_script(live: LiveOptions, folder: &Path, script: &str) -> Option<LiveReport> {
    let mut options = ServeOptions::new(live, folder.to_owned());
    options.command = ["sh", "-c", script].map(str::to_owned).to_vec();
    options.run_for = Some(Span::from_secs(120));
    possible(serve(options)).inspect(|report| late(report.lateness))
}

/// The result, or nothing with a loud word where this machine does not allow live runs.
pub(crate) fn possible<T>(result: Result<T, LiveError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(LiveError::Namespace(NamespaceError::NotAllowed(attempts))) => {
            let error = NamespaceError::NotAllowed(attempts);
            skipped(format_args!("it needs root or rootless TUN: {error}"));
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Tells the judge of statements about time how late the emulator was.
pub(crate) fn late(lateness: Lateness) {
    ackord_testing::late(Duration::from_nanos(lateness.p99.as_nanos()));
}

pub(crate) fn assert_success(report: &LiveReport) {
    assert_eq!(report.command, Some(CommandOutcome::Exited(0)), "{report:#?}");
}

/// A file of `len` random bytes.
pub(crate) fn random_file(path: &Path, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut bytes)).expect("randomness");
    fs::write(path, &bytes).expect("written");
    bytes
}

/// Captures of a run.
pub(crate) struct Captures(PathBuf);

impl Captures {
    /// Captures of the run called `name`, in a folder that stays for a look afterwards.
    pub(crate) fn of(name: &str, live: &mut LiveOptions) -> Captures {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        live.capture = Some(folder.clone());
        Captures(folder)
    }

    /// How many packets tshark finds with this filter at our end and at the kernel's, checksums
    /// checked; nothing where it is not installed.
    pub(crate) fn count(&self, filter: &str) -> Option<[usize; 2]> {
        installed(&["tshark"]).then(|| ["ours", "kernel"].map(|end| self.count_at(end, filter)))
    }

    fn count_at(&self, end: &str, filter: &str) -> usize {
        let mut command = Command::new("tshark");
        command.arg("-r").arg(self.0.join(format!("{end}.pcapng"))).args(["-Y", filter]);
        command.args(["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]);
        let output = command.output().expect("tshark starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout.iter().filter(|byte| **byte == b'\n').count()
    }

    /// Nothing is malformed, and the checksums were looked at.
    pub(crate) fn assert_sound(&self) {
        // Linux writes 0xffff where the sum is zero, once in 65,536 packets. It adds up, but
        // RFC 1624 has it 0x0000, and Wireshark calls it bad.
        let bad = "_ws.malformed || _ws.short || ip.checksum.status == bad || \
                   tcp.option.len.invalid || (tcp.checksum.status == bad && \
                   !(tcp.checksum == 0xffff && (ip.src == 10.77.0.1 || ipv6.src == fd77::1)))";
        if let Some(bad) = self.count(bad) {
            assert_eq!(bad, [0, 0], "bad packets in {}", self.0.display());
            let good = self.count("tcp.checksum.status == good").expect("it is installed");
            assert!(good.iter().all(|count| *count > 0), "no checksum was looked at");
        }
    }

    /// No connection was reset.
    pub(crate) fn assert_no_reset(&self) {
        if let Some(resets) = self.count("tcp.flags.reset == 1") {
            assert_eq!(resets, [0, 0]);
        }
    }
}
