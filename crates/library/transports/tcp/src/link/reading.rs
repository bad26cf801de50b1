//! Reading what comes from a peer.

use std::io;

use socket2::Socket;
use weft_transport::{Header, Sink};

use super::Link;
use crate::channel::{Channel, Got, MOST_READ_BYTES, Stretch};
use crate::channels::Channels;
use crate::counters::Counts;
use crate::frame::{FrameKind, HEAD_BYTES, Head, Malformed, Next, next};
use crate::handshake::Purpose;
use crate::sending::Stream;

/// Data are read by at most so much at once, and so often in a turn.
const DATA_READ_BYTES: usize = 1 << 20;
const READS: usize = 4;

/// Why a connection is over.
pub enum Fault {
    /// The peer has closed it, or its host says that it is gone.
    Gone,
    Failed(io::Error),
    /// The peer has given this process up.
    Ended,
    Lie(&'static str),
}

impl From<Malformed> for Fault {
    fn from(Malformed(what): Malformed) -> Fault {
        Fault::Lie(what)
    }
}

/// What reading has found to be done.
#[derive(Default)]
pub struct Found {
    pub moved: bool,
    /// Something is to be written on the lane's connection, or on those for bulk data.
    pub writes: [bool; 2],
    /// Connections for stripes that the peer has given up.
    pub stripes_lost: usize,
}

fn way(purpose: Purpose) -> Stream {
    match purpose {
        Purpose::Packets => Stream::Lane,
        Purpose::Bulk | Purpose::Stripe(_) => Stream::Bulk,
    }
}

impl Link {
    /// Reads what has come on one connection, as far as a turn goes.
    pub fn read(
        &mut self,
        purpose: Purpose,
        buffer: &mut [u8],
        counts: &Counts,
        sink: &mut impl Sink,
    ) -> Result<Found, Fault> {
        let mut found = Found::default();
        if self.take_up_rest(purpose, &mut found, sink)? {
            return Ok(found);
        }
        for _ in 0..READS {
            let stretch = self.channel(purpose).stretch;
            let got = match stretch {
                Some(stretch) => {
                    self.read_data(purpose, stretch, buffer, counts, sink, &mut found)?
                }
                None => self.read_frames(purpose, buffer, counts, sink, &mut found)?,
            };
            let channel = self.channel(purpose);
            match got {
                Got::Bytes(_) => found.moved = true,
                Got::Nothing => match channel.broken.take() {
                    Some(error) => return Err(failed(error)),
                    None => break,
                },
                Got::End => return Err(Fault::Gone),
            }
            // What has no place yet waits for the engine's turn; and whoever waits for data that have all come needs no further look.
            let has_ended = stretch.is_some() && channel.stretch.is_none();
            let has_no_place = !channel.rest.is_empty() && channel.stretch.is_some();
            if channel.is_drained || has_ended || has_no_place {
                break;
            }
        }
        Ok(found)
    }

    /// What was read before and waits, if something can be done about it by now. True if it waits on.
    fn take_up_rest(
        &mut self,
        purpose: Purpose,
        found: &mut Found,
        sink: &mut impl Sink,
    ) -> Result<bool, Fault> {
        let channel = self.channel(purpose);
        let (needs, has_stretch) = (channel.needs, channel.stretch.is_some());
        if channel.rest.is_empty() || !has_stretch && channel.rest.len() < needs {
            return Ok(false);
        }
        let mut rest = std::mem::take(&mut channel.rest);
        let used = self.digest(purpose, &rest, found, sink)?;
        found.moved |= used != 0;
        rest.drain(..used);
        let channel = self.channel(purpose);
        channel.rest = rest;
        Ok(channel.stretch.is_some() && !channel.rest.is_empty())
    }

