//! Connecting to a peer: its addresses are tried in order, the next one as soon as one fails or is slow; the first at which the
//! peer itself answers wins. Nothing here waits: each step does what can be done now.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};
use weft_credentials::random_nonce;
use weft_kernel::above_standard;
use weft_transport::progress_clock::ProgressClock;

use crate::card::Card;
use crate::handshake::{HELLO_BYTES, Hello, REPLY_BYTES, Refusal, Reply, prove};
use crate::identity::{ConnectionName, Identity, fill};
use crate::paths::Path;
use crate::silence::Silence;
use crate::system;

/// After so long the next address is tried beside this one.
const PATIENCE: Duration = Duration::from_millis(300);
/// An address at which nothing answers is given up after so long.
const CONNECT: Duration = Duration::from_secs(5);
/// All addresses are tried again after so long, if what failed may pass.
const AGAIN: Duration = Duration::from_millis(200);

/// The search for a way to a peer.
pub struct Dial {
    pub link: ConnectionName,
    pub card: Arc<Card>,
    addresses: Vec<IpAddr>,
    /// The address of this host's to connect from, if not any.
    pub source: Option<IpAddr>,
    next: usize,
    clock: ProgressClock,
    newest: Instant,
    /// What was tried in this round, and why it failed.
    failures: Vec<String>,
    /// Something that failed may pass.
    may_pass: bool,
    again: Option<Instant>,
}

/// One address that is being tried.
pub struct Attempt {
    pub dial: usize,
    pub socket: Socket,
    pub address: SocketAddr,
    /// Of its way from kernel to kernel.
    connecting: ProgressClock,
    /// The peer may compute for long before it answers: its host has to be heard of meanwhile.
    silence: Silence,
    phase: Phase,
    hello: [u8; HELLO_BYTES],
    buffer: [u8; REPLY_BYTES],
    filled: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Connecting,
    Challenge,
    Verdict,
}

/// Why an address is no way.
pub struct Failure {
    pub why: String,
    pub may_pass: bool,
}

/// What became of an attempt in a step.
pub enum AttemptOutcome {
    Waits,
    Accepted,
    Failed(Failure),
}

/// The attempts of a search.
#[derive(Clone, Copy)]
pub struct UnderWay {
    pub attempts: usize,
    /// The peer's host answers at one of them.
    pub is_answered: bool,
}

/// What becomes of a search.
pub enum Search {
    /// This address is to be tried.
    Try(SocketAddr),
    Waits,
    /// There is no way.
    Failed(String),
}

fn may_pass(error: &io::Error) -> bool {
    !matches!(
        error.raw_os_error(),
        Some(libc::ECONNREFUSED | libc::EACCES | libc::EPERM | libc::EAFNOSUPPORT | libc::EINVAL)
    )
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure {
            may_pass: may_pass(&error),
            why: match error.kind() {
                io::ErrorKind::UnexpectedEof => "it ended the connection".to_owned(),
                _ => system::explained(error).to_string(),
            },
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure {
            why: refusal.to_string(),
            may_pass: matches!(refusal, Refusal::Known | Refusal::Full),
        }
    }
}

impl Dial {
    /// By any of the peer's addresses.
    pub fn new(
        link: ConnectionName,
        card: Arc<Card>,
        addresses: Vec<IpAddr>,
        now: Instant,
    ) -> Dial {
        Dial {
            link,
            card,
            addresses,
            source: None,
            next: 0,
            clock: ProgressClock::default(),
            newest: now,
            failures: Vec::new(),
            may_pass: false,
            again: None,
        }
    }

    /// By one way alone, and tried once.
    pub fn by(path: Path, link: ConnectionName, card: Arc<Card>, now: Instant) -> Dial {
        Dial {
            source: Some(path.own),
            ..Dial::new(link, card, vec![path.theirs], now)
        }
    }

    pub fn failed(&mut self, address: SocketAddr, failure: Failure) {
        self.may_pass |= failure.may_pass;
        self.failures.push(format!("{address}: {}", failure.why));
    }

    /// What is to be done now, while those attempts are under way.
    pub fn go_on(&mut self, under_way: UnderWay, now: Instant, identity: &Identity) -> Search {
        let is_late = identity.timeout.is_some_and(|limit| {
            match under_way.is_answered {
                true => self.clock.look_at_answered(limit, now),
                false => _ = self.clock.look(limit, now),
            }
            self.clock.is_over(limit)
        });
        let under_way = under_way.attempts;
        if self.again.is_some_and(|again| now >= again) {
            self.clock.try_again();
            (self.again, self.next, self.may_pass) = (None, 0, false);
            self.failures.clear();
        }
        if self.again.is_some() {
            return Search::Waits;
        }
        let is_slow = now.duration_since(self.newest) >= PATIENCE;
        if let Some(&address) = self.addresses.get(self.next)
            && (under_way == 0 || is_slow)
        {
            self.next += 1;
            self.newest = now;
            return Search::Try(SocketAddr::new(address, self.card.port));
        }
        if under_way != 0 || self.next < self.addresses.len() {
            return Search::Waits;
        }
        if self.may_pass && !is_late && self.source.is_none() {
            self.again = Some(now + AGAIN);
            return Search::Waits;
        }
        Search::Failed(self.report(identity))
    }

