//! What ranks on other hosts have printed, on its way into mpiexec's own output or into files.

use crate::agent::WINDOW_BYTES;
use crate::supervise::{Own, Sink};
use crate::sys::Epoll;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;

/// So much is written before a host is told that it may send more.
const CREDIT_BYTES: u32 = WINDOW_BYTES / 4;

pub struct Output {
    sinks: [Sink; 2],
    /// Where ranks' output goes into files.
    files: Option<Files>,
    /// What each host has sent that it has not been given credit for.
    taken_bytes: Vec<u32>,
    /// Hosts that are given credit once a sink is empty, and for how much.
    owed: [Vec<(u32, u32)>; 2],
}

/// By rank, and whether of its standard error.
struct Files {
    directory: PathBuf,
    open: HashMap<(u32, bool), File>,
}

impl Output {
    pub fn new(hosts: usize, own: &Own) -> Result<Output, String> {
        if let Some(directory) = own.output_directory {
            std::fs::create_dir_all(directory)
                .map_err(|error| format!("--output-dir {}: {error}", directory.display()))?;
        }
        Ok(Output {
            sinks: [
                Sink::new(io::stdout().as_fd().try_clone_to_owned(), 0)?,
                Sink::new(io::stderr().as_fd().try_clone_to_owned(), 1)?,
            ],
            files: own.output_directory.map(|directory| Files {
                directory: directory.to_owned(),
                open: HashMap::new(),
            }),
            taken_bytes: vec![0; hosts],
            owed: [Vec::new(), Vec::new()],
        })
    }

    /// Creates the files of all ranks: there is one for each, whether it prints or not.
    pub fn create_files(&mut self, ranks: u32) -> Result<(), String> {
        let Some(Files { directory, open }) = &mut self.files else {
            return Ok(());
        };
        for (rank, error) in (0..ranks).flat_map(|rank| [(rank, false), (rank, true)]) {
            let kind = if error { "err" } else { "out" };
            let path = directory.join(format!("rank.{rank}.{kind}"));
            let file =
                File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            open.insert((rank, error), file);
        }
        Ok(())
    }

    /// Takes what a rank has printed. Answers how much credit its host is to have now.
    pub fn take(
        &mut self,
        host: u32,
        rank: u32,
        error: bool,
        bytes: &[u8],
        epoll: &Epoll,
    ) -> io::Result<u32> {
        if let Some(files) = &mut self.files {
            if let Some(file) = files.open.get_mut(&(rank, error)) {
                file.write_all(bytes)?;
            }
            return Ok(self.give_credit(host, bytes.len() as u32));
        }
        let index = usize::from(error);
        let sink = &mut self.sinks[index];
        sink.queue().extend_from_slice(bytes);
        sink.wait_to_write(epoll)?;
        if sink.is_full() && !sink.is_refused() {
            self.owed[index].push((host, bytes.len() as u32));
            return Ok(0);
        }
        Ok(self.give_credit(host, bytes.len() as u32))
    }

    /// A sink has room. Answers which hosts are to have how much credit.
    pub fn write(&mut self, index: u32, epoll: &Epoll) -> io::Result<Vec<(u32, u32)>> {
        if !self.sinks[index as usize].write(epoll)? {
            return Ok(Vec::new());
        }
        let owed = std::mem::take(&mut self.owed[index as usize]);
        let credits = owed
            .into_iter()
            .map(|(host, bytes)| (host, self.give_credit(host, bytes)));
        Ok(credits.filter(|(_, credit)| *credit > 0).collect())
    }

    fn give_credit(&mut self, host: u32, bytes: u32) -> u32 {
        let taken = &mut self.taken_bytes[host as usize];
        *taken = taken.saturating_add(bytes);
        match *taken >= CREDIT_BYTES {
            true => std::mem::take(taken),
            false => 0,
        }
    }

    pub fn is_finished(&self) -> bool {
        self.is_refused() || self.sinks.iter().all(Sink::is_empty)
    }

    /// Nobody reads mpiexec's output any more.
    pub fn is_refused(&self) -> bool {
        self.sinks.iter().any(Sink::is_refused)
    }
}
