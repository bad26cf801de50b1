//! What ranks on other hosts have printed, on its way into mpiexec's own output or into files.

use crate::agent::WINDOW_BYTES;
use crate::supervise::{Own, Refusal, Sink};
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
    refusal: Option<Refusal>,
}

impl Files {
    fn path(&self, rank: u32, error: bool) -> PathBuf {
        let kind = if error { "err" } else { "out" };
        self.directory.join(format!("rank.{rank}.{kind}"))
    }

    /// What comes after a failure is dropped: the job ends because of it.
    fn write(&mut self, rank: u32, error: bool, bytes: &[u8]) {
        let file = self.open.get_mut(&(rank, error));
        let written = file.map_or(Ok(()), |file| file.write_all(bytes));
        if let (Err(why), None) = (written, &self.refusal) {
            let path = self.path(rank, error);
            self.refusal = Some(Refusal::new(&path.display().to_string(), &why));
        }
    }
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
                refusal: None,
            }),
            taken_bytes: vec![0; hosts],
            owed: [Vec::new(), Vec::new()],
        })
    }

    /// Creates the files of all ranks: there is one for each, whether it prints or not.
    pub fn create_files(&mut self, ranks: u32) -> Result<(), String> {
        let Some(files) = &mut self.files else {
            return Ok(());
        };
        for (rank, error) in (0..ranks).flat_map(|rank| [(rank, false), (rank, true)]) {
            let path = files.path(rank, error);
            let file =
                File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            files.open.insert((rank, error), file);
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
            files.write(rank, error, bytes);
            return Ok(self.give_credit(host, bytes.len() as u32));
        }
        let index = usize::from(error);
        let sink = &mut self.sinks[index];
        sink.queue().extend_from_slice(bytes);
        sink.wait_to_write(epoll)?;
        if sink.is_full() && sink.refusal().is_none() {
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
        self.refusal().is_some() || self.sinks.iter().all(Sink::is_empty)
    }

    /// mpiexec's own output, or a rank's file, cannot be written any more.
    pub fn refusal(&self) -> Option<&Refusal> {
        let of_files = self.files.as_ref().and_then(|files| files.refusal.as_ref());
        of_files.or_else(|| self.sinks.iter().find_map(Sink::refusal))
    }
}
