//! The attempts of others: who has connected is heard, and admitted by the rules above.

use std::time::Instant;

use socket2::Socket;
use weft_transport::Peer;

use super::Setup;
use crate::accepting::{self, Incoming};
use crate::handshake::{Hello, Purpose, Refusal, Reply};
use crate::identity::{ConnectionName, Identity};
use crate::slab::Slab;
use crate::system::Interest;
use crate::token::Token;

/// Connections that are kept of those who have not said who they are. Where one more comes the oldest goes: a process that has begun it, and computed
/// since, begins it again.
const MOST_STRANGERS: usize = 256;

fn drop_oldest_stranger(incoming: &mut Slab<Incoming>) -> bool {
    let strangers = incoming.iter().filter(|(_, one)| one.is_stranger());
    let oldest = strangers.min_by_key(|(_, one)| one.begun());
    let oldest = oldest.map(|(number, _)| number);
    oldest.is_some_and(|number| incoming.remove(number).is_some())
}

impl Setup {
    /// Accepts who has connected.
    pub(super) fn accept(
        &mut self,
        now: Instant,
        is_ended: &impl Fn(Peer) -> bool,
        identity: &Identity,
    ) {
        let mut accepted = Vec::new();
        let token = Token::Listener.bits();
        let Setup {
            listener, incoming, ..
        } = self;
        let make_room = || drop_oldest_stranger(incoming);
        listener.accept(&identity.poller, token, make_room, |socket| {
            accepted.push(socket);
        });
        for socket in accepted {
            self.watch_incoming(socket, now, is_ended, identity);
        }
    }

    fn watch_incoming(
        &mut self,
        socket: Socket,
        now: Instant,
        is_ended: &impl Fn(Peer) -> bool,
        identity: &Identity,
    ) {
        let strangers = self.incoming.iter().filter(|(_, one)| one.is_stranger());
        if strangers.count() >= MOST_STRANGERS {
            drop_oldest_stranger(&mut self.incoming);
        }
        let is_tuned = identity.tune(&socket, Purpose::Packets).is_ok();
        if !is_tuned || socket.set_nonblocking(true).is_err() {
            return;
        }
        let number = self.incoming.insert(Incoming::new(socket, now));
        let socket = &self.incoming.at(number).expect("just inserted").socket;
        let token = Token::Incoming(number).bits();
        match identity.poller.add(socket, token, Interest::Reading) {
            Ok(()) => self.step_incoming(number, is_ended, identity),
            Err(_) => self.refuse(number, None),
        }
    }

    pub(super) fn step_incoming(
        &mut self,
        number: usize,
        is_ended: &impl Fn(Peer) -> bool,
        identity: &Identity,
    ) {
        let Some(incoming) = self.incoming.at_mut(number) else {
            return;
        };
        match incoming.step(identity) {
            accepting::IncomingOutcome::Waits => {}
            accepting::IncomingOutcome::Over(refusal) => self.refuse(number, refusal),
            accepting::IncomingOutcome::Claims(hello) => {
                self.claimed(number, hello, is_ended, identity)
            }
            accepting::IncomingOutcome::Proven(hello) => {
                self.proven(number, hello, is_ended, identity)
            }
        }
    }

    /// Why this process has no such connection made to it, if it has not.
    fn refuses(
        &self,
        link: ConnectionName,
        is_ended: &impl Fn(Peer) -> bool,
        identity: &Identity,
    ) -> Option<Refusal> {
        if is_ended(link.peer) {
            return Some(Refusal::Ended);
        }
        if self.stand.contains(&link) {
            return Some(Refusal::Known);
        }
        let is_mine = link.purpose.is_stripe() && identity.rank < link.peer;
        is_mine.then_some(Refusal::Malformed)
    }

    /// Somebody has said the hello of a process of this job: rule 3.
    fn claimed(
        &mut self,
        number: usize,
        hello: Hello,
        is_ended: &impl Fn(Peer) -> bool,
        identity: &Identity,
    ) {
        let link = ConnectionName::of(&hello);
        if let Some(refusal) = self.refuses(link, is_ended, identity) {
            return self.refuse(number, Some(refusal));
        }
        let earlier = self.incoming.which(|one| one.is_of(link, false));
        for other in earlier.into_iter().filter(|&other| other != number) {
            let claim = self.incoming.at(other).and_then(Incoming::claim);
            if claim == Some(&hello) {
                return self.refuse(number, Some(Refusal::Known));
            }
            self.refuse(other, None);
        }
        let incoming = self.incoming.at_mut(number).expect("it has just claimed");
        match incoming.challenge(hello, identity) {
            Ok(()) => self.step_incoming(number, is_ended, identity),
            Err(()) => self.refuse(number, None),
        }
    }

    /// A process of this job has connected: rules 1 and 2.
    fn proven(
        &mut self,
        number: usize,
        hello: Hello,
        is_ended: &impl Fn(Peer) -> bool,
        identity: &Identity,
    ) {
        let link = ConnectionName::of(&hello);
        if let Some(refusal) = self.refuses(link, is_ended, identity) {
            return self.refuse(number, Some(refusal));
        }
        match self.dial_of(link) {
            Some(_) if identity.rank < hello.from => {
                // Of two that it has proved to have begun it has given up the first.
                for held in self.incoming.which(|one| one.is_of(link, true)) {
                    self.refuse(held, None);
                }
                let incoming = self.incoming.at_mut(number).expect("just proven");
                incoming.hold(hello);
            }
            // Who cannot be told any more has left this process's own attempt to go on.
            Some(own) if self.admit(number, link, identity) => self.drop_dial(own),
            Some(_) => {}
            None => drop(self.admit(number, link, identity)),
        }
    }

    /// Whether the connection stands.
    pub(super) fn admit(
        &mut self,
        number: usize,
        link: ConnectionName,
        identity: &Identity,
    ) -> bool {
        let incoming = self.incoming.remove(number).expect("proven");
        let is_told = incoming.say(Reply::Accepted).is_ok();
        if is_told {
            self.stands(link, incoming.socket, identity);
        }
        is_told
    }
}
