//! What this process reads from a link's peer, or is sent in frames.
//!
//! A transfer that the peer's adapters give is read in pieces: in one, where there is one path to the peer, else a long one in stripes, of
//! which each path takes the next when it has room, so that a slower one takes fewer. What a path had begun when it failed is read again by
//! another; where none of those that are left gives the transfer, its sender is asked for all of it in frames.

use std::collections::{BTreeMap, VecDeque};

use weft_transport::{BulkDescriptor, Cookie};
use weft_verbs::{MemoryRegion, ProtectionDomain, Remote};

use crate::bulk::descriptor::Descriptor;
use crate::frame::Malformed;
use crate::keys::Keys;
use crate::user_memory::Target;

/// Of one read, where the adapter can do so many.
const MOST_READ_BYTES: usize = 1 << 30;
/// Transfers that are as long as this go in stripes.
pub const STRIPED_BYTES: usize = 256 << 10;
/// Of a stripe.
const STRIPE_BYTES: usize = 128 << 10;
/// Transfers that are looked at for one that a path may read.
const LOOKED_AT: usize = 8;

struct Transfer {
    cookie: Cookie,
    /// The sender's number.
    theirs: u32,
    /// While it is read: by path. Go before what they are of.
    regions: Vec<(usize, MemoryRegion)>,
    target: Target,
    /// By which paths it can be read, a bit each; none if it comes in frames.
    readable: u32,
    address: u64,
    keys: Keys,
    /// Bytes for which there were reads, but for those that have failed, by offset and length.
    begun: usize,
    again: Vec<(usize, usize)>,
    done: usize,
    wanted: usize,
}

/// A read to be posted.
pub struct Read {
    pub transfer: u32,
    pub from: Remote,
    pub region: MemoryRegion,
    pub offset: usize,
    pub bytes: usize,
    /// One of a message that several paths read.
    pub is_stripe: bool,
}

/// What follows.
pub enum Next {
    /// There is something to be read.
    Read,
    /// All is there: the sender's transfer of this number is to be told.
    Taken { theirs: u32, cookie: Cookie },
    /// The sender is to send so many bytes in frames.
    Stream { numbers: u64, bytes: u64 },
}

/// Who reads.
pub struct Reader<'a> {
    /// The path, by its place, and that by which frames go.
    pub place: usize,
    pub home: usize,
    /// There are other paths that read, and this one has room for a stripe.
    pub shares: bool,
    pub takes_stripes: bool,
    pub domain: &'a ProtectionDomain,
}

#[derive(Default)]
pub struct Receiving {
    transfers: BTreeMap<u32, Transfer>,
    /// Those of which something is still to be read, the oldest first.
    waiting: VecDeque<u32>,
    last: u32,
    most_bytes: usize,
}

impl Transfer {
    fn reads(&self, place: usize) -> bool {
        self.readable >> place & 1 != 0
    }

    /// Whether a path may read it: any a long one, only that of frames a short one, if it can.
    fn is_for(&self, reader: &Reader<'_>) -> bool {
        let is_long = self.wanted >= STRIPED_BYTES;
        if is_long && reader.shares && !reader.takes_stripes {
            return false;
        }
        let is_home = reader.place == reader.home || !self.reads(reader.home);
        self.reads(reader.place) && (is_long || is_home)
    }

    /// The region of a path's adapter; made when it is first needed.
    fn region(&mut self, reader: &Reader<'_>) -> Option<MemoryRegion> {
        let known = self
            .regions
            .iter()
            .find(|(place, _)| *place == reader.place);
        if let Some((_, region)) = known {
            return Some(region.clone());
        }
        let region = self.target.register(reader.domain)?;
        self.regions.push((reader.place, region.clone()));
        Some(region)
    }

    /// What is to be read next, at most so many bytes.
    fn piece(&mut self, most: usize) -> (usize, usize) {
        match self.again.pop() {
            Some(again) => again,
            None => {
                let piece = (self.begun, most.min(self.wanted - self.begun));
                self.begun += piece.1;
                piece
            }
        }
    }

    fn is_all_begun(&self) -> bool {
        self.begun == self.wanted && self.again.is_empty()
    }
}

impl Receiving {
    /// By reads of at most so many bytes.
    pub fn new(most_bytes: usize) -> Receiving {
        Receiving {
            most_bytes: most_bytes.clamp(1, MOST_READ_BYTES),
            ..Receiving::default()
        }
    }

    pub fn count(&self) -> usize {
        self.transfers.len()
    }

