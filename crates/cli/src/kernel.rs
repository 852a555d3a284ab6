//! `ackord kernel`: stock kernels and kernels of one's own, built and kept.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::{JsonTarget, Results};
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_report::to_terminal;
use ackord_study::kernel_list::{json_of, table_of};
use ackord_uml::{
    BuildOrder, DEFAULT_HZ, DEFAULT_KERNEL, HZ_CHOICES, Kernel, KernelError, KernelWish, Kernels,
    Phase, Progress, ShellOrder,
};
use clap::{Args, Subcommand};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Stock Linux kernels for simulated time: build, list, try
///
/// A kernel is built as a program (User-Mode Linux) from the source that Debian has of it, or from a tree of
/// your own, and kept in your cache. Nobody has to be root.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct KernelArguments {
    #[command(subcommand)]
    what: What,
}

const EXAMPLES: &str = "\
Examples:
  ackord kernel build                       6.12 with 250 Hz, in a few minutes, once
  ackord kernel build 6.1 --hz 1000
  ackord kernel build --source ~/linux --name mine
  ackord kernel list
  ackord kernel shell mine                  a shell on it: look around, then `exit`
  ackord kernel remove mine

They are kept in $XDG_CACHE_HOME/ackord/kernels, or ~/.cache/ackord/kernels.";

#[derive(Subcommand)]
enum What {
    Build(BuildArguments),
    List(ListArguments),
    Config(ConfigArguments),
    Shell(ShellArguments),
    Remove(RemoveArguments),
    #[command(hide = true)]
    Inside(InsideArguments),
}

/// Which kernel.
#[derive(Args)]
struct WishArguments {
    /// A version (6.12), a release (6.12.117), or the name of a kernel of your own
    #[arg(default_value = DEFAULT_KERNEL)]
    kernel: String,
    /// Timer interrupts per second: 100, 250, 300 or 1000
    #[arg(long, value_name = "N", default_value_t = DEFAULT_HZ, value_parser = hz)]
    hz: u32,
}

impl WishArguments {
    fn wish(&self) -> KernelWish {
        KernelWish { name: self.kernel.clone(), hz: self.hz }
    }
}

/// Build a kernel, unless it is there
///
/// The source is Debian's package linux-source-VERSION: the one that is installed, or else the one that
/// `apt-get download` fetches, which is thrown away afterwards. It takes about three minutes on two
/// processors and a gigabyte meanwhile; what is kept has 8 MB.
///
/// A tree of your own is only read. It must not have been built in.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ackord kernel build
  ackord kernel build 6.1 --hz 1000
  ackord kernel build --source ~/linux --name beta512

HZ decides how finely a kernel times retransmissions and delayed ACKs. Debian's kernels tick 250 times
per second, other distributions' 1000 times: take the one of the kernel that you compare with.")]
struct BuildArguments {
    /// The version
    #[arg(default_value = DEFAULT_KERNEL, conflicts_with = "source")]
    version: String,
    /// Timer interrupts per second: 100, 250, 300 or 1000
    #[arg(long, value_name = "N", default_value_t = DEFAULT_HZ, value_parser = hz)]
    hz: u32,
    /// A kernel tree of your own instead of a version
    #[arg(long, value_name = "DIR")]
    source: Option<PathBuf>,
    /// What your own kernel is called; as its folder, where nothing is said
    #[arg(long, requires = "source")]
    name: Option<String>,
    /// Compilers at once; as many as there are processors, where nothing is said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
}

/// List the kernels that are kept
#[derive(Args)]
#[command(after_help = "\
Examples:
  ackord kernel list
  ackord kernel list --json - | jq '.kernels[] | {name, hz, release, hash}'")]
struct ListArguments {
    /// Write the list as JSON to this file, or with `-` to standard output instead of the table
    #[arg(long, value_name = "FILE|-")]
    json: Option<JsonTarget>,
}

/// Print the options that every kernel is built with, each with its reason
///
/// Of a kernel that is built it says too where its complete configuration is.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ackord kernel config
  ackord kernel config 6.1 | grep -B1 HIGH_RES")]
struct ConfigArguments {
    #[command(flatten)]
    kernel: WishArguments,
}

/// A shell on a kernel, in real time, without a network
///
/// It sees your files, read-only, with your rights; /tmp and /run are its own and vanish with it. `exit`
/// turns the machine off. A command after `--` runs instead, and its exit code is passed on.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ackord kernel shell
  ackord kernel shell 6.1 -- uname -r
  ackord kernel shell -- sysctl net.ipv4.tcp_available_congestion_control
  ackord kernel shell --leap -- sleep 1000      over at once: nothing else was to happen

With --leap the same command sees the same times, random numbers and addresses each time.")]
struct ShellArguments {
    #[command(flatten)]
    kernel: WishArguments,
    /// Let time leap whenever all wait, and stand still while something computes
    #[arg(long)]
    leap: bool,
    /// Its memory, in MiB, from which its default buffers follow
    #[arg(long, value_name = "N", default_value_t = 768, value_parser = clap::value_parser!(u32).range(32..))]
    memory: u32,
    /// A command instead of /bin/sh
    #[arg(last = true)]
    command: Vec<String>,
}

/// Remove kernels
#[derive(Args)]
#[command(after_help = "\
Examples:
  ackord kernel remove beta512
  ackord kernel remove 6.12 --hz 1000
  ackord kernel remove --all")]
struct RemoveArguments {
    /// A version, a release, or the name of a kernel of your own
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    kernel: Option<String>,
    /// Only the one with these timer interrupts per second
    #[arg(long, value_name = "N", value_parser = hz, conflicts_with = "all")]
    hz: Option<u32>,
    /// Remove every kernel
    #[arg(long)]
    all: bool,
}

