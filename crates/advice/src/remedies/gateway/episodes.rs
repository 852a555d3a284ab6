//! Downloads of one time over one link, as a scenario.
//!
//! Downloads that overlapped in the capture share the link in the scenario, too, from the times at which they began;
//! those that did not are scenarios of their own, because the next one of a user begins when the one before is done.

use super::downloads::Download;
use super::link::Link;
use crate::remedies::allowance::{MOST_PACKETS, MOST_QUEUED};
use ackord_units::RandomStream;
use std::fmt::Write;

/// Data packets of one scenario at most: longer downloads are simulated in part.
const MOST_OF_EPISODE: f64 = MOST_PACKETS as f64 / 2.0;
/// Downloads of one scenario at most.
const MOST_FLOWS: usize = 24;
/// A run goes on for so many times as long as the capture did, and for so long more, s.
const GOES_ON: f64 = 4.0;
const GOES_ON_S: f64 = 30.0;
/// Responses of a connection at most.
const MOST_RESPONSES: usize = 200;

/// Downloads that overlap.
#[derive(Clone, Debug)]
pub(super) struct Episode<'a> {
    /// The downloads, in the order of their beginnings.
    pub(super) downloads: Vec<&'a Download>,
    /// Part of each download that is simulated, 0 to 1.
    pub(super) part: f64,
}

