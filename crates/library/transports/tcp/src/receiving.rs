//! Bulk transfers from one peer. What a peer says of them is checked against what it may.

use std::collections::BTreeMap;

use weft_transport::{BulkDescriptor, Cookie};

use crate::frame::{Head, Malformed};
use crate::sending::{UNASKED_BYTES, Way};
use crate::user_memory::Target;

/// Credit is given once it amounts to this.
const CREDIT_BYTES: usize = UNASKED_BYTES / 2;
/// Transfers at once of which something has come, or is to be dropped, and that are not taken up.
const MOST_EARLY: usize = 1024;

enum Transfer {
    /// What has come was not asked for.
    Early(Vec<u8>),
    Taken(Taken),
    /// The sender has taken it back: so much is still to come, and is dropped.
    Dropped {
        left: usize,
    },
}

struct Taken {
    target: Target,
    cookie: Cookie,
    way: Way,
    /// How much comes in all.
    expected: usize,
    came: usize,
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
    ) -> Result<(Way, Option<ClearToSend>), Malformed> {
        let [id, total, prefix, way] = descriptor.0;
        let way = match way {
            0 => Way::Lane,
            1 => Way::Bulk,
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
        };
        self.taken += 1;
        self.taken_bulk += usize::from(way == Way::Bulk);
        self.transfers.insert(id, Transfer::Taken(taken));
        self.end_if_complete(id);
        Ok((way, asks.then_some(ClearToSend { id, wanted })))
    }

    /// Data are about to come.
    pub fn announce(&mut self, head: &Head, way: Way) -> Result<(), Malformed> {
        let [id, begin] = head.words;
        let (known, room) = match self.transfers.get(&id) {
            Some(Transfer::Taken(taken)) if taken.way != way => {
                return Err(Malformed("data on a connection where they do not belong"));
            }
            Some(Transfer::Taken(taken)) => (Some(taken.came), taken.expected - taken.came),
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

    /// Whether what comes of a transfer has its place.
    #[inline]
    pub fn is_placed(&self, id: u64) -> bool {
        matches!(
            self.transfers.get(&id),
            Some(Transfer::Taken(_) | Transfer::Dropped { .. })
        )
    }

    /// Where to read the next bytes of a transfer, at most `most`, if that is one place in the user's memory.
    pub fn place(&mut self, id: u64, most: usize) -> Option<&mut [u8]> {
        let Some(Transfer::Taken(taken)) = self.transfers.get_mut(&id) else {
            return None;
        };
        let end = taken.target.bytes().min(taken.came + most);
        if taken.came >= end {
            return None;
        }
        taken.target.place(taken.came, end)
    }

    /// So many bytes have been read into their place.
    pub fn placed(&mut self, id: u64, bytes: usize) {
        if let Some(Transfer::Taken(taken)) = self.transfers.get_mut(&id) {
            taken.came += bytes;
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
                if bytes.len() > taken.expected - taken.came {
                    return Err(TOO_MUCH);
                }
                taken.target.write(taken.came, bytes);
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
        if taken.came == taken.expected {
            self.done.push(taken.cookie);
            self.taken -= 1;
            self.taken_bulk -= usize::from(taken.way == Way::Bulk);
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
