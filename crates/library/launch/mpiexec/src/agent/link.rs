//! One end of the way between two nodes.

use super::codec;
use super::frame::{Decoder, Frame, Malformed, NEIGHBOUR, encode, preamble};
use weft_kernel::{Interest, Poller};

use crate::source::Source;
use crate::sys;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// The longest between two signs of life.
const BEAT_TIME: Duration = Duration::from_secs(1);
/// At least so many fall into the time after which a neighbour counts as lost.
const BEATS_MIN: u32 = 4;
/// Taken from one neighbour before the others have their turn.
const READ_MAX_BYTES: usize = 256 << 10;

pub struct Link {
    reader: File,
    writer: File,
    write_source: Source,
    incoming: Decoder,
    outgoing: Vec<u8>,
    written: usize,
    /// Waited for by epoll until there is room.
    waits_for_room: bool,
    heard: Instant,
    sent: Instant,
    beat_time: Duration,
}

/// What reading has come to.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrived {
    Bytes,
    End,
}

impl Link {
    /// Takes both descriptors, and says the preamble.
    pub fn new(
        reader: OwnedFd,
        writer: OwnedFd,
        sources: (Source, Source),
        incoming: Decoder,
        epoll: &Poller,
    ) -> io::Result<Link> {
        sys::set_nonblocking(&reader)?;
        sys::set_nonblocking(&writer)?;
        epoll.add(&reader, sources.0.token(), Interest::Reading)?;
        let now = Instant::now();
        Ok(Link {
            reader: reader.into(),
            writer: writer.into(),
            write_source: sources.1,
            incoming,
            outgoing: preamble(),
            written: 0,
            waits_for_room: false,
            heard: now,
            sent: now,
            beat_time: BEAT_TIME,
        })
    }

    /// Reads what has come.
    pub fn read(&mut self) -> Arrived {
        let mut taken = 0;
        let mut bytes = [0; 64 << 10];
        while taken < READ_MAX_BYTES {
            match self.reader.read(&mut bytes) {
                Ok(0) => return Arrived::End,
                Ok(count) => {
                    self.heard = Instant::now();
                    self.incoming.push(&bytes[..count]);
                    taken += count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return Arrived::End,
            }
        }
        Arrived::Bytes
    }

    /// The next frame that is not just a sign of life.
    pub fn next(&mut self) -> Result<Option<Frame>, Malformed> {
        loop {
            match self.incoming.next()? {
                Some(frame) if frame.host == NEIGHBOUR => {}
                other => return Ok(other),
            }
        }
    }

    pub fn has_begun(&self) -> bool {
        self.incoming.has_begun()
    }

    pub fn noise(&self) -> &[u8] {
        self.incoming.noise()
    }

    pub fn send(&mut self, host: u32, message: &impl Serialize, epoll: &Poller) {
        self.pass(&codec::frame(host, message), epoll);
    }

    /// Sends a frame as it is. A neighbour that is gone takes nothing, which the end of reading will tell.
    pub fn pass(&mut self, frame: &Frame, epoll: &Poller) {
        encode(frame, &mut self.outgoing);
        self.write(epoll);
    }

    /// Sends what there is room for now.
    pub fn write(&mut self, epoll: &Poller) {
        self.sent = Instant::now();
        while self.written < self.outgoing.len() {
            match self.writer.write(&self.outgoing[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return self.wait_for_room(epoll);
                }
                Err(_) => break,
            }
        }
        self.outgoing.clear();
        self.written = 0;
        if std::mem::take(&mut self.waits_for_room) {
            // Only a descriptor that is not there can be refused.
            epoll.remove(&self.writer);
        }
    }

    fn wait_for_room(&mut self, epoll: &Poller) {
        // What has been written is let go of once it outweighs the rest, so that each byte is moved at most once.
        if self.written > self.outgoing.len() / 2 {
            self.outgoing.drain(..self.written);
            self.written = 0;
        }
        if !self.waits_for_room {
            self.waits_for_room = epoll
                .add(&self.writer, self.write_source.token(), Interest::Writing)
                .is_ok();
        }
    }

    /// Shows the neighbour that this side lives, unless something else just has.
    pub fn beat(&mut self, now: Instant, epoll: &Poller) {
        if self.next_beat() <= now {
            let frame = Frame {
                host: NEIGHBOUR,
                body: Vec::new(),
            };
            match self.outgoing.is_empty() {
                true => self.pass(&frame, epoll),
                // What waits to be sent says as much.
                false => self.sent = now,
            }
        }
    }

    pub fn next_beat(&self) -> Instant {
        self.sent + self.beat_time
    }

    /// How long either side may be silent.
    pub fn allow_silence(&mut self, limit: Duration) {
        self.beat_time = BEAT_TIME.min(limit / BEATS_MIN);
    }

    /// When the neighbour was last heard of.
    pub fn heard(&self) -> Instant {
        self.heard
    }

    /// This process has itself been stopped: silence until now says nothing.
    pub fn forgive_silence(&mut self, now: Instant) {
        self.heard = now;
    }

    /// Stops reading; what is still to be sent is lost.
    pub fn close(self, epoll: &Poller) {
        epoll.remove(&self.reader);
        if self.waits_for_room {
            epoll.remove(&self.writer);
        }
    }
}