    fn report(&self, identity: &Identity) -> String {
        let list = |addresses: &[IpAddr]| {
            let texts: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
            texts.join(", ")
        };
        let own: Vec<IpAddr> = identity.interfaces.iter().map(|one| one.address).collect();
        format!(
            "there is no way to it from here ({}) to its addresses ({}): {}",
            list(&own),
            list(&self.addresses),
            self.failures.join("; ")
        )
    }
}

impl Attempt {
    pub fn begin(dial: usize, address: SocketAddr, source: Option<IpAddr>) -> io::Result<Attempt> {
        let kind = Type::STREAM.nonblocking().cloexec();
        let domain = Domain::for_address(address);
        let socket = above_standard(|| Socket::new(domain, kind, Some(Protocol::TCP)))?;
        if let Some(source) = source {
            socket.bind(&SocketAddr::new(source, 0).into())?;
        }
        match socket.connect(&address.into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => {}
        }
        Ok(Attempt {
            dial,
            socket,
            address,
            connecting: ProgressClock::default(),
            silence: Silence::default(),
            phase: Phase::Connecting,
            hello: [0; HELLO_BYTES],
            buffer: [0; REPLY_BYTES],
            filled: 0,
        })
    }

    /// Whether the attempt waits for the kernels, not yet for the peer.
    pub fn is_connecting(&self) -> bool {
        self.phase == Phase::Connecting
    }

    /// Whether the kernels have connected, and the peer's has an answer to all that was said.
    pub fn is_answered(&self) -> bool {
        !self.is_connecting() && !self.silence.is_any()
    }

    /// Does what can be done now.
    pub fn step(
        &mut self,
        link: ConnectionName,
        card: &Card,
        now: Instant,
        identity: &Identity,
    ) -> AttemptOutcome {
        match self.advance(link, card, now, identity) {
            Ok(true) => AttemptOutcome::Accepted,
            Ok(false) => AttemptOutcome::Waits,
            Err(failure) => AttemptOutcome::Failed(failure),
        }
    }

    fn advance(
        &mut self,
        link: ConnectionName,
        card: &Card,
        now: Instant,
        identity: &Identity,
    ) -> Result<bool, Failure> {
        if self.phase == Phase::Connecting {
            if !self.is_connected(now)? {
                return Ok(false);
            }
            identity.tune(&self.socket, link.purpose)?;
            // Who is refused at once may be unable to say it, and is to hear why.
            if let Err(failure) = self.say_hello(link, card, identity) {
                let is_told = fill(&self.socket, &mut self.buffer, &mut self.filled)?;
                return match Reply::parse(&self.buffer) {
                    Some(Reply::Refused(refusal)) if is_told => Err(refusal.into()),
                    _ => Err(failure),
                };
            }
        }
        while fill(&self.socket, &mut self.buffer, &mut self.filled)? {
            self.filled = 0;
            match (self.phase, Reply::parse(&self.buffer)) {
                (Phase::Challenge, Some(Reply::Challenge { nonce, signature })) => {
                    let proof = prove(&card.key, &self.hello, &nonce, &signature);
                    self.send(&proof.ok_or_else(stranger)?)?;
                    self.phase = Phase::Verdict;
                }
                (Phase::Verdict, Some(Reply::Accepted)) => return Ok(true),
                (_, Some(Reply::Refused(refusal))) => return Err(refusal.into()),
                _ => return Err(stranger()),
            }
        }
        let unanswered = system::unanswered(&self.socket);
        match identity.silence(link.purpose) {
            Some(limit) if self.silence.lasts(limit, now, unanswered) => {
                Err(io::Error::from_raw_os_error(libc::ETIMEDOUT).into())
            }
            _ => Ok(false),
        }
    }

    fn is_connected(&mut self, now: Instant) -> Result<bool, Failure> {
        if let Some(error) = self.socket.take_error()? {
            return Err(error.into());
        }
        match self.socket.peer_addr() {
            // The kernel may connect a socket to itself, where nobody listens.
            Ok(peer) if self.socket.local_addr()?.as_socket() == peer.as_socket() => {
                Err(io::Error::from_raw_os_error(libc::ECONNREFUSED).into())
            }
            Ok(_) => Ok(true),
            Err(_) => {
                self.connecting.look_at_one_try(CONNECT, now);
                match self.connecting.is_over(CONNECT) {
                    true => Err(io::Error::from_raw_os_error(libc::ETIMEDOUT).into()),
                    false => Ok(false),
                }
            }
        }
    }

    fn say_hello(
        &mut self,
        link: ConnectionName,
        card: &Card,
        identity: &Identity,
    ) -> Result<(), Failure> {
        let hello = Hello {
            from: identity.rank,
            to: link.peer,
            lane: link.lane,
            purpose: link.purpose,
            job: identity.job,
            nonce: random_nonce()?,
        };
        self.hello = hello.put(&card.key);
        self.send(&self.hello)?;
        self.phase = Phase::Challenge;
        Ok(())
    }

    /// A new connection has room for what the handshake says.
    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        match self.socket.send_with_flags(bytes, libc::MSG_NOSIGNAL)? {
            sent if sent == bytes.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }
}

fn stranger() -> Failure {
    Failure {
        why: "what answers there is no process of this job".to_owned(),
        may_pass: false,
    }
}
