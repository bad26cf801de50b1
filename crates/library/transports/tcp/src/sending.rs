//! Bulk transfers to one peer.
//!
//! A transfer's first bytes, its *prefix*, are sent unasked; the rest once the receiver has taken it up and says how much it wants.
//! 1. What was sent unasked and is not known to be taken up has a bound (`UNASKED_BYTES`): a CTS says that the prefix of its transfer
//!    is, and of transfers that are all prefix the receiver gives credit, now and then for several.
//! 2. A prefix is queued right behind the next packet, which is the transfer's RTS, so that the receiver knows where it belongs when it
//!    comes. A short transfer travels on the lane's own connection, written by one system call with the RTS; a long one on the other,
//!    and while its first bytes are still being written there, its receiver reads them already.
//! 3. Where there are connections by several interfaces, what is left of a long transfer goes over all of them (`stripes`).
//! 4. A transfer that is taken back keeps its credit out until the receiver has dropped the prefix.
//!
//! So what is unasked is, at all times, the prefixes that wait for their RTS, those that wait for a CTS, and what a credit may come for
//! (`owed`): whole prefixes that have left, and those of transfers that were taken back. A receiver that tells of any of it twice breaks
//! the rules.

use std::collections::{BTreeMap, VecDeque};
use std::io::IoSlice;

use weft_transport::{BulkDescriptor, Cookie};

use crate::frame::{DATA_BYTES, FrameKind, Malformed};
use crate::outgoing::{Outgoing, Sources};
use crate::stripes::{Part, Stripes};
use crate::user_memory::Source;

/// Bytes that may be on their way to a peer, on one lane, without having been asked for.
pub const UNASKED_BYTES: usize = 4 << 20;
/// The longest transfer that goes on the lane's own connection: others wait behind it.
pub const SHORT_BYTES: usize = 128 << 10;
/// A transfer up to this is sent unasked as a whole.
const WHOLE_BYTES: usize = 1 << 20;
/// The most that is sent unasked of a longer one: its receiver has asked for the rest by the time that this is written.
const PREFIX_BYTES: usize = 256 << 10;
/// Less than this is not worth a prefix.
const LEAST_PREFIX_BYTES: usize = 16 << 10;
/// Less than this is not worth stripes.
const LEAST_STRIPED_BYTES: usize = 512 << 10;
/// Whole transfers that were written and may not be taken up yet are at least so long.
const REMEMBERED: usize = UNASKED_BYTES / LEAST_PREFIX_BYTES * 2;

/// Which connection a transfer goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Lane,
    Bulk,
}

struct Transfer {
    source: Source,
    cookie: Cookie,
    way: Stream,
    prefix: usize,
    written: usize,
    /// How much is sent in all, once that is known.
    end: Option<usize>,
}

/// A transfer that is written, all prefix.
struct Remembered {
    id: u64,
    cookie: Cookie,
    prefix: usize,
}

/// One peer's, on one lane.
#[derive(Default)]
pub struct Sending {
    last: u64,
    transfers: BTreeMap<u64, Transfer>,
    /// Bytes on the way unasked (rule 1).
    unasked: usize,
    /// Of these, those that a credit may come for.
    owed: usize,
    /// Transfers that wait for their RTS (rule 2).
    behind: Vec<u64>,
    remembered: VecDeque<Remembered>,
    /// Transfers that are over, to be told.
    done: Vec<Cookie>,
    pub stripes: Stripes,
}

impl Sending {
    pub fn is_empty(&self) -> bool {
        self.transfers.is_empty()
    }

    pub fn count(&self) -> usize {
        self.transfers.len()
    }

    #[cfg(test)]
    pub fn unasked_bytes(&self) -> usize {
        self.unasked
    }

    pub fn has_done(&self) -> bool {
        !self.done.is_empty()
    }

    pub fn take_done(&mut self) -> impl Iterator<Item = Cookie> {
        self.done.drain(..)
    }

    /// Opens a transfer.
    pub fn open(&mut self, source: Source, cookie: Cookie) -> BulkDescriptor {
        self.last += 1;
        let (id, bytes) = (self.last, source.bytes());
        let way = if bytes <= SHORT_BYTES {
            Stream::Lane
        } else {
            Stream::Bulk
        };
        let prefix = self.prefix(way, bytes);
        self.unasked += prefix;
        let end = (prefix == bytes).then_some(bytes);
        let transfer = Transfer {
            source,
            cookie,
            way,
            prefix,
            written: 0,
            end,
        };
        self.transfers.insert(id, transfer);
        if prefix == 0 {
            self.end_if_written(id);
        } else {
            self.behind.push(id);
        }
        BulkDescriptor([id, bytes as u64, prefix as u64, way as u64])
    }

    fn prefix(&self, way: Stream, bytes: usize) -> usize {
        let room = UNASKED_BYTES - self.unasked;
        match way {
            Stream::Lane if bytes <= room => bytes,
            Stream::Bulk if bytes <= room.min(WHOLE_BYTES) => bytes,
            Stream::Bulk if room >= LEAST_PREFIX_BYTES => room.min(PREFIX_BYTES).min(bytes),
            _ => 0,
        }
    }

    /// Whether data are to follow the next packet.
    #[inline]
    pub fn has_behind(&self) -> bool {
        !self.behind.is_empty()
    }

