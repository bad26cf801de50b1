//! What this process reads from a link's peer, or is sent in frames.

use std::collections::BTreeMap;

use weft_transport::{BulkDescriptor, Cookie};
use weft_verbs::{MemoryRegion, ProtectionDomain, Remote};

use crate::bulk::sending::IS_READABLE;
use crate::frame::Malformed;
use crate::user_memory::Target;

/// Of one read, where the adapter can do so many.
const MOST_READ_BYTES: usize = 1 << 30;

struct Transfer {
    cookie: Cookie,
    /// The sender's number.
    theirs: u32,
    /// While it is read. Goes before what it is of.
    region: Option<(MemoryRegion, Remote)>,
    target: Target,
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
}

/// What follows.
pub enum Next {
    Read(Read),
    /// All is there: the sender's transfer of this number is to be told.
    Taken {
        theirs: u32,
        cookie: Cookie,
    },
    /// The sender is to send so many bytes in frames.
    Stream {
        numbers: u64,
        bytes: u64,
    },
}

#[derive(Default)]
pub struct Receiving {
    transfers: BTreeMap<u32, Transfer>,
    last: u32,
    most_bytes: usize,
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

    pub fn take_up(
        &mut self,
        descriptor: BulkDescriptor,
        bytes: usize,
        target: Target,
        cookie: Cookie,
        domain: &ProtectionDomain,
    ) -> Result<Next, Malformed> {
        let [number, address, key, announced] = descriptor.0;
        let is_readable = number & IS_READABLE != 0;
        let key = u32::try_from(key)
            .map_err(|_| Malformed("a descriptor with a key of more than 32 bits"))?;
        if announced != bytes as u64 || number >> 33 != 0 {
            return Err(Malformed("a descriptor that does not go with its message"));
        }
        let (theirs, wanted) = (number as u32, target.bytes().min(bytes));
        if wanted == 0 && is_readable {
            return Ok(Next::Taken { theirs, cookie });
        }
        let region = match is_readable {
            true => target.register(domain),
            false => None,
        };
        let is_read = region.is_some();
        let from = Remote { address, key };
        let number = self.number();
        let transfer = Transfer {
            cookie,
            theirs,
            region: region.map(|region| (region, from)),
            target,
            done: 0,
            // A sender whose data nobody wants hears so by being asked for one byte of them.
            wanted: wanted.max(1),
        };
        self.transfers.insert(number, transfer);
        match is_read {
            true => Ok(self.next(number)),
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

    fn next(&mut self, number: u32) -> Next {
        let transfer = self.transfers.get(&number).expect("a transfer under way");
        let left = transfer.wanted - transfer.done;
        if left == 0 {
            let (theirs, cookie) = (transfer.theirs, transfer.cookie);
            self.transfers.remove(&number);
            return Next::Taken { theirs, cookie };
        }
        let (region, from) = transfer.region.clone().expect("a transfer that is read");
        Next::Read(Read {
            transfer: number,
            from: from.at(transfer.done as u64),
            region,
            offset: transfer.done,
            bytes: left.min(self.most_bytes),
        })
    }

    /// A read of so many bytes is complete.
    pub fn has_read(&mut self, number: u32, bytes: usize) -> Next {
        let transfer = self.transfers.get_mut(&number);
        transfer.expect("a transfer under way").done += bytes;
        self.next(number)
    }

    /// A frame of data has come. The transfer's cookie, if it was the last one.
    pub fn data(&mut self, number: u64, data: &[u8]) -> Result<Option<Cookie>, Malformed> {
        let key = u32::try_from(number).ok();
        let transfer = key.and_then(|key| self.transfers.get_mut(&key));
        let transfer = transfer.filter(|transfer| {
            let left = transfer.wanted - transfer.done;
            transfer.region.is_none() && (1..=left).contains(&data.len())
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
