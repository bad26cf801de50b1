//! This process's own attempts: a peer's addresses in turn, until one answers.

use std::time::Instant;

use super::{Outcome, Setup};
use crate::dialing::{self, Attempt, Search, UnderWay};
use crate::identity::{Identity, Link};
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
                Search::Try(address) => match Attempt::begin(number, address, dial.source) {
                    Ok(attempt) => self.watch_attempt(attempt, now, identity),
                    Err(error) => dial.failed(address, error.into()),
                },
            }
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

    fn watch_attempt(&mut self, attempt: Attempt, now: Instant, identity: &Identity) {
        let attempt = self.attempts.insert(attempt);
        let token = Token::Attempt(attempt).bits();
        let socket = &self.attempts.at(attempt).expect("just inserted").socket;
        match identity.poller.add(socket, token, Interest::Writing) {
            Ok(()) => self.step_attempt(attempt, now, identity),
            Err(error) => self.attempt_failed(attempt, error.into(), now, identity),
        }
    }

    pub(super) fn step_attempt(&mut self, number: usize, now: Instant, identity: &Identity) {
        let Some(attempt) = self.attempts.at_mut(number) else {
            return;
        };
        let dial = self.dials.at(attempt.dial).expect("an attempt's");
        let was_connecting = attempt.is_connecting();
        match attempt.step(dial.link, &dial.card, now, identity) {
            dialing::Step::Waits => {
                if was_connecting && !attempt.is_connecting() {
                    let token = Token::Attempt(number).bits();
                    // It was added, so it can be changed.
                    let _ = identity
                        .poller
                        .change(&attempt.socket, token, Interest::Reading);
                }
            }
            dialing::Step::Failed(failure) => self.attempt_failed(number, failure, now, identity),
            dialing::Step::Accepted => {
                let (dial, link) = (attempt.dial, dial.link);
                let attempt = self.attempts.remove(number).expect("just stepped");
                self.drop_dial(dial);
                self.stands(link, attempt.socket, identity);
                self.refuse_held(link);
            }
        }
    }

    fn attempt_failed(
        &mut self,
        number: usize,
        failure: dialing::Failure,
        now: Instant,
        identity: &Identity,
    ) {
        if let Some(attempt) = self.attempts.remove(number)
            && let Some(dial) = self.dials.at_mut(attempt.dial)
        {
            dial.failed(attempt.address, failure);
            self.search(attempt.dial, now, identity);
        }
    }

    /// There is no way: unless the peer has found one.
    fn give_up(&mut self, link: Link, why: String, identity: &Identity) {
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
