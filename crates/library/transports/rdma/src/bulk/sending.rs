//! What a link's peer reads, or is sent in frames.

use std::collections::{BTreeMap, VecDeque};

use weft_transport::{BulkDescriptor, Cookie};
use weft_verbs::{MemoryRegion, ProtectionDomain};

use crate::bulk::descriptor::Descriptor;
use crate::frame::{EAGER_BYTES, HEAD_BYTES, Malformed, put_words};
use crate::keys::Keys;
use crate::user_memory::Source;

/// A transfer that has not been taken.
struct Transfer {
    cookie: Cookie,
    /// While the peer may read it: one for each path. Go before what they are of.
    regions: Vec<MemoryRegion>,
    source: Source,
    is_streamed: bool,
}

/// A transfer that the receiver wants in frames.
struct Stream {
    transfer: u32,
    /// The receiver's.
    number: u32,
    sent: usize,
    end: usize,
}

#[derive(Default)]
pub struct Sending {
    transfers: BTreeMap<u32, Transfer>,
    streams: VecDeque<Stream>,
    last: u32,
}

impl Sending {
    pub fn count(&self) -> usize {
        self.transfers.len()
    }

    /// To be read by the paths of these places, with their adapters' domains; where these take it.
    pub fn open(
        &mut self,
        source: Source,
        cookie: Cookie,
        domains: impl IntoIterator<Item = (usize, ProtectionDomain)>,
    ) -> BulkDescriptor {
        loop {
            self.last = self.last.wrapping_add(1);
            if !self.transfers.contains_key(&self.last) {
                break;
            }
        }
        let (mut regions, mut readable, mut address, mut keys) =
            (Vec::new(), 0, 0, Keys::default());
        for (place, domain) in domains {
            if let Some(region) = source.register(&domain) {
                let remote = region.remote();
                (readable, address) = (readable | 1 << place, remote.address);
                keys.set(place, remote.key);
                regions.push(region);
            }
        }
        let descriptor = Descriptor {
            number: self.last,
            readable,
            address,
            keys,
        };
        let descriptor = descriptor.put(source.bytes());
        let transfer = Transfer {
            cookie,
            regions,
            source,
            is_streamed: false,
        };
        self.transfers.insert(self.last, transfer);
        descriptor
    }

    pub fn cancel(&mut self, cookie: Cookie) {
        self.transfers
            .retain(|_, transfer| transfer.cookie != cookie);
    }

    /// The receiver has read all that it wants.
    pub fn taken(&mut self, transfer: u64) -> Result<Cookie, Malformed> {
        let key = u32::try_from(transfer).ok();
        let known = key.filter(|key| {
            let transfer = self.transfers.get(key);
            transfer.is_some_and(|t| !t.regions.is_empty() && !t.is_streamed)
        });
        let transfer = known.and_then(|key| self.transfers.remove(&key));
        let transfer =
            transfer.ok_or(Malformed("the end of a transfer that it cannot have read"))?;
        Ok(transfer.cookie)
    }

    /// The receiver wants so many bytes in frames.
    pub fn stream(&mut self, numbers: u64, bytes: u64) -> Result<(), Malformed> {
        let (transfer, number) = (numbers as u32, (numbers >> 32) as u32);
        let wanted = self.transfers.get_mut(&transfer).filter(|t| {
            let has = t.source.bytes() as u64;
            !t.is_streamed && (1..=has).contains(&bytes)
        });
        let wanted = wanted.ok_or(Malformed("a wish for data that there are not"))?;
        wanted.is_streamed = true;
        self.streams.push_back(Stream {
            transfer,
            number,
            sent: 0,
            end: bytes as usize,
        });
        Ok(())
    }

    pub fn has_streams(&self) -> bool {
        !self.streams.is_empty()
    }

    /// The length of the next frame of data, to a peer whose buffers hold so many bytes.
    pub fn next_bytes(&self, longest: usize) -> Option<usize> {
        let stream = self.streams.front()?;
        let most = EAGER_BYTES.min(longest - HEAD_BYTES);
        Some(HEAD_BYTES + most.min(stream.end - stream.sent))
    }

    /// Writes the next frame of data. The transfer's cookie, if it was the last one.
    pub fn fill(&mut self, frame: &mut [u8]) -> Option<Cookie> {
        let stream = self.streams.front_mut().expect("there are data to send");
        let (head, data) = frame.split_at_mut(HEAD_BYTES);
        put_words([stream.number.into(), 0], head);
        let transfer = &self.transfers[&stream.transfer];
        transfer.source.pack(stream.sent, data);
        stream.sent += data.len();
        if stream.sent < stream.end {
            return None;
        }
        let stream = self.streams.pop_front()?;
        let transfer = self.transfers.remove(&stream.transfer)?;
        Some(transfer.cookie)
    }
}
