//! Three network namespaces, a sender, a router and a mobile host, and what runs in them.

use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The mobile host.
pub(crate) const MOBILE: &str = "10.2.0.1";
pub(crate) const MOBILE_V6: &str = "fd02::1";

/// Namespaces that are gone when this is.
pub(crate) struct World {
    prefix: String,
}

static WORLDS: AtomicU32 = AtomicU32::new(0);

/// Whether this machine has and allows what these tests need; says what not.
pub(crate) fn is_possible() -> bool {
    if !nix::unistd::geteuid().is_root() {
        ackord_testing::skipped("not root");
        return false;
    }
    if File::open("/dev/net/tun").is_err() {
        ackord_testing::skipped("no /dev/net/tun");
        return false;
    }
    ackord_testing::installed(&["ip", "tc", "ping"])
}

impl World {
    pub(crate) fn new() -> World {
        let number = WORLDS.fetch_add(1, Ordering::Relaxed);
        let world = World { prefix: format!("gw{}-{number}-", std::process::id()) };
        for place in ["s", "r", "m"] {
            world.ip(&format!("netns add {}{place}", world.prefix));
            world.ip(&format!("-n {}{place} link set lo up", world.prefix));
        }
        world.ip(&format!("-n {0}s link add w0 type veth peer name wan netns {0}r", world.prefix));
        world.make_lan();
        world.on("s", "ip addr add 10.1.0.1/24 dev w0");
        world.on("r", "ip addr add 10.1.0.2/24 dev wan");
        world.on("s", "ip addr add fd01::1/64 dev w0 nodad");
        world.on("r", "ip addr add fd01::2/64 dev wan nodad");
        world.on("s", "ip link set w0 up");
        world.on("r", "ip link set wan up");
        world.on("s", "ip route add default via 10.1.0.2");
        world.on("s", "ip -6 route add default via fd01::2");
        world.on("r", "sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1");
        world
    }

    /// The link to the mobile host, as at first and as it comes back.
    pub(crate) fn make_lan(&self) {
        self.ip(&format!("-n {0}r link add lan type veth peer name l0 netns {0}m", self.prefix));
        self.on("m", "ip addr add 10.2.0.1/24 dev l0");
        self.on("r", "ip addr add 10.2.0.2/24 dev lan");
        self.on("m", "ip addr add fd02::1/64 dev l0 nodad");
        self.on("r", "ip addr add fd02::2/64 dev lan nodad");
        self.on("r", "ip link set lan up");
        self.on("m", "ip link set l0 up");
        self.on("m", "ip route add default via 10.2.0.2");
        self.on("m", "ip -6 route add default via fd02::2");
    }

    fn ip(&self, words: &str) {
        let done = Command::new("ip").args(words.split(' ')).output().expect("ip runs");
        assert!(done.status.success(), "ip {words}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// What a command says in a namespace, and whether it succeeded.
    pub(crate) fn say(&self, place: &str, words: &str) -> (bool, String) {
        let done = Command::new("ip")
            .args(["netns", "exec", &format!("{}{place}", self.prefix)])
            .args(words.split(' '))
            .output()
            .expect("ip runs");
        (done.status.success(), String::from_utf8_lossy(&done.stdout).into_owned())
    }

    /// The same for one that has to succeed.
    pub(crate) fn on(&self, place: &str, words: &str) -> String {
        let (succeeded, said) = self.say(place, words);
        assert!(succeeded, "{place}: {words}: {said}");
        said
    }

    /// Something that runs in a namespace.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        place: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let path = format!("/run/netns/{}{place}", self.prefix);
        std::thread::spawn(move || {
            let file = File::open(path).expect("the namespace is there");
            setns(file, CloneFlags::CLONE_NEWNET).expect("root may enter it");
            work()
        })
    }

    /// This test program once more, in the router: its ignored test of this name, told this. It has to begin.
    pub(crate) fn process(&self, test: &str, words: &str) -> Gateway {
        let mut gateway = self.begin(test, words);
        let first = gateway.answer();
        assert!(first.starts_with("ready"), "{first}");
        gateway
    }

    /// The same, whatever its first answer is.
    pub(crate) fn begin(&self, test: &str, words: &str) -> Gateway {
        let mut child = Command::new("ip")
            .args(["netns", "exec", &format!("{}r", self.prefix)])
            .arg(std::env::current_exe().expect("this program"))
            .args(["--exact", test, "--nocapture", "--ignored"])
            .env("GATEWAY_TEST", words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs once more");
        let stdin = child.stdin.take().expect("piped");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        Gateway { child, stdin, stdout }
    }

    /// A process with a queue in the router's path.
    pub(crate) fn gateway(&self, words: &str) -> Gateway {
        self.process("in_path::child::the_gateway_itself", words)
    }

    /// What of a gateway is there in the router that was not before.
    pub(crate) fn left_behind(&self) -> String {
        let links = self.on("r", "ip -o link");
        let taps: String = links.lines().filter(|line| line.contains("ackord")).collect();
        let qdiscs = self.on("r", "tc qdisc show");
        let clsact: String = qdiscs.lines().filter(|line| line.contains("clsact")).collect();
        taps + &clsact
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for place in ["s", "r", "m"] {
            let name = format!("{}{place}", self.prefix);
            let _ = Command::new("ip").args(["netns", "del", &name]).status();
        }
    }
}

/// A process in the router.
pub(crate) struct Gateway {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Gateway {
    /// Tells it something; what it answers.
    pub(crate) fn tell(&mut self, words: &str) -> String {
        writeln!(self.stdin, "{words}").expect("it listens");
        self.answer()
    }

    /// Its next line that is not the test harness's.
    pub(crate) fn answer(&mut self) -> String {
        loop {
            let mut line = String::new();
            let len = self.stdout.read_line(&mut line).expect("it speaks");
            match line.split_once("gateway: ") {
                Some((_, answer)) => return answer.trim().to_owned(),
                None if len == 0 => return "nothing more".to_owned(),
                None => {}
            }
        }
    }

    /// A number that it tells of itself.
    pub(crate) fn number(&mut self, what: &str) -> u64 {
        // What it tells is 50 ms old at most.
        std::thread::sleep(Duration::from_millis(60));
        let stats = self.tell("stats");
        let found = stats.split(' ').find_map(|word| word.strip_prefix(&format!("{what}=")));
        found.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{what}: {stats}"))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).expect("it is there");
    }

    /// Waits until it is gone.
    pub(crate) fn wait(&mut self) {
        self.child.wait().expect("it is ours");
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