    /// Reads frames, of which there may be part.
    fn read_frames(
        &mut self,
        purpose: Purpose,
        buffer: &mut [u8],
        counts: &Counts,
        sink: &mut impl Sink,
        found: &mut Found,
    ) -> Result<Got, Fault> {
        let channel = self.channel(purpose);
        let before = channel.rest.len();
        buffer[..before].copy_from_slice(&channel.rest);
        let end = channel
            .read_bytes()
            .max(before + HEAD_BYTES)
            .min(buffer.len());
        let got = channel
            .read(&mut buffer[before..end], counts)
            .map_err(failed)?;
        let Got::Bytes(bytes) = got else {
            return Ok(got);
        };
        if before + bytes == end {
            channel.read_was_filled();
        }
        let used = self.digest(purpose, &buffer[..before + bytes], found, sink)?;
        let channel = self.channel(purpose);
        channel.rest.clear();
        channel
            .rest
            .extend_from_slice(&buffer[used..before + bytes]);
        if channel.rest.is_empty() && channel.rest.capacity() > MOST_READ_BYTES / 4 {
            channel.rest = Vec::new();
        }
        Ok(got)
    }

    /// Reads data, straight into their place if they have one.
    fn read_data(
        &mut self,
        purpose: Purpose,
        stretch: Stretch,
        buffer: &mut [u8],
        counts: &Counts,
        sink: &mut impl Sink,
        found: &mut Found,
    ) -> Result<Got, Fault> {
        let Stretch { transfer, at, left } = stretch;
        let Link {
            channels,
            receiving,
            ..
        } = self;
        let channel = channels.of(purpose);
        let most = left.min(DATA_READ_BYTES);
        let in_place = |socket: &Socket| receiving.read(transfer, at, most, socket);
        if let Some(got) = channel.read_if(counts, in_place) {
            let got = got.map_err(failed)?;
            if let Got::Bytes(bytes) = got {
                channel.came(bytes);
                receiving.placed(transfer, at, bytes);
            }
            return Ok(got);
        }
        if !self.can_take(purpose, stretch) {
            self.stall(purpose);
            return Ok(Got::Nothing);
        }
        let end = left.min(buffer.len());
        let got = self
            .channel(purpose)
            .read(&mut buffer[..end], counts)
            .map_err(failed)?;
        if let Got::Bytes(bytes) = got {
            self.digest(purpose, &buffer[..bytes], found, sink)?;
        }
        Ok(got)
    }

    /// Whether data can be taken now: they have a place, or others wait behind them that have, or that may be anything. Stripes are
    /// asked for, or dropped.
    fn can_take(&self, purpose: Purpose, stretch: Stretch) -> bool {
        stretch.at.is_some()
            || self.receiving.is_placed(stretch.transfer)
            || match purpose {
                Purpose::Packets => self.channels.lane.had_turn,
                Purpose::Bulk | Purpose::Stripe(_) => self.receiving.awaits_bulk(),
            }
    }

    /// Nobody wants what stands first: it waits, on the lane's own connection for one turn of the engine's.
    fn stall(&mut self, purpose: Purpose) {
        let channel = self.channel(purpose);
        match purpose {
            Purpose::Packets => channel.had_turn = true,
            Purpose::Bulk | Purpose::Stripe(_) => channel.is_stalled = true,
        }
    }

    /// Takes frames, and data that can be taken, from the front of `bytes`. How many bytes that were.
    pub fn digest(
        &mut self,
        purpose: Purpose,
        bytes: &[u8],
        found: &mut Found,
        sink: &mut impl Sink,
    ) -> Result<usize, Fault> {
        let mut left = bytes;
        loop {
            if let Some(stretch) = self.channel(purpose).stretch {
                let count = stretch.left.min(left.len());
                if count == 0 {
                    break;
                }
                if !self.can_take(purpose, stretch) {
                    self.stall(purpose);
                    break;
                }
                let (data, rest) = left.split_at(count);
                match stretch.at {
                    Some(at) => self.receiving.put_stripe(stretch.transfer, at, data),
                    None => self.receiving.put(stretch.transfer, data)?,
                }
                self.channel(purpose).came(count);
                left = rest;
                continue;
            }
            match next(left)? {
                Next::Part(needs) => {
                    self.channel(purpose).needs = needs;
                    break;
                }
                Next::Data(head, rest) => {
                    let at = self.announce(purpose, &head)?;
                    let channel = self.channel(purpose);
                    channel.stretch = Some(Stretch {
                        transfer: head.words[0],
                        at,
                        left: head.bytes,
                    });
                    channel.had_turn = false;
                    channel.read_met_data();
                    left = rest;
                }
                Next::Frame(head, payload, rest) => {
                    self.take(purpose, head, payload, found, sink)?;
                    left = rest;
                }
            }
        }
        Ok(bytes.len() - left.len())
    }

