//! This process's own attempts: a peer's addresses in turn, until one answers.

use std::net::SocketAddr;
use std::time::Instant;

use super::{Outcome, Setup};
use crate::dialing::{self, Attempt, Search, UnderWay};
use crate::identity::{ConnectionName, Identity};
use crate::system::Interest;
use crate::token::Token;
use weft_transport::endings::lost;

impl Setup {
    /// Tries the peer's next address, if it is time.
    pub(super) fn search(&mut self, number: usize, now: Instant, identity: &Identity) {
        loop {
            let under_way = self.under_way(number);
            let Some(dial) = self.dials.at_mut(number) else {
                return;
            };
            match dial.go_on(under_way, now, identity) {
                Search::Waits => return,
                Search::Failed(why) => {
                    let link = dial.link;
                    self.drop_dial(number);
                    return self.give_up(link, why, identity);
                }
                Search::Try(address) => self.try_address(number, address, now, identity),
            }
        }
    }

    /// One that fails at once is the search's, which goes on.
    fn try_address(&mut self, dial: usize, address: SocketAddr, now: Instant, identity: &Identity) {
        let source = self.dials.at(dial).and_then(|dial| dial.source);
        match Attempt::begin(dial, address, source) {
            Ok(attempt) => _ = self.watch_attempt(attempt, now, identity),
            Err(error) => self.failed(dial, address, error.into()),
        }
    }

    fn failed(&mut self, dial: usize, address: SocketAddr, failure: dialing::Failure) {
        if let Some(dial) = self.dials.at_mut(dial) {
            dial.failed(address, failure);
        }
    }

    fn under_way(&self, dial: usize) -> UnderWay {
        let attempts = self.attempts.which(|attempt| attempt.dial == dial);
        let is_answered = |&one: &usize| self.attempts.at(one).is_some_and(Attempt::is_answered);
        UnderWay {
            attempts: attempts.len(),
            is_answered: attempts.iter().any(is_answered),
        }
    }

    /// The search that is to go on, if the attempt has failed.
    fn watch_attempt(
        &mut self,
        attempt: Attempt,
        now: Instant,
        identity: &Identity,
    ) -> Option<usize> {
        let attempt = self.attempts.insert(attempt);
        let token = Token::Attempt(attempt).bits();
        let socket = &self.attempts.at(attempt).expect("just inserted").socket;
        match identity.poller.add(socket, token, Interest::Writing) {
            Ok(()) => self.advance_attempt(attempt, now, identity),
            Err(error) => self.attempt_failed(attempt, error.into()),
        }
    }

    pub(super) fn step_attempt(&mut self, number: usize, now: Instant, identity: &Identity) {
        if let Some(dial) = self.advance_attempt(number, now, identity) {
            self.search(dial, now, identity);
        }
    }

    /// The search that is to go on, if the attempt has failed.
    fn advance_attempt(
        &mut self,
        number: usize,
        now: Instant,
        identity: &Identity,
    ) -> Option<usize> {
        let attempt = self.attempts.at_mut(number)?;
        let dial = self.dials.at(attempt.dial).expect("an attempt's");
        let was_connecting = attempt.is_connecting();
        match attempt.step(dial.link, &dial.card, now, identity) {
            dialing::AttemptOutcome::Waits => {
                if was_connecting && !attempt.is_connecting() {
                    let token = Token::Attempt(number).bits();
                    // It was added, so it can be changed.
                    let _ = identity
                        .poller
                        .change(&attempt.socket, token, Interest::Reading);
                }
                None
            }
            dialing::AttemptOutcome::Failed(failure) => self.attempt_failed(number, failure),
            dialing::AttemptOutcome::Accepted => {
                let (dial, link) = (attempt.dial, dial.link);
                let attempt = self.attempts.remove(number).expect("just stepped");
                self.drop_dial(dial);
                self.stands(link, attempt.socket, identity);
                self.refuse_held(link);
                None
            }
        }
    }

    fn attempt_failed(&mut self, number: usize, failure: dialing::Failure) -> Option<usize> {
        let attempt = self.attempts.remove(number)?;
        self.failed(attempt.dial, attempt.address, failure);
        Some(attempt.dial)
    }

    /// There is no way: unless the peer has found one.
    fn give_up(&mut self, link: ConnectionName, why: String, identity: &Identity) {
        let held = self.incoming.which(|one| one.is_of(link, true));
        let held = held.first().copied();
        let is_held = held.is_some_and(|held| self.admit(held, link, identity));
        // Without a further interface messages go by the first.
        if !is_held && !link.purpose.is_stripe() {
            let lost = lost(link.peer, why);
            self.outcomes.push(Outcome::Lost(link.peer, lost));
        }
    }
}
