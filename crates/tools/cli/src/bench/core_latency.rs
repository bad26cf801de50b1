//! Whether a run met the machine that was asked for: how long a word takes between two cores.
//!
//! Where a hypervisor moves virtual processors, two of them are at times halves of one core and at times far apart, for seconds or
//! minutes. Libraries that had their turns at different times cannot be compared then. So the time is taken before and after each run, and
//! a run whose machine was another is left out and done again.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// Nanoseconds that a word may take, half a round trip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreLatency(RangeInclusive<u64>);

impl FromStr for CoreLatency {
    type Err = String;

    fn from_str(text: &str) -> Result<CoreLatency, String> {
        let wrong = || format!("`{text}` is no range of nanoseconds such as 0-100");
        let (from, to) = text.split_once('-').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
        let range = number(from)?..=number(to)?;
        match range.is_empty() {
            true => Err(wrong()),
            false => Ok(CoreLatency(range)),
        }
    }
}

impl CoreLatency {
    /// In words, to stand beside figures.
    pub fn condition(&self) -> String {
        let (from, to) = (self.0.start(), self.0.end());
        format!("a word from core to core in {from} to {to} ns")
    }

    /// Whether the machine is such: half a round trip takes so many microseconds.
    pub fn is_met(&self, microseconds: f64) -> bool {
        self.0.contains(&((microseconds * 1e3).round() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_two_numbers_in_order() {
        let latency: CoreLatency = "20-100".parse().unwrap();
        assert_eq!(latency, CoreLatency(20..=100));
        assert_eq!(
            latency.condition(),
            "a word from core to core in 20 to 100 ns"
        );
        assert!(latency.is_met(0.1) && latency.is_met(0.0204) && !latency.is_met(0.1006));
        for wrong in ["", "5", "9-3", "a-b", "-5", "1-2-3"] {
            assert!(wrong.parse::<CoreLatency>().is_err(), "{wrong}");
        }
    }
}
