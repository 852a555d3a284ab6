//! A forecast as text.

use super::{GatewayForecast, LinkFacts, RemedyForecast};
use std::fmt;

impl fmt::Display for GatewayForecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Forecast, from {} downloads simulated {} times without and with each remedy",
            self.simulated, self.rounds
        )?;
        for one in &self.remedies {
            writeln!(f, "  {one}")?;
        }
        write!(f, "{}", self.link)?;
        writeln!(
            f,
            "  model      {} at the servers; a download takes {:.2} s in it, {:.2} s in the capture ({:+.0} %)",
            self.congestion_control,
            self.modelled_s,
            self.observed_s,
            100.0 * (self.modelled_s / self.observed_s - 1.0)
        )?;
        for (why, count) in &self.left_out {
            writeln!(f, "  left out   {count} connections: {why}")?;
        }
        Ok(())
    }
}

impl fmt::Display for RemedyForecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = self.ci95;
        let nothing = if self.nothing_to_gain { "nothing to gain here: " } else { "" };
        let uncertain = !self.certain && !self.nothing_to_gain;
        let uncertain = if uncertain { "; not certain, observe for longer" } else { "" };
        write!(
            f,
            "{:<10} {nothing}downloads take {:.0} % less time [{low:.0}, {high:.0}]: {:.2} s on average, not {:.2} s{uncertain}",
            self.remedy, self.gain_percent, self.with_s, self.without_s
        )
    }
}

impl fmt::Display for LinkFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = if self.rate_is_shown { "" } else { "at least " };
        writeln!(
            f,
            "  link       {bound}{:.3} Mbit/s, {:.0} % of it used during downloads; round trips {:.0} ms behind this \
             machine\n             and {:.0} ms before it; {:.2} % of the packets lost at random ({} losses)",
            self.rate_bit_s / 1e6,
            self.used_percent,
            1e3 * self.round_trip_s,
            1e3 * self.round_trip_to_servers_s,
            self.loss_percent,
            self.losses
        )?;
        if let (Some(every), Some(length)) = (self.fade_every_s, self.fade_s) {
            writeln!(
                f,
                "  link       {} fades of {length:.1} s, one every {every:.1} s",
                self.fades
            )?;
        }
        Ok(())
    }
}
