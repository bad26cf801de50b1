//! What a lane has to do with one peer: its connections, and the bulk transfers that go on them.

mod parting;
mod reading;

use std::fmt;
use std::io::{self, IoSlice};
use std::time::{Duration, Instant};

use weft_transport::bursts::{Burst, Habit};
use weft_transport::{Header, Peer, Refused};

pub use reading::Fault;
#[cfg(any(test, fuzzing))]
pub use reading::Found;

use crate::channel::Channel;
use crate::channels::Channels;
use crate::counters::Counts;
use crate::frame::{FrameKind, HEAD_BYTES, Head};
use crate::handshake::Purpose;
use crate::outgoing::Outgoing;
use crate::receiving::Receiving;
use crate::sending::Sending;

/// Frames of so many bytes may wait to be written to a peer; then it is busy, until half of them have left.
const WAITING_BYTES: usize = 256 << 10;
/// Frames are written before a turn's end once there are so many bytes.
const GATHERED_BYTES: usize = 64 << 10;
/// Payload up to this is cheaper copied behind its head than told to the kernel as a second piece.
const COPIED_BYTES: usize = 4 << 10;

/// The search for further ways, which may come to be there later.
#[derive(Clone, Copy)]
pub struct Seek {
    pub at: Instant,
    pub pause: Duration,
    pub number: u8,
}

pub struct Link {
    pub peer: Peer,
    pub channels: Channels,
    pub sending: Sending,
    pub receiving: Receiving,
    /// The peer wants no eager payload.
    is_throttled: bool,
    /// The peer has said goodbye.
    pub has_left: bool,
    /// Another lane has found that its process has ended: it is lost when nothing more is there.
    pub is_dying: bool,
    /// A connection for bulk data is being made.
    pub wants_bulk: bool,
    /// Bulk data are queued that follow what is to be written on the lane's own connection.
    pub writes_bulk: bool,
    /// When connections by further interfaces are sought again, and the number of the first; none where there is one interface.
    pub seeks: Option<Seek>,
    /// It is among those to which something was gathered.
    pub is_gathering: bool,
    pub burst: Burst,
}

impl Link {
    pub fn new(peer: Peer) -> Link {
        Link {
            peer,
            channels: Channels::default(),
            sending: Sending::default(),
            receiving: Receiving::default(),
            is_throttled: false,
            has_left: false,
            is_dying: false,
            wants_bulk: false,
            writes_bulk: false,
            seeks: None,
            is_gathering: false,
            burst: Burst::default(),
        }
    }

    pub fn channel(&mut self, purpose: Purpose) -> &mut Channel {
        self.channels.of(purpose)
    }

    pub fn out(&mut self) -> &mut Outgoing {
        &mut self.channels.lane.out
    }

    /// Whether a transfer is under way, in either direction.
    pub fn has_transfers(&self) -> bool {
        !self.sending.is_empty() || !self.receiving.is_idle()
    }

    /// Whether a packet may be sent now. In a turn `gathers` says that its end writes.
    pub fn may_send(
        &mut self,
        throttled: bool,
        gathers: bool,
        habit: &mut Habit,
    ) -> Result<(), Refused> {
        if throttled && self.is_throttled {
            return Err(Refused::Throttled);
        }
        if self.out().frame_bytes() >= WAITING_BYTES {
            habit.has_no_room();
            return Err(Refused::Busy);
        }
        if throttled && !gathers && self.burst.waits(habit, Instant::now) {
            return Err(Refused::Busy);
        }
        Ok(())
    }

    /// Whether a peer that was busy is so no more.
    pub fn has_room(&self) -> bool {
        let waiting = self.channels.lane.out.frame_bytes();
        waiting < WAITING_BYTES / 2
    }

    /// Queues a packet, and what is to follow it. Whether it ought to be written before the turn's end.
    pub fn push(&mut self, header: Header, bytes: usize, fill: impl FnOnce(&mut [u8])) -> bool {
        let head = Head::new(FrameKind::Packet, bytes, header.0);
        let Channels { lane, bulk, .. } = &mut self.channels;
        lane.out.push_with(&head, bytes, fill);
        if self.sending.has_behind() {
            self.writes_bulk |= self.sending.push_behind(&mut lane.out, &mut bulk.out);
        }
        lane.out.frame_bytes() >= GATHERED_BYTES
    }

    /// Whether a packet can be written at once, from where it lies.
    pub fn is_clear(&self) -> bool {
        let lane = &self.channels.lane;
        lane.out.is_empty() && !self.sending.has_behind() && lane.broken.is_none()
    }

    /// Writes a packet at once; what does not go is queued. Whether all went.
    pub fn write_now(
        &mut self,
        header: Header,
        payload: &[u8],
        scratch: &mut [u8],
        counts: &Counts,
    ) -> bool {
        let head = Head::new(FrameKind::Packet, payload.len(), header.0).put();
        let end = HEAD_BYTES + payload.len();
        let lane = &mut self.channels.lane;
        let Some(socket) = &lane.socket else {
            return true;
        };
        let flags = libc::MSG_NOSIGNAL;
        let sent = if payload.len() <= COPIED_BYTES {
            scratch[..HEAD_BYTES].copy_from_slice(&head);
            scratch[HEAD_BYTES..end].copy_from_slice(payload);
            socket.send_with_flags(&scratch[..end], flags)
        } else {
            let parts = [IoSlice::new(&head), IoSlice::new(payload)];
            socket.send_vectored_with_flags(&parts, flags)
        };
        match sent {
            Ok(sent) => {
                counts.sent(lane.interface(), sent);
                if sent < end {
                    let head = &head[sent.min(HEAD_BYTES)..];
                    let payload = &payload[sent.saturating_sub(HEAD_BYTES)..];
                    lane.out.push_bytes(&[head, payload]);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                lane.out.push_bytes(&[&head, payload]);
            }
            Err(error) => lane.broken = Some(error),
        }
        lane.out.is_empty() && lane.broken.is_none()
    }

    /// A connection for stripes is over: what it had goes by others. Whether it stood.
    pub fn end_stripe(&mut self, number: u8) -> bool {
        let stood = self.channels.end_stripe(number);
        if stood {
            self.sending.stripes.give_again(number);
        }
        stood
    }

    /// One line if something is pending.
    pub fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let waiting = self.channels.iter().any(|channel| !channel.out.is_empty());
        if !self.has_transfers() && !waiting {
            return Ok(());
        }
        writeln!(
            out,
            "  rank {}: {} bulk transfers to it, {} from it; {} bytes of frames wait for room",
            self.peer,
            self.sending.count(),
            self.receiving.count(),
            self.channels
                .iter()
                .map(|one| one.out.frame_bytes())
                .sum::<usize>(),
        )
    }
}
