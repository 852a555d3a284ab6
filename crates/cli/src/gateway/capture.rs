//! `ackord gateway capture`: the packets of a connection, with what the gateway decided as comments.

use super::status::Whom;
use crate::console::Console;
use crate::daemons::DaemonFailure;
use crate::errors::Failure;
use crate::input::check_file;
use crate::interrupt::Interrupt;
use ackord_gateway::watch::{self, Capture, CaptureRequest, Filter};
use ackord_units::{Bytes, Quantity, Span};
use clap::Args;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Capture one connection, or those of one mobile host, with what the gateway decided about each packet as its comment
///
/// The file is pcapng: Wireshark shows the comments, and `frame.comment contains "injected"` finds what
/// the gateway sent. The first 192 bytes of each packet are kept. A capture lasts an hour at most,
/// takes 1 GiB at most, and four can run at once.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ackord gateway capture --mobile 192.0.2.7 -o phone.pcapng
  ackord gateway capture --flow 192.0.2.7:50000-198.51.100.1:443 --for '5 min' -o one.pcapng")]
pub(crate) struct CaptureArguments {
    /// The connection between these two, in either order
    #[arg(long, value_name = "ADDRESS:PORT-ADDRESS:PORT", value_parser = Filter::flow)]
    #[arg(required_unless_present = "mobile")]
    flow: Option<Filter>,
    /// All connections of this mobile host
    #[arg(long, value_name = "ADDRESS", conflicts_with = "flow")]
    mobile: Option<IpAddr>,
    /// For how long; Ctrl-C ends it earlier
    #[arg(long = "for", value_name = "TIME", default_value = "60 s", value_parser = Span::parse)]
    span: Span,
    /// How large the file may become
    #[arg(long, value_name = "SIZE", default_value = "64 MB", value_parser = Bytes::parse)]
    size: Bytes,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    whom: Whom,
}

pub(crate) fn capture(arguments: &CaptureArguments, console: &Console) -> Result<(), Failure> {
    let of = match (arguments.flow, arguments.mobile) {
        (Some(flow), _) => flow,
        (None, mobile) => Filter::Mobile(mobile.expect("one of both is required")),
    };
    let request = CaptureRequest { of, span: arguments.span, size: arguments.size };
    request.check().map_err(DaemonFailure::Capture)?;
    check_file(&arguments.output)?;
    let interrupt = Interrupt::listen()?;
    let mut packets = watch::capture(&arguments.whom.socket(), request)?;
    packets.wake_every(Duration::from_millis(100))?;
    let octets = copy(&mut packets, &arguments.output, &interrupt).map_err(|source| {
        let path = arguments.output.display().to_string();
        Failure::CommandOutput { path, source }
    })?;
    console.remark(&format!("wrote {}: {}", arguments.output.display(), Bytes(octets)));
    Ok(())
}

/// What came until it was over or somebody pressed Ctrl-C.
fn copy(packets: &mut Capture, path: &Path, interrupt: &Interrupt) -> io::Result<u64> {
    let mut file = File::create(path)?;
    let mut octets = [0; 1 << 16];
    let mut written = 0;
    loop {
        if interrupt.check().is_break() {
            packets.end();
        }
        match packets.read(&mut octets) {
            Ok(0) => return Ok(written),
            Ok(len) => {
                file.write_all(&octets[..len])?;
                written += len as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