/// The first process of a kernel's shell.
#[derive(Args)]
struct InsideArguments {
    folder: PathBuf,
    /// What the kernel adds of its own: `console=tty0`.
    #[arg(hide = true)]
    more: Vec<String>,
}

/// What leads a kernel to [`InsideArguments`].
const INSIDE: [&str; 2] = ["kernel", "inside"];

fn hz(text: &str) -> Result<u32, String> {
    let known = HZ_CHOICES.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let chosen = text.parse().ok().filter(|hz| HZ_CHOICES.contains(hz));
    chosen.ok_or_else(|| format!("kernels are built with {known}"))
}

pub(crate) fn kernel(arguments: &KernelArguments, console: &Console) -> Result<(), Failure> {
    match &arguments.what {
        What::Build(arguments) => build(arguments, console),
        What::List(arguments) => list(arguments, console),
        What::Config(arguments) => config(arguments, console),
        What::Shell(arguments) => shell(arguments),
        What::Remove(arguments) => remove(arguments, console),
        What::Inside(arguments) => Ok(ackord_uml::run_inside(&arguments.folder)?),
    }
}

fn build(arguments: &BuildArguments, console: &Console) -> Result<(), Failure> {
    let name = match (&arguments.source, &arguments.name) {
        (None, _) => arguments.version.clone(),
        (Some(_), Some(name)) => name.clone(),
        (Some(tree), None) => folder_name(tree),
    };
    let order = BuildOrder {
        wish: KernelWish { name, hz: arguments.hz },
        tree: arguments.source.clone(),
        jobs: arguments.jobs.map(usize::from),
    };
    let interrupt = Interrupt::listen()?;
    let meter = Meter::begin(&format!("kernel {}", order.wish));
    let mut told = None;
    let mut watch = |progress: Progress| -> ControlFlow<()> {
        // A line for each thing it does, where no bar is to be seen.
        let phase = progress.phase.to_string();
        if !meter.is_shown() && told.as_ref() != Some(&phase) && progress.phase != Phase::Read {
            console.remark(&phase);
            told = Some(phase);
        }
        meter.at(progress.share);
        interrupt.check()
    };
    let built = Kernels::of_user()?.build(&order, &mut watch);
    meter.end();
    let built = built?;
    let kernel = &built.kernel;
    let was = if built.anew { "built" } else { "was there" };
    console.remark(&format!(
        "{was}: {}, Linux {}, {} Hz (HZ in front of arch/um/Kconfig's), sha256 {}, of {}",
        kernel.name,
        kernel.release,
        kernel.hz,
        kernel.short_hash(),
        kernel.source
    ));
    if !kernel.lacks.is_empty() {
        console.remark(&format!("this version does not have: {}", kernel.lacks.join(", ")));
    }
    Ok(console.print(&format!("{}\n", kernel.binary.display()))?)
}

/// A tree is called as its folder, wherever it was named from.
fn folder_name(tree: &Path) -> String {
    let whole = tree.canonicalize().unwrap_or_else(|_| tree.to_owned());
    whole.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn list(arguments: &ListArguments, console: &Console) -> Result<(), Failure> {
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let kernels = Kernels::of_user()?;
    let listing = kernels.list()?;
    let document = table_of(&listing, kernels.folder());
    let json = json_of(&listing, kernels.folder());
    let results = Results { document: &document, json: &json };
    if let Some(target) = &arguments.json {
        target.write(results.json, console)?;
    }
    if arguments.json == Some(JsonTarget::Stdout) {
        return Ok(());
    }
    Ok(console.print(&to_terminal(results.document, console.screen()))?)
}

fn config(arguments: &ConfigArguments, console: &Console) -> Result<(), Failure> {
    let wish = arguments.kernel.wish();
    let complete = match Kernels::of_user()?.find(&wish) {
        Ok(Kernel { release, config, .. }) => {
            format!("the complete configuration of Linux {release}: {}", config.display())
        }
        // Who names none wants the options, which are there without any kernel.
        Err(KernelError::NotBuilt { how, .. }) if wish == KernelWish::default() => {
            format!("a complete configuration comes with a kernel: {how}")
        }
        Err(error) => return Err(error.into()),
    };
    console.print(&format!(
        "{}\n# In front of the definition in arch/um/Kconfig, which no option reaches.\n# HZ={}\n",
        ackord_uml::kernel_options(),
        wish.hz
    ))?;
    console.remark(&complete);
    Ok(())
}

fn shell(arguments: &ShellArguments) -> Result<(), Failure> {
    let kernel = Kernels::of_user()?.find(&arguments.kernel.wish())?;
    let order = ShellOrder {
        kernel,
        program: std::env::current_exe()?,
        arguments: INSIDE.map(str::to_owned).to_vec(),
        command: arguments.command.clone(),
        leaps: arguments.leap,
        memory_mib: arguments.memory,
    };
    let interrupt = Interrupt::listen()?;
    let end = ackord_uml::kernel_shell(&order, &mut || interrupt.check())?;
    match end.code {
        0 => Ok(()),
        code => Err(Failure::CommandEnded(code)),
    }
}

fn remove(arguments: &RemoveArguments, console: &Console) -> Result<(), Failure> {
    let kernels = Kernels::of_user()?;
    let Some(name) = &arguments.kernel else {
        let count = kernels.remove_all()?;
        console.remark(&format!("removed {count} kernels of {}", kernels.folder().display()));
        return Ok(());
    };
    for kernel in kernels.remove(name, arguments.hz)? {
        console.remark(&format!(
            "removed {} (Linux {}, {} Hz)",
            kernel.name, kernel.release, kernel.hz
        ));
    }
    Ok(())
}
