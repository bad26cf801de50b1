//! One end: memory of its own, a receive queue, and a record of everything that ended.

use std::collections::VecDeque;
use std::ops::Range;

use crate::host::*;

/// Addresses below this are for local use; the peer may not reach them.
pub const SHARED: u64 = 1 << 20;
pub const MEMORY: u64 = 2 << 20;
/// The key of everything.
pub const KEY: u32 = 0x1234_5600;

#[derive(Debug)]
pub struct Side {
    pub memory: Vec<u8>,
    pub receives: VecDeque<(u64, Vec<Sge>)>,
    /// Receive requests that were taken, until they end.
    taken: Vec<(u64, Vec<Sge>)>,
    pub sends_done: Vec<SendDone>,
    pub receives_done: Vec<(u64, ReceiveDone)>,
    pub faults: Vec<Fault>,
    pub invalidated: Vec<u32>,
    /// What the peer may reach.
    pub shared: Range<u64>,
    /// The shared receive queue of the last receive request taken.
    pub srq: Option<u32>,
    /// One that is not there.
    pub missing: Option<u32>,
    pub reads: usize,
}

impl Side {
    pub fn new(fill: u8) -> Side {
        Side {
            memory: vec![fill; MEMORY as usize],
            receives: VecDeque::new(),
            taken: Vec::new(),
            sends_done: Vec::new(),
            receives_done: Vec::new(),
            faults: Vec::new(),
            invalidated: Vec::new(),
            shared: SHARED..MEMORY,
            srq: None,
            missing: None,
            reads: 0,
        }
    }

    pub fn post_receive(&mut self, token: u64, address: u64, length: u32) {
        self.receives.push_back((
            token,
            vec![Sge {
                address,
                length,
                lkey: KEY,
            }],
        ));
    }

    pub fn bytes(&self, address: u64, length: usize) -> &[u8] {
        &self.memory[address as usize..][..length]
    }

    fn reach(&self, region: &Region) -> Result<Range<usize>, RemoteError> {
        let end = region.address.checked_add(region.length);
        let inside = end.is_some_and(|end| end <= self.shared.end);
        if region.rkey == KEY && inside && region.address >= self.shared.start {
            let start = region.address as usize;
            Ok(start..start + region.length as usize)
        } else {
            Err(RemoteError::Access)
        }
    }

    /// Where the bytes from `offset` on lie, `length` of them, piece by piece.
    fn pieces(
        list: &[Sge],
        mut offset: u64,
        mut length: u64,
    ) -> Result<Vec<Range<usize>>, LocalError> {
        let mut pieces = Vec::new();
        for sge in list {
            let skipped = offset.min(u64::from(sge.length));
            offset -= skipped;
            let bytes = length.min(u64::from(sge.length) - skipped);
            length -= bytes;
            let start = sge.address + skipped;
            if bytes > 0 && (sge.lkey != KEY || start + bytes > MEMORY) {
                return Err(LocalError::Protection);
            }
            pieces.push(start as usize..(start + bytes) as usize);
        }
        assert_eq!(length, 0, "inside the list");
        Ok(pieces)
    }

    fn taken(&self, token: u64) -> Vec<Sge> {
        let found = self.taken.iter().find(|(taken, _)| *taken == token);
        found.expect("a receive request that was taken").1.clone()
    }
}

impl Host for Side {
    fn gather(&mut self, list: &[Sge], offset: u64, out: &mut [u8]) -> Result<(), LocalError> {
        let mut rest = out;
        for piece in Side::pieces(list, offset, rest.len() as u64)? {
            let (part, behind) = rest.split_at_mut(piece.len());
            part.copy_from_slice(&self.memory[piece]);
            rest = behind;
        }
        Ok(())
    }

    fn scatter(&mut self, list: &[Sge], offset: u64, data: &[u8]) -> Result<(), LocalError> {
        let mut rest = data;
        for piece in Side::pieces(list, offset, rest.len() as u64)? {
            let (part, behind) = rest.split_at(piece.len());
            self.memory[piece].copy_from_slice(part);
            rest = behind;
        }
        Ok(())
    }

    fn send_done(&mut self, done: SendDone) {
        self.sends_done.push(done);
    }

    fn check(&mut self, region: &Region, _access: Access) -> Result<(), RemoteError> {
        self.reach(region).map(drop)
    }

    fn check_queue(&mut self, srq: u32) -> Result<(), RemoteError> {
        match self.missing == Some(srq) {
            true => Err(RemoteError::Request),
            false => Ok(()),
        }
    }

    fn read(&mut self, region: &Region, out: &mut [u8]) -> Result<(), RemoteError> {
        self.reads += 1;
        let range = self.reach(region)?;
        out.copy_from_slice(&self.memory[range]);
        Ok(())
    }

    fn write(&mut self, region: &Region, data: &[u8]) -> Result<(), RemoteError> {
        let range = self.reach(region)?;
        self.memory[range].copy_from_slice(data);
        Ok(())
    }

    fn atomic(&mut self, region: &Region, atomic: Atomic) -> Result<u64, RemoteError> {
        let range = self.reach(region)?;
        let word: &mut [u8; 8] = (&mut self.memory[range]).try_into().expect("8 bytes");
        let original = u64::from_ne_bytes(*word);
        let new = match atomic {
            Atomic::CompareSwap { compare, swap } if original == compare => swap,
            Atomic::CompareSwap { .. } => original,
            Atomic::FetchAdd { add } => original.wrapping_add(add),
        };
        *word = new.to_ne_bytes();
        Ok(original)
    }

    fn invalidate(&mut self, _srq: Option<u32>, rkey: u32) -> Result<(), RemoteError> {
        self.invalidated.push(rkey);
        if rkey == 0 {
            return Err(RemoteError::Access);
        }
        Ok(())
    }

    fn take_receive(&mut self, srq: Option<u32>) -> Result<Option<Receive>, RemoteError> {
        self.srq = srq;
        let Some((token, list)) = self.receives.pop_front() else {
            return Ok(None);
        };
        let capacity = list.iter().map(|sge| u64::from(sge.length)).sum();
        self.taken.push((token, list));
        Ok(Some(Receive { token, capacity }))
    }

    fn fill_receive(
        &mut self,
        receive: &Receive,
        offset: u64,
        data: &[u8],
    ) -> Result<(), LocalError> {
        let list = self.taken(receive.token);
        self.scatter(&list, offset, data)
    }

    fn receive_done(&mut self, receive: Receive, done: ReceiveDone) {
        self.taken.retain(|(token, _)| *token != receive.token);
        self.receives_done.push((receive.token, done));
    }

    fn fail(&mut self, fault: Fault) {
        self.faults.push(fault);
    }
}
