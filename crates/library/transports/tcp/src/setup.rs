//! All connections of a process that do not stand yet.
//!
//! Whoever polls the process's descriptors drives them, a step at a time, and none of the steps waits. Two processes may begin the
//! same connection at once: the one that the lower rank has begun counts. So
//! 1. the higher rank accepts what the lower one has begun, and drops its own attempt;
//! 2. the lower rank holds what the higher one has begun until its own attempt is over: if that was accepted, it refuses the other,
//!    and if there was no way, it accepts it.
//!
//! A connection for stripes is begun by the lower rank alone.
//!
//! 3. Of those who say that they begin the same connection, and have not proved who they are, one is kept, the newest: a hello says
//!    nothing that who has heard an earlier one could not repeat. The same hello said twice is refused the second time.
//!
//! # Time
//! A process that computes, at whatever step, is waited for: no step has an end of its own but that from kernel to kernel, and what the
//! accepting side drops for want of room its other end begins again. A peer is given up by the clock of the search for it
//! (`transport::progress_clock`), which stands while the peer's host answers.

mod admitting;
mod searching;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use socket2::Socket;
use weft_transport::{Lost, Peer};

use crate::accepting::Incoming;
use crate::dialing::{Attempt, Dial};
use crate::handshake::{Refusal, Reply};
use crate::identity::{ConnectionName, Identity};
use crate::listener::Listener;
use crate::slab::Slab;
use crate::token::Token;
use weft_transport::endings::lost;

/// How often time-outs are looked at while there are any.
const TICK: Duration = Duration::from_millis(50);

/// What became of a connection.
pub enum Outcome {
    Stands(ConnectionName, Socket),
    Lost(Peer, Lost),
}

pub struct Setup {
    listener: Listener,
    is_ticking: bool,
    dials: Slab<Dial>,
    attempts: Slab<Attempt>,
    incoming: Slab<Incoming>,
    /// Connections that stand, or stood.
    stand: BTreeSet<ConnectionName>,
    outcomes: Vec<Outcome>,
}

impl Setup {
    pub fn new(listener: Listener) -> Setup {
        Setup {
            listener,
            is_ticking: false,
            dials: Slab::new(),
            attempts: Slab::new(),
            incoming: Slab::new(),
            stand: BTreeSet::new(),
            outcomes: Vec::new(),
        }
    }

    /// Begins a connection, unless it stands or is begun.
    pub fn dial(&mut self, dial: Dial, now: Instant, identity: &Identity) {
        if self.stand.contains(&dial.link) || self.dial_of(dial.link).is_some() {
            return;
        }
        let dial = self.dials.insert(dial);
        self.search(dial, now, identity);
        self.tick_if_needed(identity);
    }

    /// Does what an event of the process's poller asks for.
    pub fn handle(
        &mut self,
        token: Token,
        now: Instant,
        is_ended: impl Fn(Peer) -> bool,
        identity: &Identity,
    ) {
        match token {
            Token::Listener => self.accept(now, &is_ended, identity),
            Token::Ticker => self.tick(now, &is_ended, identity),
            Token::Attempt(number) => self.step_attempt(number, now, identity),
            Token::Incoming(number) => self.step_incoming(number, &is_ended, identity),
            Token::Lane(_) | Token::Bell => {}
        }
        self.tick_if_needed(identity);
    }

    /// What has become of connections since this was last asked.
    pub fn take_outcomes(&mut self) -> Vec<Outcome> {
        std::mem::take(&mut self.outcomes)
    }

    /// Connections that do not stand yet.
    pub fn pending(&self) -> usize {
        self.dials.len() + self.incoming.len()
    }

    /// Drops what is being made with a peer that is lost.
    pub fn forget(&mut self, peer: Peer) {
        for dial in self.dials.which(|dial| dial.link.peer == peer) {
            self.drop_dial(dial);
        }
    }

    fn dial_of(&self, link: ConnectionName) -> Option<usize> {
        self.dials.which(|dial| dial.link == link).first().copied()
    }

    fn drop_dial(&mut self, dial: usize) {
        self.dials.remove(dial);
        for attempt in self.attempts.which(|attempt| attempt.dial == dial) {
            self.attempts.remove(attempt);
        }
    }

    fn refuse_held(&mut self, link: ConnectionName) {
        for held in self.incoming.which(|one| one.is_of(link, true)) {
            self.refuse(held, Some(Refusal::Known));
        }
    }

    fn refuse(&mut self, number: usize, refusal: Option<Refusal>) {
        if let Some(incoming) = self.incoming.remove(number)
            && let Some(refusal) = refusal
        {
            // Whoever does not hear it finds the connection ended.
            let _ = incoming.say(Reply::Refused(refusal));
        }
    }

    fn stands(&mut self, link: ConnectionName, socket: Socket, identity: &Identity) {
        identity.poller.remove(&socket);
        match identity.tune(&socket, link.purpose) {
            Ok(()) => {
                self.stand.insert(link);
                self.outcomes.push(Outcome::Stands(link, socket));
            }
            Err(_) if link.purpose.is_stripe() => {}
            Err(error) => {
                let why = format!("its connection cannot be prepared: {error}");
                self.outcomes
                    .push(Outcome::Lost(link.peer, lost(link.peer, why)));
            }
        }
    }

    /// Looks at all that may have become late.
    fn tick(&mut self, now: Instant, is_ended: &impl Fn(Peer) -> bool, identity: &Identity) {
        identity.ticker.clear();
        self.listener
            .resume(&identity.poller, Token::Listener.bits());
        for number in self.attempts.which(|_| true) {
            self.step_attempt(number, now, identity);
        }
        for number in self.dials.which(|_| true) {
            self.search(number, now, identity);
        }
        let ended = self.dials.which(|dial| is_ended(dial.link.peer));
        ended.into_iter().for_each(|dial| self.drop_dial(dial));
    }

    fn tick_if_needed(&mut self, identity: &Identity) {
        let needed = self.listener.is_paused() || self.dials.len() != 0;
        if needed != self.is_ticking {
            self.is_ticking = needed;
            identity
                .ticker
                .set(if needed { TICK } else { Duration::ZERO });
        }
    }
}
