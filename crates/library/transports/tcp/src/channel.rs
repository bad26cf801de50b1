//! One connection to a peer, as its lane sees it: what waits to be written, what was read and not understood yet.

use std::io::{self, Read};

use socket2::Socket;

use crate::counters::Counts;
use crate::frame::FrameKind;
use crate::handshake::Purpose;
use crate::identity::{self, Identity};
use crate::outgoing::{Outgoing, Written};
use crate::paths::Path;
use crate::sending::Sending;
use crate::silence::Silence;
use crate::system::{Interest, Poller};

/// A read is so long at first, and where data are expected to follow, of which it should bring little.
const FIRST_READ_BYTES: usize = 8 << 10;
const LEAST_READ_BYTES: usize = 256;
/// And at most so, with what stands before it.
pub const MOST_READ_BYTES: usize = 64 << 10;
/// System calls in which one turn writes.
const WRITES: usize = 2;

/// Data of a bulk transfer that are coming.
#[derive(Clone, Copy)]
pub struct Stretch {
    pub transfer: u64,
    /// Of a stripe, where its next byte belongs; other data come in order.
    pub at: Option<usize>,
    pub left: usize,
}

/// A connection. Long messages' is none until it stands.
#[derive(Default)]
pub struct Channel {
    pub socket: Option<Socket>,
    pub out: Outgoing,
    /// What was read and waits: part of a frame, or data that have no place yet.
    pub rest: Vec<u8>,
    /// With less than this in `rest` there is nothing to be done.
    pub needs: usize,
    pub stretch: Option<Stretch>,
    /// Data without a place have come, and the engine has had a turn to give them one.
    pub had_turn: bool,
    /// The last read has brought all there was.
    pub is_drained: bool,
    /// Its place among those that are read each turn.
    pub is_hot: bool,
    /// It is among those that wait for room.
    pub is_blocked: bool,
    /// Nobody wants what would be read.
    pub is_stalled: bool,
    /// It cannot be written to any more; reading says why.
    pub broken: Option<io::Error>,
    /// The addresses of its ends, if the system tells them.
    pub path: Option<Path>,
    pub silence: Silence,
    /// The interface by which it goes, as its traffic is counted.
    interface: usize,
    interest: Option<Interest>,
    read_bytes: usize,
}

/// What a read has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Got {
    Bytes(usize),
    Nothing,
    /// The other end has closed the connection.
    End,
}

impl Channel {
    pub fn open(
        &mut self,
        socket: Socket,
        identity: &Identity,
        poller: &Poller,
        token: u64,
    ) -> io::Result<()> {
        poller.add(&socket, token, Interest::Reading)?;
        self.path = identity::path(&socket);
        self.interface = identity.traffic_of(self.path);
        self.interest = Some(Interest::Reading);
        self.read_bytes = FIRST_READ_BYTES;
        self.socket = Some(socket);
        Ok(())
    }

    /// Ends the connection; the kernel forgets the interest in it.
    pub fn close(&mut self) {
        self.socket = None;
        self.interest = None;
    }

    /// Ends the connection, with all that waits on it. Its places among hot and blocked ones are left by those who keep them.
    pub fn drop_all(&mut self) {
        *self = Channel {
            is_hot: self.is_hot,
            is_blocked: self.is_blocked,
            ..Channel::default()
        };
    }

    /// What is waited for while it is not read each turn.
    pub fn interest_at_rest(&self) -> Interest {
        if self.is_stalled {
            Interest::Nothing
        } else {
            Interest::Reading
        }
    }

    pub fn wait_for(&mut self, interest: Interest, poller: &Poller, token: u64) {
        if let Some(socket) = &self.socket
            && self.interest != Some(interest)
        {
            // It was added, so it can be changed.
            let _ = poller.change(socket, token, interest);
            self.interest = Some(interest);
        }
    }

    pub fn interface(&self) -> usize {
        self.interface
    }

    /// Reads into `buffer`, one system call.
    pub fn read(&mut self, buffer: &mut [u8], counts: &Counts) -> io::Result<Got> {
        let asked = buffer.len();
        let read = |mut socket: &Socket| Some(socket.read(buffer).map(|bytes| (bytes, asked)));
        let got = self.read_if(counts, read);
        got.expect("it is always read")
    }

    /// Reads by one system call, if `read` can: how many bytes came, and how many it had asked for.
    pub fn read_if(
        &mut self,
        counts: &Counts,
        read: impl FnOnce(&Socket) -> Option<io::Result<(usize, usize)>>,
    ) -> Option<io::Result<Got>> {
        let Some(socket) = self.socket.as_ref() else {
            return Some(Ok(Got::Nothing));
        };
        Some(match read(socket)? {
            Ok((0, _)) => Ok(Got::End),
            Ok((bytes, asked)) => {
                counts.received(self.interface, bytes);
                self.is_drained = bytes < asked;
                Ok(Got::Bytes(bytes))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                counts.idle_calls.add(1);
                self.is_drained = true;
                Ok(Got::Nothing)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Got::Nothing),
            Err(error) => Err(error),
        })
    }

    /// How long the next read of frames is to be: more where they fill what they get, little where data follow that are better
    /// read straight into their place.
    pub fn read_bytes(&self) -> usize {
        self.read_bytes.max(self.needs)
    }

    pub fn read_was_filled(&mut self) {
        self.read_bytes = (self.read_bytes() * 2).min(MOST_READ_BYTES);
    }

    pub fn read_met_data(&mut self) {
        self.read_bytes = LEAST_READ_BYTES;
    }

    /// Queues the next stripe, if this connection has nothing else to write.
    pub fn take_stripe(&mut self, purpose: Purpose, sending: &mut Sending) {
        if self.socket.is_some()
            && self.broken.is_none()
            && self.out.is_empty()
            && let Some(part) = sending.stripes.next(purpose)
        {
            self.out
                .push_data(FrameKind::Stripe, part.transfer, part.begin, part.end);
        }
    }

    /// Writes what waits, as far as there is room and a turn goes. True if something is left.
    pub fn write(&mut self, sending: &mut Sending, scratch: &mut [u8], counts: &Counts) -> bool {
        let Some(socket) = &self.socket else {
            return false;
        };
        for _ in 0..WRITES {
            let written = self.out.write(socket, sending, scratch);
            let packed = self.out.take_packed_bytes();
            if packed != 0 {
                counts.copied_bytes.add(packed as u64);
            }
            match written {
                Ok((written, bytes)) => {
                    if bytes != 0 {
                        counts.sent(self.interface, bytes);
                    } else if written == Written::Blocked {
                        counts.idle_calls.add(1);
                    }
                    match written {
                        Written::All => return false,
                        Written::Some => {}
                        Written::Blocked => return true,
                    }
                }
                Err(error) => {
                    self.broken = Some(error);
                    return false;
                }
            }
        }
        true
    }
}
