//! The process of a kernel: what it is given of this machine, and its end.
//!
//! Nothing of this machine may reach the kernel that differs from run to run: no environment, no
//! random numbers, no addresses of chance. It has its folder for a moment only, for the names of two
//! sockets and its files; when it has connected the folder is gone.

use super::{LOOK_MS, MOST_SECONDS, MachineError, MachineSetup};
use crate::chance;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Where the kernel finds its serial line, whatever else is open here.
const LINE: RawFd = 100;
/// How much of a console an error tells.
const CONSOLE_END: usize = 2000;
/// What a kernel says on its console that ends for want of memory.
const OUT_OF_MEMORY: &str = "not syncing: Out of memory";

/// A kernel's process; it ends when this is dropped.
pub(super) struct Process {
    child: Child,
    console: File,
    line: File,
    line_read: u64,
    memory_mib: u32,
    /// For the moment of starting.
    folder: Option<TempDir>,
}

/// Where the kernel connects.
pub(super) struct Sockets {
    time: UnixListener,
    pub(super) card: UnixListener,
}

impl Sockets {
    /// The kernel's connection about time.
    pub(super) fn accept_time(&self, process: &Process) -> Result<UnixStream, MachineError> {
        let looks = u32::from(MOST_SECONDS) * 1000 / u32::from(LOOK_MS);
        for _ in 0..looks {
            let mut one = [PollFd::new(self.time.as_fd(), PollFlags::POLLIN)];
            match poll(&mut one, PollTimeout::from(LOOK_MS)) {
                Ok(0) | Err(Errno::EINTR) if process.has_ended() => return Err(MachineError::Gone),
                Ok(0) | Err(Errno::EINTR) => {}
                Ok(_) => return Ok(self.time.accept()?.0),
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(MachineError::Stuck { seconds: MOST_SECONDS, console: process.console_end() })
    }
}

impl Process {
    pub(super) fn start(setup: &MachineSetup) -> Result<(Process, Sockets), MachineError> {
        let folder = tempfile::Builder::new().prefix("ackord-kernel-").tempdir()?;
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("files"), &setup.files)?;
        let sockets = Sockets {
            time: UnixListener::bind(at("time"))?,
            card: UnixListener::bind(at("card"))?,
        };
        let (console, line) = (memory_file(c"console")?, memory_file(c"line")?);
        let mut command = Command::new(&setup.kernel);
        command
            .args([
                // Everything here is seen by the kernel, and what it sees must be the same each time.
                "umid=a",
                "uml_dir=./",
                "initrd=files",
                "con=null",
                "con0=null,fd:1",
                "ssl=null",
                "quiet",
                "panic=-1",
                "time-travel=ext:0:time",
                "virtio_uml.device=card:1",
                // Sent packets are nobody's any more, as behind a TUN device.
                "virtio_net.napi_tx=0",
            ])
            .arg(format!("ssl0=null,fd:{LINE}"))
            .arg(format!("mem={}M", setup.memory_mib))
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", ".")
            // The C library's restartable sequences do not survive the kernel's own threads.
            .env("GLIBC_TUNABLES", "glibc.pthread.rseq=0")
            .stdin(Stdio::null())
            .stdout(console.try_clone()?)
            .stderr(console.try_clone()?)
            .process_group(0);
        confine(&mut command, line.as_raw_fd());
        let start = |source| MachineError::Start { kernel: setup.kernel.clone(), source };
        let child = command.spawn().map_err(start)?;
        let (folder, memory_mib) = (Some(folder), setup.memory_mib);
        Ok((Process { child, console, line, line_read: 0, memory_mib, folder }, sockets))
    }

    /// It has connected and read its files: its folder is not needed any more.
    pub(super) fn forget_folder(&mut self) {
        self.folder = None;
    }

    /// How it has ended, if it has; it stays to be waited for.
    fn status(&self) -> nix::Result<WaitStatus> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        waitid(Id::Pid(Pid::from_raw(self.child.id() as i32)), flags)
    }

    fn has_ended(&self) -> bool {
        !matches!(self.status(), Ok(WaitStatus::StillAlive))
    }

    /// The same error, or what lies behind it: that the process has ended.
    pub(super) fn why(&self, error: MachineError) -> MachineError {
        let gone = match &error {
            MachineError::Gone => true,
            MachineError::System(error) => matches!(
                error.kind(),
                io::ErrorKind::UnexpectedEof
                    | io::ErrorKind::BrokenPipe
                    | io::ErrorKind::ConnectionReset
            ),
            _ => false,
        };
        if !gone {
            return error;
        }
        // Its sockets are closed a moment before it has ended.
        for _ in 0..200 {
            if self.has_ended() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        if self.console().contains(OUT_OF_MEMORY) {
            return MachineError::OutOfMemory { memory_mib: self.memory_mib };
        }
        MachineError::Ended { how: self.how_it_ended(), console: self.console_end() }
    }

    fn how_it_ended(&self) -> String {
        match self.status() {
            Ok(WaitStatus::Exited(_, code)) => format!("exit code {code}"),
            Ok(WaitStatus::Signaled(_, signal, _)) => format!("by {signal}"),
            _ => "its connections are closed".to_owned(),
        }
    }

    /// What it has written on its serial line since the last call.
    pub(super) fn read_line(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        let before = into.len();
        let mut piece = [0; 16384];
        loop {
            let got = self.line.read_at(&mut piece, self.line_read)?;
            into.extend_from_slice(&piece[..got]);
            self.line_read += got as u64;
            if got < piece.len() {
                return Ok(into.len() - before);
            }
        }
    }

    pub(super) fn console(&self) -> String {
        let length = self.console.metadata().map_or(0, |metadata| metadata.len());
        let mut bytes = vec![0; length as usize];
        let got = self.console.read_at(&mut bytes, 0).unwrap_or(0);
        String::from_utf8_lossy(&bytes[..got]).into_owned()
    }

    pub(super) fn console_end(&self) -> String {
        let console = self.console();
        let from = console.len().saturating_sub(CONSOLE_END);
        let from = (from..).find(|at| console.is_char_boundary(*at)).unwrap_or(0);
        match console[from..].trim() {
            "" => "(nothing)".to_owned(),
            end => end.to_owned(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The programs on the kernel are processes of its group.
        let _ = killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGKILL);
        let _ = self.child.wait().map(ExitStatusExt::into_raw);
    }
}

fn memory_file(name: &CStr) -> Result<File, MachineError> {
    Ok(File::from(memfd_create(name, MFdFlags::MFD_CLOEXEC)?))
}

/// What is done in the new process before it becomes the kernel.
#[allow(unsafe_code, reason = "bare system calls between fork and exec")]
fn confine(command: &mut Command, line: RawFd) {
    let before_exec = move || {
        // SAFETY: plain system calls.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Errno::result(libc::dup2(line, LINE))?;
        }
        chance::take_away()
    };
    // SAFETY: it allocates nothing and takes no lock.
    unsafe { command.pre_exec(before_exec) };
}
