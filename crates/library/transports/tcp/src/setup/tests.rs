//! Handshakes in virtual time, between processes that look at their connections when the test has them do so.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;

use weft_credentials::{JobHash, Key};

use super::*;
use crate::card::Card;
use crate::dialing::Search;
use crate::handshake::{HELLO_BYTES, Hello, Purpose, REPLY_BYTES, prove};
use crate::system::{Interest, Poller, Ticker};

const LIMIT: Duration = Duration::from_secs(30);
const HOUR: Duration = Duration::from_secs(3600);
const SECOND: Duration = Duration::from_secs(1);
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Of who waits while another computes: for twelve minutes.
const LOOKS: usize = 360;
const SIZE: u32 = 400;
/// Turns in which a handshake is over on the loopback interface, whose kernel hands on what is said at once.
const TURNS: usize = 20;

/// A process, as far as making connections goes.
struct Side {
    setup: Setup,
    identity: Identity,
    card: Arc<Card>,
    stood: Vec<ConnectionName>,
    sockets: Vec<Socket>,
    lost: Vec<String>,
}

impl Side {
    fn new(rank: Peer) -> Side {
        let (listener, port) = Listener::new(Some(HERE)).unwrap();
        let key = Key::new([rank as u8 + 1; 16]);
        let poller = Poller::new().unwrap();
        listener.watch(&poller, Token::Listener.bits()).unwrap();
        let interfaces = vec![vec![HERE]];
        Side {
            setup: Setup::new(listener),
            identity: Identity {
                rank,
                size: SIZE,
                lanes: 2,
                job: JobHash::of("test"),
                key,
                timeout: Some(LIMIT),
                interfaces: Vec::new(),
                told: Vec::new(),
                poller,
                ticker: Ticker::new().unwrap(),
            },
            card: Arc::new(Card {
                port,
                key,
                interfaces,
            }),
            stood: Vec::new(),
            sockets: Vec::new(),
            lost: Vec::new(),
        }
    }

    fn look(&mut self, now: Instant) {
        let mut tokens = Vec::new();
        let poller = &self.identity.poller;
        poller.wait(0, |bits| tokens.push(Token::of(bits)));
        for token in tokens.into_iter().chain([Token::Ticker]) {
            self.setup.handle(token, now, |_| false, &self.identity);
        }
        for outcome in self.setup.take_outcomes() {
            match outcome {
                Outcome::Stands(link, socket) => {
                    self.stood.push(link);
                    self.sockets.push(socket);
                }
                Outcome::Lost(_, lost) => self.lost.push(lost.to_string()),
            }
        }
    }

    /// Begins a connection as on a wire: that from kernel to kernel stands when it is next looked at.
    fn begin(&mut self, other: &Side, now: Instant) {
        let link = link_to(other.identity.rank);
        let mut dial = Dial::new(link, other.card.clone(), vec![HERE], now);
        let none = crate::dialing::UnderWay {
            attempts: 0,
            is_answered: false,
        };
        let Search::Try(address) = dial.go_on(none, now, &self.identity) else {
            panic!("an address is tried at once")
        };
        let dial = self.setup.dials.insert(dial);
        let attempt = Attempt::begin(dial, address, None).unwrap();
        let number = self.setup.attempts.insert(attempt);
        let socket = &self.setup.attempts.at(number).unwrap().socket;
        let token = Token::Attempt(number).bits();
        self.identity
            .poller
            .add(socket, token, Interest::Writing)
            .unwrap();
    }
}

fn link_to(peer: Peer) -> ConnectionName {
    ConnectionName {
        peer,
        lane: 0,
        purpose: Purpose::Packets,
    }
}

fn run(sides: &mut [&mut Side], now: &mut Instant, turns: usize, pause: Duration) {
    for _ in 0..turns {
        *now += pause;
        sides.iter_mut().for_each(|side| side.look(*now));
    }
}

fn is_connected(all: &[&Side]) -> bool {
    all.iter()
        .all(|one| one.lost.is_empty() && one.stood.len() == 1)
}

/// Who computes for long, after how many turns of a handshake, while the others look: nobody is lost, whoever has begun.
#[test]
fn a_process_that_computes_in_any_phase_is_waited_for() {
    for dials in [[true, false], [false, true], [true, true]] {
        for phase in 0..8 {
            for computes in [[true, false], [false, true], [true, true]] {
                let (mut a, mut b, mut now) = (Side::new(0), Side::new(1), Instant::now());
                if dials[0] {
                    a.begin(&b, now);
                }
                if dials[1] {
                    b.begin(&a, now);
                }
                for turn in 0..phase {
                    [&mut a, &mut b][turn % 2].look(now);
                }
                match computes {
                    [true, true] => now += HOUR,
                    [false, _] => run(&mut [&mut a], &mut now, LOOKS, 2 * SECOND),
                    [_, false] => run(&mut [&mut b], &mut now, LOOKS, 2 * SECOND),
                }
                run(&mut [&mut a, &mut b], &mut now, TURNS, TICK);
                let what = format!("{dials:?} begin, {computes:?} compute after {phase} turns");
                assert!(is_connected(&[&a, &b]), "{what}: {:?} {:?}", a.lost, b.lost);
            }
        }
    }
}

/// It calls MPI for a moment now and then, so that each step of the handshake takes that long.
#[test]
fn a_process_that_looks_now_and_then_gets_there() {
    for pause in [SECOND, 10 * SECOND, HOUR] {
        let (mut a, mut b, mut now) = (Side::new(0), Side::new(1), Instant::now());
        a.begin(&b, now);
        for _ in 0..TURNS {
            run(&mut [&mut b], &mut now, 20, pause / 20);
            a.look(now);
        }
        assert!(is_connected(&[&a, &b]), "{:?} {:?}", a.lost, b.lost);
    }
}

