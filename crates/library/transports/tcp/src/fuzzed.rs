//! All that reads what strangers and peers send, without a socket: for fuzzing, and for tests that cut a stream anywhere.

use weft_credentials::{JobHash, Key};
use weft_memory::Memory;
use weft_transport::{BulkDescriptor, Sink};

use crate::card::Card;
use crate::channels::Channels;
use crate::frame::Malformed;
use crate::handshake::{HELLO_BYTES, Hello, Purpose, REPLY_BYTES, Reply, prove};
use crate::link::{Fault, Found, Link};
use crate::user_memory::{Source, Target};

/// What a link reads, as it would come on its connections.
pub struct Streams {
    link: Link,
    next: u64,
}

/// The connections of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    Packets,
    Bulk,
    Stripe,
}

impl Default for Streams {
    fn default() -> Streams {
        let mut link = Link::new(1);
        link.channels.add_stripe(STRIPE);
        Streams { link, next: 0 }
    }
}

const STRIPE: u8 = 0;

impl Streams {
    /// Takes bytes of one of the connections. An error ends the peer.
    pub fn feed(
        &mut self,
        connection: Connection,
        bytes: &[u8],
        sink: &mut impl Sink,
    ) -> Result<(), String> {
        let purpose = match connection {
            Connection::Packets => Purpose::Packets,
            Connection::Bulk => Purpose::Bulk,
            Connection::Stripe => Purpose::Stripe(STRIPE),
        };
        let mut all = std::mem::take(&mut self.link.channel(purpose).rest);
        all.extend_from_slice(bytes);
        let used = self.link.digest(purpose, &all, &mut Found::default(), sink);
        let used = used.map_err(|fault| match fault {
            Fault::Lie(what) => what.to_owned(),
            Fault::Ended => "ended".to_owned(),
            Fault::Gone | Fault::Failed(_) => unreachable!("there is no socket"),
        })?;
        self.link.channel(purpose).rest = all[used..].to_vec();
        Ok(())
    }

    /// Bytes that are kept and nobody has asked for.
    pub fn kept_bytes(&self) -> usize {
        let rests = self.link.channels.iter().map(|channel| channel.rest.len());
        rests.sum::<usize>() + self.link.receiving.early_bytes()
    }

    /// Takes up a transfer.
    ///
    /// # Safety
    /// The memory stays valid, and is touched by nobody else, as long as this value lives.
    pub unsafe fn take_up(
        &mut self,
        words: [u64; 4],
        bytes: usize,
        target: Memory,
    ) -> Result<(), &'static str> {
        self.next += 1;
        // SAFETY: by this function's contract.
        let target = unsafe { Target::new(target) };
        let descriptor = BulkDescriptor(words);
        let taken = self
            .link
            .receiving
            .take_up(descriptor, bytes, target, self.next);
        taken.map(drop).map_err(|Malformed(what)| what)
    }

    /// Opens a transfer, so that answers to it make sense; one that is taken up, and goes in stripes if it is long.
    ///
    /// # Safety
    /// The memory stays valid, and is not written, as long as this value lives.
    pub unsafe fn open_striped(&mut self, source: Memory) {
        // SAFETY: by this function's contract.
        let [id, bytes, prefix, _] = unsafe { self.open(source) }.0;
        let Link {
            channels, sending, ..
        } = &mut self.link;
        let Channels { lane, bulk, .. } = channels;
        if prefix < bytes {
            let asked = sending.clear_to_send(id, bytes, true, &mut lane.out, &mut bulk.out);
            asked.expect("of a transfer that was opened");
            sending.stripes.next(Purpose::Stripe(STRIPE));
        }
    }

    /// Takes the newest transfer back.
    pub fn cancel(&mut self) {
        let outs = self
            .link
            .channels
            .iter_mut()
            .map(|channel| &mut channel.out);
        self.link.sending.cancel(self.next, outs);
    }

    /// Opens a transfer that is not taken up yet.
    ///
    /// # Safety
    /// The memory stays valid, and is not written, as long as this value lives.
    pub unsafe fn open(&mut self, source: Memory) -> BulkDescriptor {
        self.next += 1;
        // SAFETY: by this function's contract.
        let source = unsafe { Source::new(source) };
        let Link {
            channels: Channels { lane, bulk, .. },
            sending,
            ..
        } = &mut self.link;
        let descriptor = sending.open(source, self.next);
        sending.push_behind(&mut lane.out, &mut bulk.out);
        descriptor
    }
}

/// Reads a card, a hello and a reply, and answers as their readers do.
pub fn handshake(bytes: &[u8]) {
    const KEY: Key = Key::new([7; 16]);
    if let Ok(line) = std::str::from_utf8(bytes)
        && let Some(card) = Card::parse(line)
    {
        assert_eq!(Card::parse(&card.to_string()), Some(card));
    }
    if let Some(hello) = bytes.first_chunk::<HELLO_BYTES>() {
        if let Ok(read) = Hello::parse(hello, JobHash::of("job"), 1, &KEY) {
            assert_eq!(read.put(&KEY), *hello);
        }
        let reply = bytes[HELLO_BYTES..].first_chunk::<REPLY_BYTES>();
        if let Some(Reply::Challenge { nonce, signature }) = reply.and_then(Reply::parse) {
            prove(&KEY, hello, &nonce, &signature);
        }
    }
}

#[cfg(test)]
mod tests;
