//! The attempts of others: who has connected is heard, and admitted by the rules above.

use std::time::Instant;

use socket2::Socket;
use weft_transport::Peer;

use super::Setup;
use crate::accepting::{self, Incoming};
use crate::handshake::{Hello, Refusal, Reply};
use crate::identity::{Identity, Link};
use crate::system::Interest;
use crate::token::Token;

/// Connections of strangers that are kept at once.
const MOST_INCOMING: usize = 256;

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
        self.listener
            .accept(&identity.poller, token, |socket| accepted.push(socket));
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
        if self.incoming.len() >= MOST_INCOMING && !self.drop_oldest_stranger() {
            return;
        }
        if socket.set_nonblocking(true).is_err() {
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

    fn drop_oldest_stranger(&mut self) -> bool {
        let strangers = self.incoming.iter().filter(|(_, one)| one.is_stranger());
        let oldest = strangers.min_by_key(|(_, one)| one.begun());
        let oldest = oldest.map(|(number, _)| number);
        oldest.is_some_and(|number| self.incoming.remove(number).is_some())
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
            accepting::Step::Waits => {}
            accepting::Step::Over(refusal) => self.refuse(number, refusal),
            accepting::Step::Proven(hello) => self.proven(number, hello, is_ended, identity),
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
        let link = Link::of(&hello);
        if is_ended(hello.from) {
            return self.refuse(number, Some(Refusal::Ended));
        }
        if self.stand.contains(&link) {
            return self.refuse(number, Some(Refusal::Known));
        }
        if link.purpose.is_stripe() && identity.rank < hello.from {
            return self.refuse(number, Some(Refusal::Malformed));
        }
        match self.dial_of(link) {
            Some(_) if identity.rank < hello.from => {
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
    pub(super) fn admit(&mut self, number: usize, link: Link, identity: &Identity) -> bool {
        let incoming = self.incoming.remove(number).expect("proven");
        let is_told = incoming.say(Reply::Accepted).is_ok();
        if is_told {
            self.stands(link, incoming.socket, identity);
        }
        is_told
    }
}
