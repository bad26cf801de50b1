//! The line on the terminal that says where a run is, and names of files.

use std::io::{IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub fn named(file: &Path, benchmark: &str) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{stem}-{benchmark}.svg"))
}

/// Where the run is, on standard error: over itself on a terminal, now and then elsewhere, not at all beside JSON.
pub struct Progress {
    pub terminal: bool,
    pub quiet: bool,
    pub last: Option<Instant>,
}

impl Progress {
    pub fn new(json: bool) -> Progress {
        let terminal = stderr().is_terminal();
        Progress {
            terminal,
            quiet: json && !terminal,
            last: None,
        }
    }

    pub fn show(&mut self, text: &str) {
        if self.terminal {
            eprint!("\r\x1b[2K{text}");
            let _ = stderr().flush();
        } else if !self.quiet && self.last.is_none_or(|t| t.elapsed() > PROGRESS_INTERVAL) {
            eprintln!("{text}");
            self.last = Some(Instant::now());
        }
    }

    pub fn clear(&self) {
        if self.terminal {
            eprint!("\r\x1b[2K");
        }
    }
}

const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);
