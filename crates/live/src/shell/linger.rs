//! What is still to be sent when the command has ended: a kernel goes on for a socket whose program
//! is gone, and packets are under way.
//!
//! Not modelled: programs that the command has left behind; they end with it.

use ackord_sys::Namespace;
use ackord_units::{Span, Time};

/// How long a shell waits for what its command has left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linger {
    ends_at: Time,
}

/// At most so long.
const LONGEST: Span = Span::from_secs(3);
/// How often to look.
const LOOK_EVERY: Span = Span::from_millis(5);

impl Linger {
    /// The command has ended at `now`.
    pub(super) fn from(now: Time) -> Linger {
        Linger { ends_at: now + LONGEST }
    }

    /// When to look again; nothing if there is nothing left to wait for.
    pub(super) fn goes_on(
        &mut self,
        now: Time,
        namespace: &Namespace,
        under_way: bool,
    ) -> Option<Time> {
        let unsent = || {
            ["tcp", "tcp6"]
                .iter()
                .any(|name| namespace.table(name).is_some_and(|table| has_unsent(&table)))
        };
        let goes_on = now < self.ends_at && (under_way || unsent());
        goes_on.then(|| (now + LOOK_EVERY).min(self.ends_at))
    }
}

/// Whether a table of sockets (proc_pid_net(5), `tcp`) has one that nobody holds any more and that is
/// not done: it has something to send, or waits for the acknowledgment of its FIN.
fn has_unsent(table: &str) -> bool {
    table.lines().skip(1).any(|row| {
        let fields: Vec<&str> = row.split_whitespace().collect();
        let (state, queues, inode) = (fields.get(3), fields.get(4), fields.get(9));
        // FIN-WAIT-1, CLOSING, LAST-ACK, with the kernel's numbers; FIN-WAIT-2 and TIME-WAIT wait
        // for the peer only.
        let closing = matches!(state, Some(&"04" | &"0B" | &"09"));
        let queued = queues.and_then(|queues| queues.split(':').next());
        let queued = queued.is_some_and(|queued| !queued.trim_matches('0').is_empty());
        inode == Some(&"0") && (closing || queued) && !matches!(state, Some(&"0A"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_without_a_program_that_has_data_or_a_fin_out_is_waited_for() {
        let row = |state: &str, queue: &str, inode: &str| {
            format!(
                "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                 0: 02004064:A3F2 01004064:1F90 {state} {queue}:00000000 01:00000014 00000000     0        0 {inode} 1 0\n"
            )
        };
        assert!(has_unsent(&row("04", "00000000", "0")), "FIN-WAIT-1");
        assert!(has_unsent(&row("01", "00000540", "0")), "data");
        assert!(!has_unsent(&row("01", "00000540", "77123")), "somebody still has it");
        assert!(!has_unsent(&row("06", "00000000", "0")), "TIME-WAIT");
        assert!(!has_unsent(&row("05", "00000000", "0")), "FIN-WAIT-2");
    }
}
