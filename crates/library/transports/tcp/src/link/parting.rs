//! The end of a link, from this side.

use std::io::{self, Read};
use std::net::Shutdown;

use super::Link;
use crate::counters::Counts;
use crate::frame::{FrameKind, Head};
use crate::system;

/// What has come is dropped by so many reads at most.
const READS: usize = 4;

impl Link {
    /// Tells the peer that it is given up, if that can be said, and ends the connections.
    pub fn give_up(&mut self, buffer: &mut [u8]) {
        let lane = &self.channels.lane;
        let Some(socket) = &lane.socket else {
            return;
        };
        if lane.out.is_empty() {
            // Where there is no room the end of the connection says it.
            let _ = socket.send_with_flags(
                &Head::new(FrameKind::Ended, 0, [0, 0]).put(),
                libc::MSG_NOSIGNAL,
            );
        }
        // What is not read when a socket is closed has the kernel drop what was sent.
        let _ = socket.shutdown(Shutdown::Write);
        for _ in 0..READS {
            let mut socket = socket;
            if socket.read(buffer).is_err() {
                break;
            }
        }
    }

    /// After a goodbye: writes what waits, drops what comes. Whether the peer has all that was sent, or is gone.
    pub fn has_parted(&mut self, buffer: &mut [u8], counts: &Counts) -> bool {
        let Link {
            channels, sending, ..
        } = self;
        let mut all = true;
        for channel in channels.iter_mut() {
            let waits = channel.write(sending, buffer, counts);
            let Some(mut socket) = channel.socket.as_ref() else {
                continue;
            };
            let is_over = loop {
                match socket.read(buffer) {
                    Ok(0) => break true,
                    Ok(_) => {}
                    Err(error) => break error.kind() != io::ErrorKind::WouldBlock,
                }
            };
            all &=
                is_over || channel.broken.is_some() || !waits && system::unconfirmed(socket) == 0;
        }
        all
    }
}
