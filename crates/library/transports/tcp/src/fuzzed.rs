//! All that reads what strangers and peers send, without a socket: for fuzzing, and for tests that cut a stream anywhere.

use weft_memory::Memory;
use weft_transport::{BulkDescriptor, Sink};

use crate::card::Card;
use crate::frame::Malformed;
use crate::handshake::{HELLO_BYTES, Hello, Purpose, REPLY_BYTES, Reply, hash_job, prove};
use crate::link::{Fault, Found, Link};
use crate::user_memory::{Source, Target};

/// What a link reads, as it would come on its connections.
pub struct Streams {
    link: Link,
    next: u64,
}

impl Default for Streams {
    fn default() -> Streams {
        Streams {
            link: Link::new(1),
            next: 0,
        }
    }
}

impl Streams {
    /// Takes bytes of the connection for packets, or of that for bulk data. An error ends the peer.
    pub fn feed(&mut self, bulk: bool, bytes: &[u8], sink: &mut impl Sink) -> Result<(), String> {
        let purpose = if bulk {
            Purpose::Bulk
        } else {
            Purpose::Packets
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

    /// Opens a transfer, so that answers to it make sense.
    ///
    /// # Safety
    /// The memory stays valid, and is not written, as long as this value lives.
    pub unsafe fn open(&mut self, source: Memory) {
        self.next += 1;
        // SAFETY: by this function's contract.
        let source = unsafe { Source::new(source) };
        let Link {
            channels: [lane, bulk],
            sending,
            ..
        } = &mut self.link;
        sending.open(source, self.next);
        sending.push_behind(&mut lane.out, &mut bulk.out);
    }
}

/// Reads a card, a hello and a reply, and answers as their readers do.
pub fn handshake(bytes: &[u8]) {
    const KEY: [u8; 16] = [7; 16];
    if let Ok(line) = std::str::from_utf8(bytes)
        && let Some(card) = Card::parse(line)
    {
        assert_eq!(Card::parse(&card.to_string()), Some(card));
    }
    if let Some(hello) = bytes.first_chunk::<HELLO_BYTES>() {
        if let Ok(read) = Hello::parse(hello, hash_job("job"), 1, &KEY) {
            assert_eq!(read.put(&KEY), *hello);
        }
        let reply = bytes[HELLO_BYTES..].first_chunk::<REPLY_BYTES>();
        if let Some(Reply::Challenge { nonce, signature }) = reply.and_then(Reply::parse) {
            prove(&KEY, hello, &nonce, &signature);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Head, Kind};
    use crate::world::{Log, Random, memory};

    /// A stream of packets and of data that were asked for, cut anywhere, is read as it was written.
    #[test]
    fn a_stream_may_come_in_any_pieces() {
        for seed in 1..40 {
            let mut random = Random(seed);
            let mut bytes = Vec::new();
            let (mut packets, mut data) = (Vec::new(), Vec::new());
            for tag in 0..50u64 {
                let length = random.below(200) as usize;
                let content = random.bytes(length + 1);
                if random.below(3) == 0 {
                    let words = [1, data.len() as u64];
                    bytes.extend(Head::new(Kind::Data, content.len(), words).put());
                    data.extend_from_slice(&content);
                } else {
                    let words = [tag, 0];
                    bytes.extend(Head::new(Kind::Packet, content.len(), words).put());
                    packets.push(content.clone());
                }
                bytes.extend(content);
            }
            let mut got = vec![0; data.len()];
            let (mut streams, mut log) = (Streams::default(), Log::default());
            let total = data.len();
            let words = [1, total as u64, total as u64, 0];
            // SAFETY: the memory lives longer than the streams, and is looked at after.
            unsafe { streams.take_up(words, total, memory(&mut got)) }.unwrap();
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let piece = rest.len().min(1 + random.below(100) as usize);
                streams.feed(false, &rest[..piece], &mut log).unwrap();
                rest = &rest[piece..];
            }
            assert_eq!(streams.kept_bytes(), 0);
            drop(streams);
            assert!(got == data, "seed {seed}");
            let read = log.packets.into_iter().map(|(_, _, payload)| payload);
            assert!(read.eq(packets), "seed {seed}");
        }
    }

    /// However much a peer sends unasked, no more is kept than it may.
    #[test]
    fn what_comes_unasked_has_a_bound() {
        let (mut streams, mut log) = (Streams::default(), Log::default());
        let content = vec![5; 100 << 10];
        let mut ended = None;
        for transfer in 1..100 {
            let head = Head::new(Kind::Data, content.len(), [transfer, 0]).put();
            // One feed announces, the next comes after the engine's turn.
            let fed = streams
                .feed(false, &head, &mut log)
                .and_then(|()| streams.feed(false, &content, &mut log))
                .and_then(|()| streams.feed(false, &[], &mut log));
            if let Err(why) = fed {
                ended = Some(why);
                break;
            }
        }
        assert_eq!(ended.as_deref(), Some("more data than it may send"));
        let most = crate::sending::UNASKED_BYTES;
        assert!((most - content.len()..=most).contains(&streams.kept_bytes()));
    }

    /// Data were announced as long, and then their transfer as short, or as taken back.
    #[test]
    fn a_transfer_may_not_change_its_length() {
        for is_cancelled in [false, true] {
            let (mut streams, mut log) = (Streams::default(), Log::default());
            let mut got = vec![0; 10];
            let head = Head::new(Kind::Data, 100, [1, 0]).put();
            streams.feed(true, &head, &mut log).unwrap();
            if is_cancelled {
                let cancel = Head::new(Kind::Cancel, 0, [1, 10]).put();
                streams.feed(false, &cancel, &mut log).unwrap();
            } else {
                // SAFETY: the memory lives longer than the streams.
                unsafe { streams.take_up([1, 10, 10, 1], 10, memory(&mut got)) }.unwrap();
            }
            let fed = streams.feed(true, &[1; 100], &mut log);
            assert_eq!(fed.unwrap_err(), "more of a transfer than it announced");
            drop(streams);
            assert_eq!(got, [0; 10]);
        }
    }

    #[test]
    fn the_handshake_reads_what_it_writes() {
        handshake(b"tcp1:7:000102030405060708090a0b0c0d0e0f:10.0.0.1");
        handshake(&[0; 200]);
    }
}
