//! All connections of a process that do not stand yet.
//!
//! Whoever polls the process's descriptors drives them, a step at a time, and none of the steps waits. Two processes may begin the
//! same connection at once: the one that the lower rank has begun counts. So
//! 1. the higher rank accepts what the lower one has begun, and drops its own attempt;
//! 2. the lower rank holds what the higher one has begun until its own attempt is over: if that was accepted, it refuses the other,
//!    and if there was no way, it accepts it.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use socket2::Socket;
use weft_transport::{Lost, Peer};

use crate::accepting::{self, Incoming};
use crate::card::Card;
use crate::dialing::{self, Attempt, Dial, Search};
use crate::endings::lost;
use crate::handshake::{Hello, Refusal, Reply};
use crate::identity::{Identity, Link};
use crate::listener::Listener;
use crate::slab::Slab;
use crate::system::Interest;

/// Connections of strangers that are kept at once.
const MOST_INCOMING: usize = 256;
/// How often time-outs are looked at while there are any.
const TICK: Duration = Duration::from_millis(50);

/// What a token of the process's poller names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    Lane(u32),
    Listener,
    Bell,
    Ticker,
    Attempt(usize),
    Incoming(usize),
}

impl Token {
    pub fn bits(self) -> u64 {
        let (kind, number) = match self {
            Token::Lane(lane) => (0, lane as usize),
            Token::Listener => (1, 0),
            Token::Bell => (2, 0),
            Token::Ticker => (3, 0),
            Token::Attempt(number) => (4, number),
            Token::Incoming(number) => (5, number),
        };
        kind << 32 | number as u64
    }

    pub fn of(bits: u64) -> Token {
        let number = bits as u32 as usize;
        match bits >> 32 {
            0 => Token::Lane(number as u32),
            1 => Token::Listener,
            2 => Token::Bell,
            3 => Token::Ticker,
            4 => Token::Attempt(number),
            _ => Token::Incoming(number),
        }
    }
}

/// What became of a connection.
pub enum Outcome {
    Stands(Link, Socket),
    Lost(Peer, Lost),
}

pub struct Setup {
    listener: Listener,
    is_ticking: bool,
    dials: Slab<Dial>,
    attempts: Slab<Attempt>,
    incoming: Slab<Incoming>,
    /// Connections that stand, or stood.
    stand: BTreeSet<Link>,
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
    pub fn dial(&mut self, link: Link, card: Arc<Card>, order: Vec<IpAddr>, identity: &Identity) {
        if self.stand.contains(&link) || self.dial_of(link).is_some() {
            return;
        }
        let now = Instant::now();
        let dial = self.dials.insert(Dial::new(link, card, order, now));
        self.search(dial, now, identity);
        self.tick_if_needed(identity);
    }

    /// Does what an event of the process's poller asks for.
    pub fn handle(&mut self, token: Token, is_ended: impl Fn(Peer) -> bool, identity: &Identity) {
        let now = Instant::now();
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

    fn dial_of(&self, link: Link) -> Option<usize> {
        self.dials.which(|dial| dial.link == link).first().copied()
    }

    fn drop_dial(&mut self, dial: usize) {
        self.dials.remove(dial);
        for attempt in self.attempts.which(|attempt| attempt.dial == dial) {
            self.attempts.remove(attempt);
        }
    }

    /// Tries the peer's next address, if it is time.
    fn search(&mut self, number: usize, now: Instant, identity: &Identity) {
        loop {
            let under_way = self.attempts.which(|attempt| attempt.dial == number).len();
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
                Search::Try(address) => match Attempt::begin(number, address, now) {
                    Ok(attempt) => self.watch_attempt(attempt, now, identity),
                    Err(error) => dial.failed(address, error.into()),
                },
            }
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

    fn step_attempt(&mut self, number: usize, now: Instant, identity: &Identity) {
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
        let of_link = |incoming: &Incoming| incoming.held().map(Link::of) == Some(link);
        let held = self.incoming.which(of_link).first().copied();
        if !held.is_some_and(|held| self.admit(held, link, identity)) {
            let lost = lost(link.peer, why);
            self.outcomes.push(Outcome::Lost(link.peer, lost));
        }
    }

    fn refuse_held(&mut self, link: Link) {
        let of_link = |incoming: &Incoming| incoming.held().map(Link::of) == Some(link);
        for held in self.incoming.which(of_link) {
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

    fn stands(&mut self, link: Link, socket: Socket, identity: &Identity) {
        identity.poller.remove(&socket);
        match identity.tune(&socket) {
            Ok(()) => {
                self.stand.insert(link);
                self.outcomes.push(Outcome::Stands(link, socket));
            }
            Err(error) => {
                let why = format!("its connection cannot be prepared: {error}");
                self.outcomes
                    .push(Outcome::Lost(link.peer, lost(link.peer, why)));
            }
        }
    }

    /// Accepts who has connected.
    fn accept(&mut self, now: Instant, is_ended: &impl Fn(Peer) -> bool, identity: &Identity) {
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

    fn step_incoming(
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
    fn admit(&mut self, number: usize, link: Link, identity: &Identity) -> bool {
        let incoming = self.incoming.remove(number).expect("proven");
        let is_told = incoming.say(Reply::Accepted).is_ok();
        if is_told {
            self.stands(link, incoming.socket, identity);
        }
        is_told
    }

    /// Looks at all that may have become late.
    fn tick(&mut self, now: Instant, is_ended: &impl Fn(Peer) -> bool, identity: &Identity) {
        identity.ticker.clear();
        self.listener
            .resume(&identity.poller, Token::Listener.bits());
        for number in self.incoming.which(|incoming| incoming.is_late(now)) {
            self.incoming.remove(number);
        }
        for number in self.attempts.which(Attempt::is_connecting) {
            self.step_attempt(number, now, identity);
        }
        for number in self.dials.which(|_| true) {
            self.search(number, now, identity);
        }
        let ended = self.dials.which(|dial| is_ended(dial.link.peer));
        ended.into_iter().for_each(|dial| self.drop_dial(dial));
    }

    fn tick_if_needed(&mut self, identity: &Identity) {
        let needed = self.listener.is_paused() || self.pending() != 0;
        if needed != self.is_ticking {
            self.is_ticking = needed;
            identity
                .ticker
                .set(if needed { TICK } else { Duration::ZERO });
        }
    }
}
