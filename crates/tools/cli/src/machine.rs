//! The machine and the moment of a measurement, to stand beside every figure.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub struct Machine {
    pub processor: String,
    /// Processors that this process may use.
    pub cores: usize,
    pub kernel: String,
    /// Processes that wanted to run over the last minute, when this was read: more than none is noise.
    pub load: String,
    pub date: String,
    /// The commit of the source tree, with `+` where files differ from it.
    pub commit: Option<String>,
}

impl Machine {
    pub fn read(tree: Option<&Path>) -> Machine {
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let (processor, kernel) = match weft_prices::Machine::here() {
            Some(here) => (here.processor, here.kernel),
            None => (std::env::consts::ARCH.to_owned(), "unknown".to_owned()),
        };
        Machine {
            processor,
            cores: cores(),
            kernel,
            load: load.split(' ').next().unwrap_or_default().to_string(),
            date: utc(SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |d| d.as_secs())),
            commit: tree.and_then(commit),
        }
    }

    pub fn line(&self) -> String {
        let commit = self
            .commit
            .as_ref()
            .map_or(String::new(), |c| format!(", commit {c}"));
        format!(
            "{}, {} cores, Linux {}, load {}, {}{commit}",
            self.processor, self.cores, self.kernel, self.load, self.date
        )
    }

    pub fn json(&self) -> Value {
        json!({
            "processor": self.processor, "cores": self.cores, "kernel": self.kernel, "load": self.load,
            "date": self.date, "commit": self.commit,
        })
    }
}

/// Processors that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The processors' time since the machine was started, in ticks of the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorTime {
    all: u64,
    /// What the hypervisor gave to other machines while this one wanted to run.
    stolen: u64,
}

impl ProcessorTime {
    pub fn now() -> Option<ProcessorTime> {
        ProcessorTime::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal; what follows is in the first two.
    fn parse(stat: &str) -> Option<ProcessorTime> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks = line.split_whitespace().take(8).map(str::parse);
        let ticks: Vec<u64> = ticks.collect::<Result<_, _>>().ok()?;
        Some(ProcessorTime {
            all: ticks.iter().sum(),
            stolen: *ticks.get(7)?,
        })
    }

    /// Per cent of all time from `earlier` on that was stolen.
    pub fn stolen_since(self, earlier: ProcessorTime) -> f64 {
        let all = self.all.saturating_sub(earlier.all);
        let stolen = self.stolen.saturating_sub(earlier.stolen);
        100.0 * stolen as f64 / all.max(1) as f64
    }
}

fn git(tree: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(tree)
        .args(arguments)
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

fn commit(tree: &Path) -> Option<String> {
    let hash = git(tree, &["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(tree, &["status", "--porcelain", "--untracked-files=no"])
        .is_some_and(|s| !s.is_empty());
    Some(if changed { hash + "+" } else { hash })
}

/// Seconds since 1970 as `2026-03-01T12:00:00Z`, by the proleptic Gregorian calendar with years from March, so that
/// the leap day is a year's last.
fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86400 + 719_468, seconds % 86400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year_of_era = (day - day / 1460 + day / 36524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{:02}T{:02}:{:02}:{:02}Z",
        day_of_year - (153 * shifted + 2) / 5 + 1,
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_around_leap_days() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(utc(1_709_251_200), "2024-03-01T00:00:00Z");
        assert_eq!(utc(4_107_542_400), "2100-03-01T00:00:00Z");
    }

    #[test]
    fn stolen_time_is_a_part_of_all() {
        let time = |text| ProcessorTime::parse(text);
        let earlier = time("cpu  10 0 10 60 0 0 0 20 5 0\ncpu0 1 2 3\n").unwrap();
        let later = time("cpu  20 0 20 120 0 0 0 40 5 0\n").unwrap();
        assert!((later.stolen_since(earlier) - 20.0).abs() < 1e-9);
        assert!(later.stolen_since(later).abs() < 1e-9);
        assert_eq!(time("cpu  1 2 3\n"), None);
        assert_eq!(time("cpu  1 2 3 x 5 6 7 8\n"), None);
        assert_eq!(time(""), None);
    }
}