/// What the accepting side drops for want of room is begun again, whenever that is.
#[test]
fn what_was_dropped_is_begun_again() {
    let (mut a, mut b, mut now) = (Side::new(0), Side::new(1), Instant::now());
    a.begin(&b, now);
    run(&mut [&mut a], &mut now, LOOKS, 2 * SECOND);
    // It is heard of, and dropped.
    b.look(now);
    b.setup.incoming = Slab::new();
    run(&mut [&mut a, &mut b], &mut now, TURNS, TICK);
    assert!(is_connected(&[&a, &b]), "{:?} {:?}", a.lost, b.lost);
}

/// At its address nobody of the job answers: that is found out in time, but not because this process has not looked.
#[test]
fn a_peer_that_is_not_there_is_given_up_in_time() {
    for computes in [Duration::ZERO, HOUR] {
        let other = TcpListener::bind((HERE, 0)).unwrap();
        let port = other.local_addr().unwrap().port();
        other.set_nonblocking(true).unwrap();
        let (mut a, b, mut now) = (Side::new(0), Side::new(1), Instant::now());
        let nobody = Card {
            port,
            ..(*b.card).clone()
        };
        let nobody = Side {
            card: Arc::new(nobody),
            ..b
        };
        let begin = now;
        a.begin(&nobody, now);
        let (mut tries, mut tries_before) = (0, 0);
        for turn in 0..2000 {
            if turn == 200 {
                (now, tries_before) = (now + computes, tries);
            }
            tries += usize::from(other.accept().is_ok());
            now += TICK;
            a.look(now);
            if !a.lost.is_empty() {
                break;
            }
        }
        let lasted = now - begin - computes;
        // Of the hour a moment counts.
        let expected = LIMIT - 2 * SECOND..LIMIT + 2 * SECOND;
        assert!(expected.contains(&lasted), "{lasted:?}");
        assert!(
            tries > tries_before + 10,
            "{tries_before} and {tries} tries"
        );
    }
}

/// A process that says no more than a test has it say.
struct Puppet {
    stream: TcpStream,
    hello: [u8; HELLO_BYTES],
}

impl Puppet {
    fn new(from: Peer, nonce: u8, to: &Side) -> Puppet {
        let hello = Hello {
            from,
            to: to.identity.rank,
            lane: 0,
            purpose: Purpose::Packets,
            job: to.identity.job,
            nonce: [nonce; 16],
        };
        let hello = hello.put(&to.card.key);
        let mut stream = TcpStream::connect((HERE, to.card.port)).unwrap();
        stream.write_all(&hello).unwrap();
        stream.set_nonblocking(true).unwrap();
        Puppet { stream, hello }
    }

    fn answer(&mut self) -> Option<Reply> {
        let mut reply = [0; REPLY_BYTES];
        let got = self.stream.read(&mut reply).ok()?;
        (got == REPLY_BYTES).then(|| Reply::parse(&reply).unwrap())
    }

    fn prove(&mut self, to: &Side) {
        let Some(Reply::Challenge { nonce, signature }) = self.answer() else {
            panic!("a hello of this job is challenged")
        };
        let proof = prove(&to.card.key, &self.hello, &nonce, &signature).unwrap();
        self.stream.write_all(&proof).unwrap();
    }
}

/// As many as a process of a large job may have: each has said hello, and computes.
#[test]
fn however_many_begin_at_once_and_compute_all_are_heard() {
    let (mut to, mut now) = (Side::new(0), Instant::now());
    let mut all = Vec::new();
    for from in 1..=300 {
        all.push(Puppet::new(from, 1, &to));
        to.look(now);
    }
    run(&mut [&mut to], &mut now, LOOKS, 2 * SECOND);
    for puppet in &mut all {
        puppet.prove(&to);
        to.look(now);
    }
    run(&mut [&mut to], &mut now, TURNS, TICK);
    let accepted = all.iter_mut().filter_map(Puppet::answer);
    assert_eq!(
        accepted.filter(|reply| *reply == Reply::Accepted).count(),
        300
    );
    assert_eq!((to.stood.len(), to.setup.pending()), (300, 0));
}

/// Who has heard a hello repeats it, before the one who said it has proved who that is and after, and another one of the same process's.
#[test]
fn hellos_that_are_repeated_hold_nothing() {
    let (mut to, mut now) = (Side::new(1), Instant::now());
    let old = Puppet::new(0, 1, &to);
    run(&mut [&mut to], &mut now, TURNS, TICK);
    let mut honest = Puppet::new(0, 2, &to);
    run(&mut [&mut to], &mut now, TURNS, TICK);
    let mut repeated = Vec::new();
    for _ in 0..100 {
        repeated.push(Puppet::new(0, 2, &to));
        to.look(now);
        assert!(to.setup.incoming.len() <= 2, "{}", to.setup.incoming.len());
    }
    honest.prove(&to);
    run(&mut [&mut to], &mut now, TURNS, TICK);
    assert_eq!(honest.answer(), Some(Reply::Accepted));
    for nonce in [1, 2].repeat(100) {
        repeated.push(Puppet::new(0, nonce, &to));
        to.look(now);
        assert!(to.setup.incoming.len() <= 1, "{}", to.setup.incoming.len());
    }
    let mut another = Side::new(2);
    another.begin(&to, now);
    run(&mut [&mut to, &mut another], &mut now, TURNS, TICK);
    assert_eq!(to.stood, [link_to(0), link_to(2)]);
    drop((old, repeated));
}
