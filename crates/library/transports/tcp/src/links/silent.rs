//! Finding the connections whose other end's host is silent: now and then, by whoever makes progress.

use std::io;
use std::time::Instant;

use super::{ConnectionId, Links};
use crate::handshake::Purpose;
use crate::link::Fault;
use crate::system;

/// Looks in the time that a host may be silent.
const LOOKS: u32 = 10;

impl Links {
    /// Ends the connections whose other end's host has been silent for too long, if it is time to look.
    pub fn find_silent(&mut self) {
        let identity = &self.shared.identity;
        let Some(shortest) = identity.silence(Purpose::Stripe(0)) else {
            return;
        };
        let now = Instant::now();
        if now < self.looks_for_silence_at {
            return;
        }
        self.looks_for_silence_at = now + shortest / LOOKS;
        for place in self.silent(now) {
            if self.links.at(place.link).is_some() {
                self.fault(place, Fault::Failed(io::ErrorKind::TimedOut.into()));
            }
        }
    }

    fn silent(&mut self, now: Instant) -> Vec<ConnectionId> {
        let mut silent = Vec::new();
        for link in self.links.which(|_| true) {
            let channels = &mut self.links.at_mut(link).expect("just seen").channels;
            let stripes: Vec<Purpose> = channels.stripes().map(Purpose::Stripe).collect();
            for purpose in [Purpose::Packets, Purpose::Bulk].into_iter().chain(stripes) {
                let channel = channels.of(purpose);
                let Some(socket) = &channel.socket else {
                    continue;
                };
                let unanswered = system::unanswered(socket);
                let limit = self.shared.identity.silence(purpose);
                if limit.is_some_and(|limit| channel.silence.lasts(limit, now, unanswered)) {
                    silent.push(ConnectionId { link, purpose });
                }
            }
        }
        silent
    }
}
