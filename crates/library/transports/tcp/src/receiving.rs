//! Bulk transfers from one peer. What a peer says of them is checked against what it may.

use std::collections::BTreeMap;
use std::io;

use socket2::Socket;
use weft_transport::{BulkDescriptor, Cookie};

use crate::frame::{Head, Malformed};
use crate::sending::{Stream, UNASKED_BYTES};
use crate::taken::Taken;
use crate::user_memory::Target;

/// Credit is given once it amounts to this.
const CREDIT_BYTES: usize = UNASKED_BYTES / 2;
/// Transfers at once of which something has come, or is to be dropped, and that are not taken up.
const MOST_EARLY: usize = 1024;
/// Pieces into which a transfer comes apart for a time: some stripes of each connection, and holes where one has failed.
const MOST_PIECES: usize = 1024;

enum Transfer {
    /// What has come was not asked for.
    Early(Vec<u8>),
    Taken(Taken),
    /// The sender has taken it back: so much is still to come, and is dropped.
    Dropped {
        left: usize,
    },
}

/// One peer's, on one lane.
#[derive(Default)]
pub struct Receiving {
    transfers: BTreeMap<u64, Transfer>,
    /// Bytes that were not asked for and are kept.
    early_bytes: usize,
    /// Transfers that are not taken up.
    early: usize,
    /// Transfers that are taken up and come on the connection for bulk data.
    taken_bulk: usize,
    taken: usize,
    /// Credit that is to be given.
    owed: usize,
    done: Vec<Cookie>,
    /// The newest transfer that has come in stripes. After a connection has failed, stripes of it and of older ones may come again.
    last_whole: u64,
    /// Those of which the sender is to be told.
    wholes: Vec<u64>,
    /// Bytes that were copied into the user's memory.
    copied: usize,
}

/// What is to be said to the sender of a transfer that was taken up.
pub struct ClearToSend {
    pub id: u64,
    pub wanted: usize,
}

impl Receiving {
    /// Whether nothing is taken up.
    pub fn is_idle(&self) -> bool {
        self.taken == 0
    }

    pub fn count(&self) -> usize {
        self.taken
    }

    /// Bytes that were not asked for and are kept.
    #[cfg(any(test, fuzzing))]
    pub fn early_bytes(&self) -> usize {
        self.early_bytes
    }

    /// Whether data that nobody asked for stand in the way of others on the connection for bulk data.
    pub fn awaits_bulk(&self) -> bool {
        self.taken_bulk != 0
    }

    pub fn has_done(&self) -> bool {
        !self.done.is_empty()
    }

    pub fn take_done(&mut self) -> impl Iterator<Item = Cookie> {
        self.done.drain(..)
    }

    /// Transfers that have come in stripes, of which the sender is to be told.
    pub fn take_wholes(&mut self) -> impl Iterator<Item = u64> {
        self.wholes.drain(..)
    }

    pub fn has_wholes(&self) -> bool {
        !self.wholes.is_empty()
    }

    /// Bytes that were copied into the user's memory since this was last asked.
    pub fn take_copied(&mut self) -> usize {
        std::mem::take(&mut self.copied)
    }

    /// Credit to be given now.
    pub fn take_credit(&mut self) -> Option<usize> {
        (self.owed >= CREDIT_BYTES).then(|| std::mem::take(&mut self.owed))
    }