    /// Whether something is to be read.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Of the paths, those that have not failed are `alive`, a bit each; `home` tells where the transfer is registered first.
    pub fn take_up(
        &mut self,
        descriptor: BulkDescriptor,
        bytes: usize,
        target: Target,
        cookie: Cookie,
        alive: u32,
        home: &Reader<'_>,
    ) -> Result<Next, Malformed> {
        let Descriptor {
            number: theirs,
            readable,
            address,
            keys,
        } = Descriptor::read(descriptor, bytes)?;
        let wanted = target.bytes().min(bytes);
        if wanted == 0 && readable != 0 {
            return Ok(Next::Taken { theirs, cookie });
        }
        let mut transfer = Transfer {
            cookie,
            theirs,
            regions: Vec::new(),
            target,
            readable: readable & alive,
            address,
            keys,
            begun: 0,
            again: Vec::new(),
            done: 0,
            // A sender whose data nobody wants hears so by being asked for one byte of them.
            wanted: wanted.max(1),
        };
        // What the one adapter does not take, the others do not either.
        if transfer.readable != 0 && transfer.region(home).is_none() {
            transfer.readable = 0;
        }
        let (number, is_read) = (self.number(), transfer.readable != 0);
        self.transfers.insert(number, transfer);
        match is_read {
            true => {
                self.waiting.push_back(number);
                Ok(Next::Read)
            }
            false => Ok(Next::Stream {
                numbers: u64::from(theirs) | u64::from(number) << 32,
                bytes: wanted.max(1) as u64,
            }),
        }
    }

    fn number(&mut self) -> u32 {
        loop {
            self.last = self.last.wrapping_add(1);
            if !self.transfers.contains_key(&self.last) {
                return self.last;
            }
        }
    }

    /// The next read of a path's.
    pub fn next(&mut self, reader: &Reader<'_>) -> Option<Read> {
        for at in 0..self.waiting.len().min(LOOKED_AT) {
            let number = self.waiting[at];
            let transfer = self.transfers.get_mut(&number);
            let transfer = transfer.expect("a transfer under way");
            if !transfer.is_for(reader) {
                continue;
            }
            let Some(region) = transfer.region(reader) else {
                transfer.readable &= !(1 << reader.place);
                continue;
            };
            let is_stripe = reader.shares && transfer.wanted >= STRIPED_BYTES;
            let most = if is_stripe {
                STRIPE_BYTES
            } else {
                self.most_bytes
            };
            let (offset, bytes) = transfer.piece(most.min(self.most_bytes));
            let from = Remote {
                address: transfer.address,
                key: transfer.keys.get(reader.place),
            };
            let from = from.at(offset as u64);
            if transfer.is_all_begun() {
                self.waiting.remove(at);
            }
            return Some(Read {
                transfer: number,
                from,
                region,
                offset,
                bytes,
                is_stripe,
            });
        }
        None
    }

    /// A read is complete. What follows, if it was the last.
    pub fn has_read(&mut self, number: u32, bytes: usize) -> Option<Next> {
        let transfer = self.transfers.get_mut(&number);
        let transfer = transfer.expect("a transfer under way");
        transfer.done += bytes;
        if transfer.done < transfer.wanted {
            return None;
        }
        let (theirs, cookie) = (transfer.theirs, transfer.cookie);
        self.transfers.remove(&number);
        Some(Next::Taken { theirs, cookie })
    }

    /// A read was not done: it is to be done again.
    pub fn again(&mut self, read: &Read) {
        let Some(transfer) = self.transfers.get_mut(&read.transfer) else {
            return;
        };
        if transfer.is_all_begun() {
            self.waiting.push_front(read.transfer);
        }
        transfer.again.push((read.offset, read.bytes));
    }

    /// Only these paths are left, a bit each, and nothing is under way by others. What is to be asked for in frames.
    pub fn without(&mut self, alive: u32) -> Vec<Next> {
        let mut streams = Vec::new();
        for (&number, transfer) in &mut self.transfers {
            if transfer.readable == 0 || transfer.readable & alive != 0 {
                continue;
            }
            transfer.readable = 0;
            transfer.regions.clear();
            transfer.again.clear();
            transfer.done = 0;
            self.waiting.retain(|&waiting| waiting != number);
            streams.push(Next::Stream {
                numbers: u64::from(transfer.theirs) | u64::from(number) << 32,
                bytes: transfer.wanted as u64,
            });
        }
        streams
    }

    /// A frame of data has come. The transfer's cookie, if it was the last one.
    pub fn data(&mut self, number: u64, data: &[u8]) -> Result<Option<Cookie>, Malformed> {
        let key = u32::try_from(number).ok();
        let transfer = key.and_then(|key| self.transfers.get_mut(&key));
        let transfer = transfer.filter(|transfer| {
            let left = transfer.wanted - transfer.done;
            transfer.readable == 0 && (1..=left).contains(&data.len())
        });
        let transfer = transfer.ok_or(Malformed("data that nobody has asked for"))?;
        let room = transfer.target.bytes().saturating_sub(transfer.done);
        transfer
            .target
            .write(transfer.done, &data[..data.len().min(room)]);
        transfer.done += data.len();
        if transfer.done < transfer.wanted {
            return Ok(None);
        }
        let cookie = transfer.cookie;
        self.transfers.remove(&(number as u32));
        Ok(Some(cookie))
    }
}