    /// Data are about to come: at which place, if they are a stripe.
    fn announce(&mut self, purpose: Purpose, head: &Head) -> Result<Option<usize>, Fault> {
        match (head.kind, purpose) {
            (FrameKind::Stripe, Purpose::Bulk | Purpose::Stripe(_)) => {
                self.receiving.announce_stripe(head)?;
                Ok(Some(head.words[1] as usize))
            }
            (FrameKind::Data, Purpose::Packets | Purpose::Bulk) => {
                self.receiving.announce(head, way(purpose))?;
                Ok(None)
            }
            _ => Err(Fault::Lie("data on a connection where they do not belong")),
        }
    }

    /// Takes one frame.
    fn take(
        &mut self,
        purpose: Purpose,
        head: Head,
        payload: &[u8],
        found: &mut Found,
        sink: &mut impl Sink,
    ) -> Result<(), Fault> {
        if purpose != Purpose::Packets {
            return Err(Fault::Lie("a message on a connection for data"));
        }
        if self.has_left {
            return Err(Fault::Lie("something after its goodbye"));
        }
        let [first, second] = head.words;
        match head.kind {
            FrameKind::Packet => sink.packet(self.peer, Header(head.words), payload),
            FrameKind::Cts => {
                let has_stripes = self.channels.stripes().next().is_some();
                let Channels { lane, bulk, .. } = &mut self.channels;
                let (lane, bulk) = (&mut lane.out, &mut bulk.out);
                let way = self
                    .sending
                    .clear_to_send(first, second, has_stripes, lane, bulk)?;
                found.writes[way as usize] = true;
            }
            FrameKind::Whole => {
                for channel in self.channels.iter_mut() {
                    channel.out.keep_copy(first, &self.sending);
                }
                self.sending.whole(first)?;
            }
            FrameKind::StripeOver => {
                let number = u8::try_from(first).unwrap_or(u8::MAX);
                if self.end_stripe(number) {
                    found.stripes_lost += 1;
                    found.writes[Stream::Bulk as usize] = true;
                }
            }
            FrameKind::Credit => self.sending.credit(first)?,
            FrameKind::Cancel => self.receiving.cancel(first, second)?,
            FrameKind::Throttle => self.is_throttled = first != 0,
            FrameKind::Bye => self.has_left = true,
            FrameKind::Ended => return Err(Fault::Ended),
            FrameKind::Data | FrameKind::Stripe => unreachable!("their heads are told apart"),
        }
        Ok(())
    }
}

impl Channel {
    /// Whether something was read, or is there to be, that a turn would take.
    pub fn has_unread(&self) -> bool {
        !self.is_drained || self.stretch.is_some() && !self.rest.is_empty()
    }

    /// So many bytes of the data that are coming have been taken.
    fn came(&mut self, bytes: usize) {
        self.stretch = self.stretch.and_then(|Stretch { transfer, at, left }| {
            let (at, left) = (at.map(|at| at + bytes), left - bytes);
            (left != 0).then_some(Stretch { transfer, at, left })
        });
        self.needs = HEAD_BYTES;
    }
}

fn failed(error: io::Error) -> Fault {
    match error.raw_os_error() {
        Some(libc::ECONNRESET | libc::EPIPE) => Fault::Gone,
        _ => Fault::Failed(error),
    }
}