    /// Takes up the transfer of a descriptor, which may be anything, that is `bytes` long in all.
    pub fn take_up(
        &mut self,
        descriptor: BulkDescriptor,
        bytes: usize,
        mut target: Target,
        cookie: Cookie,
    ) -> Result<(Stream, Option<ClearToSend>), Malformed> {
        let [id, total, prefix, way] = descriptor.0;
        let way = match way {
            0 => Stream::Lane,
            1 => Stream::Bulk,
            _ => return Err(Malformed("a descriptor of a form that is none")),
        };
        if total != bytes as u64 || prefix > total || prefix > UNASKED_BYTES as u64 {
            return Err(Malformed("a descriptor that contradicts its message"));
        }
        let (wanted, prefix) = (target.bytes(), prefix as usize);
        let asks = prefix < bytes;
        let expected = if asks { prefix.max(wanted) } else { prefix };
        let came = match self.transfers.remove(&id) {
            None => 0,
            Some(Transfer::Early(early)) => {
                self.early_bytes -= early.len();
                self.early -= 1;
                target.write(0, &early);
                self.copied += early.len();
                early.len()
            }
            Some(other) => {
                self.transfers.insert(id, other);
                return Err(Malformed("a descriptor of a transfer that is under way"));
            }
        };
        if came > expected {
            return Err(Malformed("more of a transfer than it announced"));
        }
        if !asks {
            self.owed += prefix;
        }
        let taken = Taken {
            target,
            cookie,
            way,
            expected,
            came,
            prefix,
            stripes: None,
        };
        self.taken += 1;
        self.taken_bulk += usize::from(way == Stream::Bulk);
        self.transfers.insert(id, Transfer::Taken(taken));
        self.end_if_complete(id);
        Ok((way, asks.then_some(ClearToSend { id, wanted })))
    }

    /// Data are about to come.
    pub fn announce(&mut self, head: &Head, way: Stream) -> Result<(), Malformed> {
        let [id, begin] = head.words;
        let (known, room) = match self.transfers.get(&id) {
            Some(Transfer::Taken(taken)) if taken.way != way => {
                return Err(Malformed("data on a connection where they do not belong"));
            }
            Some(Transfer::Taken(taken)) => {
                let room = taken.end_in_order().saturating_sub(taken.came);
                (Some(taken.came), room)
            }
            Some(Transfer::Dropped { left }) => (None, *left),
            Some(Transfer::Early(early)) => (Some(early.len()), UNASKED_BYTES - self.early_bytes),
            None if self.early >= MOST_EARLY => (Some(0), 0),
            None => (Some(0), UNASKED_BYTES - self.early_bytes),
        };
        if head.bytes == 0 || head.bytes > room {
            return Err(Malformed("more data than it may send"));
        }
        if known.is_some_and(|known| known as u64 != begin) {
            return Err(Malformed("data that are out of order"));
        }
        Ok(())
    }

    /// A stripe is about to come.
    pub fn announce_stripe(&mut self, head: &Head) -> Result<(), Malformed> {
        const NONE: Malformed = Malformed("a stripe of no transfer");
        let [id, begin] = head.words;
        let begin = usize::try_from(begin).map_err(|_| NONE)?;
        let end = begin.checked_add(head.bytes).ok_or(NONE)?;
        match self.transfers.get_mut(&id) {
            Some(Transfer::Taken(taken)) => {
                let is_late = taken.stripes.is_none() && taken.came > taken.prefix;
                let is_within = taken.prefix <= begin && begin < end && end <= taken.expected;
                if taken.way != Stream::Bulk || is_late || !is_within {
                    return Err(NONE);
                }
                let stripes = taken.stripes.get_or_insert_default();
                if stripes.pieces() > MOST_PIECES {
                    return Err(Malformed("a transfer in too many pieces"));
                }
                Ok(())
            }
            None if id <= self.last_whole => Ok(()),
            _ => Err(NONE),
        }
    }

    /// Whether what comes of a transfer has its place.
    #[inline]
    pub fn is_placed(&self, id: u64) -> bool {
        matches!(
            self.transfers.get(&id),
            Some(Transfer::Taken(_) | Transfer::Dropped { .. })
        )
    }