    /// Queues the data that follow a packet which was just queued. Whether there are some for the connection of long transfers.
    pub fn push_behind(&mut self, lane: &mut Outgoing, bulk: &mut Outgoing) -> bool {
        let mut has_bulk = false;
        for id in self.behind.drain(..) {
            let transfer = &self.transfers[&id];
            has_bulk |= transfer.way == Stream::Bulk;
            if transfer.end.is_some() {
                self.owed += transfer.prefix;
            }
            let out = match transfer.way {
                Stream::Lane => &mut *lane,
                Stream::Bulk => &mut *bulk,
            };
            out.push_data(FrameKind::Data, id, 0, transfer.prefix);
        }
        has_bulk
    }

    /// The receiver has taken a transfer up and wants so much of it: the rest is queued on the connection that is returned, or is to go
    /// in stripes where there are several.
    pub fn clear_to_send(
        &mut self,
        id: u64,
        wanted: u64,
        has_stripes: bool,
        lane: &mut Outgoing,
        bulk: &mut Outgoing,
    ) -> Result<Stream, Malformed> {
        let is_told = !self.behind.contains(&id);
        let transfer = self.transfers.get_mut(&id);
        let transfer = transfer.filter(|transfer| transfer.end.is_none() && is_told);
        let transfer = transfer.ok_or(Malformed("a CTS for no transfer"))?;
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        if wanted > transfer.source.bytes() {
            return Err(Malformed("a CTS for more than there is"));
        }
        let (way, mut begin, end) = (transfer.way, transfer.prefix, wanted.max(transfer.prefix));
        self.unasked -= transfer.prefix;
        transfer.end = Some(end);
        if has_stripes && way == Stream::Bulk && end - begin >= LEAST_STRIPED_BYTES {
            let transfer = id;
            self.stripes.add(Part {
                transfer,
                begin,
                end,
            });
            return Ok(way);
        }
        let out = match way {
            Stream::Lane => lane,
            Stream::Bulk => bulk,
        };
        while begin < end {
            let next = end.min(begin + DATA_BYTES);
            out.push_data(FrameKind::Data, id, begin, next);
            begin = next;
        }
        self.end_if_written(id);
        Ok(way)
    }

    /// The receiver has all of a transfer that went in stripes. What is queued of it still is copied by the caller
    /// ([`Outgoing::keep_copy`]), before it is over.
    pub fn whole(&mut self, id: u64) -> Result<(), Malformed> {
        if !self.stripes.end(id) {
            return Err(Malformed("news of a transfer that did not go in stripes"));
        }
        let transfer = self.transfers.remove(&id).expect("as long as its stripes");
        self.done.push(transfer.cookie);
        Ok(())
    }

    pub fn credit(&mut self, bytes: u64) -> Result<(), Malformed> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let left = self.owed.checked_sub(bytes);
        self.owed = left.ok_or(Malformed("credit for more than was sent"))?;
        self.unasked -= bytes;
        Ok(())
    }

    /// Takes a transfer back, of which nothing is told any more; `outs` are the connections on which something of it may be queued. What
    /// has left of it is to be dropped by the receiver: its number, and how long it is.
    pub fn cancel<'a>(
        &mut self,
        cookie: Cookie,
        outs: impl Iterator<Item = &'a mut Outgoing>,
    ) -> Option<(u64, usize)> {
        self.done.retain(|&done| done != cookie);
        let found = self
            .transfers
            .iter()
            .find(|(_, transfer)| transfer.cookie == cookie);
        let Some((&id, transfer)) = found else {
            let index = self
                .remembered
                .iter()
                .position(|one| one.cookie == cookie)?;
            let one = self.remembered.remove(index)?;
            return Some((one.id, one.prefix));
        };
        let (prefix, is_asked) = (transfer.prefix, transfer.end.is_some());
        outs.for_each(|out| out.keep_copy(id, self));
        self.transfers.remove(&id);
        // Only a receiver that lies has taken it up before.
        self.stripes.end(id);
        let waiting = self.behind.len();
        self.behind.retain(|&behind| behind != id);
        if self.behind.len() != waiting {
            self.unasked -= prefix;
            return None;
        }
        if !is_asked {
            self.owed += prefix;
        }
        (prefix != 0).then_some((id, prefix))
    }

    fn end_if_written(&mut self, id: u64) {
        let transfer = &self.transfers[&id];
        if transfer.end != Some(transfer.written) || self.stripes.has(id) {
            return;
        }
        let transfer = self.transfers.remove(&id).expect("just seen");
        self.done.push(transfer.cookie);
        if transfer.prefix == transfer.written {
            let (cookie, prefix) = (transfer.cookie, transfer.prefix);
            self.remembered.push_back(Remembered { id, cookie, prefix });
            if self.remembered.len() > REMEMBERED {
                self.remembered.pop_front();
            }
        }
    }
}

impl Sources for Sending {
    fn stretch(&self, id: u64, at: usize, end: usize) -> Option<&[u8]> {
        self.transfers[&id].source.stretch(at, end)
    }

    fn has_long_runs(&self, id: u64) -> bool {
        self.transfers[&id].source.has_long_runs()
    }

    fn runs<'a>(&'a self, id: u64, at: usize, end: usize, slices: &mut Vec<IoSlice<'a>>) {
        self.transfers[&id].source.runs(at, end, slices);
    }

    fn pack(&self, id: u64, at: usize, out: &mut [u8]) {
        self.transfers[&id].source.pack(at, out);
    }

    fn copy(&self, id: u64, at: usize, end: usize) -> Vec<u8> {
        self.transfers[&id].source.copy(at, end)
    }

    fn written(&mut self, id: u64, bytes: usize) {
        let transfer = self.transfers.get_mut(&id).expect("what is queued is open");
        transfer.written += bytes;
        self.end_if_written(id);
    }
}
