//! What ranks on other hosts have printed, on its way into mpiexec's own output or into files.

use weft_kernel::Poller;

use crate::agent::WINDOW_BYTES;
use crate::supervise::{Outlet, Own, Refusal};

use std::io;
use std::time::{Duration, Instant};

/// So much is written before a host is told that it may send more.
const CREDIT_BYTES: u32 = WINDOW_BYTES / 4;

pub struct Output {
    outlet: Outlet,
    /// What each host has sent that it has not been given credit for.
    taken_bytes: Vec<u32>,
    /// Hosts that are given credit once mpiexec's output or its error is empty, and for how much.
    owed: [Vec<(u32, u32)>; 2],
}

impl Output {
    /// For so many ranks on so many hosts.
    pub fn new(hosts: usize, ranks: u32, own: &Own) -> Result<Output, String> {
        let mut outlet = Outlet::new(own)?;
        (0..ranks)
            .try_for_each(|rank| outlet.create(rank))
            .map_err(|error| error.to_string())?;
        Ok(Output {
            outlet,
            taken_bytes: vec![0; hosts],
            owed: [Vec::new(), Vec::new()],
        })
    }

    /// Takes what a rank has printed. Answers how much credit its host is to have now.
    pub fn take(
        &mut self,
        host: u32,
        rank: u32,
        error: bool,
        bytes: &[u8],
        epoll: &Poller,
    ) -> io::Result<u32> {
        self.outlet.put(rank, error, bytes, epoll)?;
        if self.outlet.is_full(error) {
            self.owed[usize::from(error)].push((host, bytes.len() as u32));
            return Ok(0);
        }
        Ok(self.give_credit(host, bytes.len() as u32))
    }

    /// mpiexec's output or error has room. Answers which hosts are to have how much credit.
    pub fn write(&mut self, index: u32, epoll: &Poller) -> io::Result<Vec<(u32, u32)>> {
        if !self.outlet.write(index, epoll)? {
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
        self.outlet.is_finished()
    }

    /// Until when whoever reads has time to take some of what is there.
    pub fn reader_until(&self, patience: Duration) -> Option<Instant> {
        self.outlet.reader_until(patience)
    }

    /// All ranks have printed what they had to.
    pub fn close(&mut self) {
        self.outlet.close();
    }

    /// mpiexec's own output, or a rank's file, cannot be written any more.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.outlet.refusal()
    }
}