    /// Reads the next bytes of a transfer, at most `most`, from a socket to where they belong, if they can be: how many came, and how
    /// many it had asked for. Those of a stripe belong at `at`.
    pub fn read(
        &mut self,
        id: u64,
        at: Option<usize>,
        most: usize,
        socket: &Socket,
    ) -> Option<io::Result<(usize, usize)>> {
        let Some(Transfer::Taken(taken)) = self.transfers.get_mut(&id) else {
            return None;
        };
        let begin = at.unwrap_or(taken.came);
        let end = taken.target.bytes().min(begin + most);
        if begin >= end || !taken.target.has_places() {
            return None;
        }
        Some(taken.target.read(begin, end, socket))
    }

    /// So many bytes have been read into their place.
    pub fn placed(&mut self, id: u64, at: Option<usize>, bytes: usize) {
        if let Some(Transfer::Taken(taken)) = self.transfers.get_mut(&id) {
            taken.take(at, bytes);
            self.end_if_complete(id);
        }
    }

    /// Takes the next bytes of a stripe that were read elsewhere. Of a transfer that is complete they are dropped.
    pub fn put_stripe(&mut self, id: u64, at: usize, bytes: &[u8]) {
        if let Some(Transfer::Taken(taken)) = self.transfers.get_mut(&id) {
            taken.target.write(at, bytes);
            self.copied += bytes.len();
            taken.take(Some(at), bytes.len());
            self.end_if_complete(id);
        }
    }

    /// Takes the next bytes of a transfer that were read elsewhere. They were announced, but what the peer has said of the transfer
    /// since may be something else.
    pub fn put(&mut self, id: u64, bytes: &[u8]) -> Result<(), Malformed> {
        const TOO_MUCH: Malformed = Malformed("more of a transfer than it announced");
        let transfer = self.transfers.entry(id).or_insert_with(|| {
            self.early += 1;
            Transfer::Early(Vec::new())
        });
        match transfer {
            Transfer::Early(early) => {
                if bytes.len() > UNASKED_BYTES - self.early_bytes {
                    return Err(TOO_MUCH);
                }
                early.extend_from_slice(bytes);
                self.early_bytes += bytes.len();
            }
            Transfer::Taken(taken) => {
                if bytes.len() > taken.end_in_order().saturating_sub(taken.came) {
                    return Err(TOO_MUCH);
                }
                taken.target.write(taken.came, bytes);
                self.copied += bytes.len();
                taken.came += bytes.len();
                self.end_if_complete(id);
            }
            Transfer::Dropped { left } => {
                *left = left.checked_sub(bytes.len()).ok_or(TOO_MUCH)?;
                if *left == 0 {
                    self.transfers.remove(&id);
                    self.early -= 1;
                }
            }
        }
        Ok(())
    }

    fn end_if_complete(&mut self, id: u64) {
        let Some(Transfer::Taken(taken)) = self.transfers.get(&id) else {
            return;
        };
        if taken.is_complete() {
            self.done.push(taken.cookie);
            if taken.stripes.is_some() {
                self.last_whole = self.last_whole.max(id);
                self.wholes.push(id);
            }
            self.taken -= 1;
            self.taken_bulk -= usize::from(taken.way == Stream::Bulk);
            self.transfers.remove(&id);
        }
    }

    /// The sender takes a transfer back, of which so much comes in all.
    pub fn cancel(&mut self, id: u64, bytes: u64) -> Result<(), Malformed> {
        if bytes > UNASKED_BYTES as u64 || self.early >= MOST_EARLY {
            return Err(Malformed("more transfers taken back than there are"));
        }
        let bytes = bytes as usize;
        let came = match self.transfers.remove(&id) {
            None => 0,
            Some(Transfer::Early(early)) => {
                self.early -= 1;
                self.early_bytes -= early.len();
                early.len()
            }
            Some(other) => {
                self.transfers.insert(id, other);
                return Err(Malformed("a transfer taken back that was taken up"));
            }
        };
        let left = bytes.checked_sub(came);
        let left = left.ok_or(Malformed("more of a transfer than it announced"))?;
        self.owed += bytes;
        if left != 0 {
            self.early += 1;
            self.transfers.insert(id, Transfer::Dropped { left });
        }
        Ok(())
    }
}