impl<'a> Episode<'a> {
    /// Cuts downloads into episodes.
    pub(super) fn all(downloads: &'a [Download]) -> Vec<Episode<'a>> {
        let mut ordered: Vec<&Download> = downloads.iter().collect();
        ordered.sort_by(|one, other| one.began_s.total_cmp(&other.began_s));
        let mut found: Vec<Episode<'a>> = Vec::new();
        let (mut over_s, mut packets) = (f64::NEG_INFINITY, 0.0);
        for download in ordered {
            let more = packets_of(download);
            let last = found.last_mut().filter(|last| {
                let fits = packets + more <= MOST_OF_EPISODE && last.downloads.len() < MOST_FLOWS;
                download.began_s < over_s && fits
            });
            match last {
                Some(last) => last.downloads.push(download),
                None => {
                    (over_s, packets) = (f64::NEG_INFINITY, 0.0);
                    let part = (MOST_OF_EPISODE / more.max(1.0)).min(1.0);
                    found.push(Episode { downloads: vec![download], part });
                }
            }
            packets += more;
            over_s = over_s.max(download.began_s + download.lasted_s);
        }
        found
    }

    /// Data packets of a run.
    pub(super) fn packets(&self) -> f64 {
        self.part * self.downloads.iter().map(|one| packets_of(one)).sum::<f64>()
    }

    /// Time of the downloads in the capture, as far as they are simulated, s.
    pub(super) fn time_s(&self) -> f64 {
        self.part * self.downloads.iter().map(|one| one.time_s).sum::<f64>()
    }

    /// When a run is given up, s.
    pub(super) fn duration_s(&self) -> f64 {
        let began = self.downloads[0].began_s;
        let ends = self
            .downloads
            .iter()
            .map(|one| one.began_s - began + GOES_ON * self.part * one.lasted_s);
        ends.fold(0.0, f64::max) + GOES_ON_S
    }

    /// Pauses of the applications of each download, s.
    pub(super) fn pauses_s(&self) -> Vec<f64> {
        let pauses = |one: &&Download| one.gap_s * self.sizes(one).len().saturating_sub(1) as f64;
        self.downloads.iter().map(pauses).collect()
    }

    fn sizes(&self, download: &Download) -> Vec<u64> {
        let sizes = download.sizes.iter().take(MOST_RESPONSES);
        sizes.map(|bytes| ((*bytes as f64 * self.part) as u64).max(1)).collect()
    }

    /// Returns the scenario, with the fades that this seed draws.
    pub(super) fn toml(
        &self,
        link: &Link,
        proxy: Option<&str>,
        control: &str,
        seed: u64,
    ) -> String {
        let mut text = format!(
            "version = 1\nname = \"gateway\"\npurpose = \"Downloads observed at a gateway\"\nseed = {seed}\n\
             duration = \"{:.0} ms\"\n\n[hosts.client]\n[routers.router]\n",
            1e3 * self.duration_s()
        );
        // Writing to a string cannot fail.
        for (number, download) in self.downloads.iter().enumerate() {
            let _ = write!(
                text,
                "[hosts.server-{number}]\n[[links]]\nname = \"wired-{number}\"\nfrom = \"server-{number}\"\n\
                 to = \"router\"\nrate = \"{:.0} bit/s\"\ndelay = \"{:.0} ns\"\n\
                 queue = {{ kind = \"drop-tail\", limit = \"20000 packets\" }}\n",
                (10.0 * link.rate_bit_s).clamp(1e9, 1e12),
                (0.5e9 * download.wired_s).clamp(1e3, 1e10),
            );
        }
        self.air(&mut text, link, seed);
        if let Some(proxy) = proxy {
            let _ = write!(text, "[[proxies]]\nat = \"router\"\nlink = \"air\"\nproxy = {proxy}\n");
        }
        let _ = write!(text, "[tcp]\nprofile = \"linux\"\ncongestion = {control}\n");
        let began = self.downloads[0].began_s;
        for (number, download) in self.downloads.iter().enumerate() {
            let _ = write!(
                text,
                "[[flows]]\nname = \"download-{number}\"\nfrom = \"client\"\nto = \"server-{number}\"\n\
                 sends = \"server\"\nstart = \"{:.0} us\"\ntraffic = {}\n",
                1e6 * (download.began_s - began),
                self.traffic(download)
            );
            if let Some(window) = download.window {
                let _ = writeln!(
                    text,
                    "receiver_tcp = {{ receive_buffer = \"{} B\", receive_buffer_tuning = \"off\" }}",
                    window.clamp(4_096, 1 << 30)
                );
            }
        }
        let _ = write!(text, "[record]\ncaptures = [\"air\", \"air.reverse\"]\n");
        text
    }

    fn air(&self, text: &mut String, link: &Link, seed: u64) {
        // The shortest round trip is that of full packets.
        let serialisation = 12_000.0 / link.rate_bit_s;
        let one_way = (0.5 * (link.air_s - serialisation)).clamp(10e-6, 10.0);
        let _ = write!(
            text,
            "[[links]]\nname = \"air\"\nfrom = \"router\"\nto = \"client\"\nrate = \"{:.0} bit/s\"\n\
             delay = \"{:.0} ns\"\nqueue = {{ kind = \"drop-tail\", limit = \"{:.0} packets\" }}\n",
            link.rate_bit_s.clamp(1e3, 1e12),
            1e9 * one_way,
            link.queue.clamp(4.0, MOST_QUEUED as f64)
        );
        if link.loss > 0.0 {
            let percent = (100.0 * link.loss).clamp(1e-4, 50.0);
            let _ =
                writeln!(text, "loss = {{ kind = \"random\", per_packet = \"{percent:.5} %\" }}");
        }
        let mut stream = RandomStream::for_element(seed, "fades");
        let fades = link.fades.draw(self.duration_s(), &mut stream);
        if !fades.is_empty() {
            let list = |of: fn(&(f64, f64)) -> f64| {
                let each =
                    fades.iter().map(|one| format!("\"{:.0} us\"", (1e6 * of(one)).max(1.0)));
                each.collect::<Vec<_>>().join(", ")
            };
            let _ = writeln!(
                text,
                "outage = {{ kind = \"schedule\", from = [{}], for = [{}], does = \"loses\" }}",
                list(|one| one.0),
                list(|one| one.1)
            );
        }
    }

    fn traffic(&self, download: &Download) -> String {
        let us = |seconds: f64| format!("\"{:.0} us\"", 1e6 * seconds);
        let sizes = self.sizes(download);
        match (sizes.as_slice(), download.request) {
            ([size], 0) => format!("{{ kind = \"bulk\", size = \"{size} B\" }}"),
            ([size], request) => format!(
                "{{ kind = \"request\", request = \"{request} B\", response = \"{size} B\", count = 1, think = {} }}",
                us(download.think_s)
            ),
            (sizes, _) => {
                let each: Vec<String> =
                    sizes.iter().map(|bytes| format!("\"{bytes} B\"")).collect();
                format!(
                    "{{ kind = \"transfers\", sizes = [{}], count = {}, gap = {} }}",
                    each.join(", "),
                    sizes.len(),
                    us(download.gap_s)
                )
            }
        }
    }
}

/// The capture of a run at the gateway's place.
pub(super) const CAPTURE: &str = "air.at-router.pcapng";

fn packets_of(download: &Download) -> f64 {
    (download.bytes() as f64 / download.mss).ceil()
}
