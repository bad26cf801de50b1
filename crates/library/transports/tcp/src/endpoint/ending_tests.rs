use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use weft_credentials::{JobHash, Key};
use weft_transport::{BulkDescriptor, Endpoint, Fabric, Header, Lost, Refused};

use crate::Options;
use crate::card::Card;
use crate::handshake::{HELLO_BYTES, Hello, Purpose, REPLY_BYTES, Refusal, Reply};
use crate::world::{Log, Process, linked_pair, memory, options, pair, turn, world_with};

/// Connects to a process as a stranger does.
fn stranger(process: &Process) -> TcpStream {
    let card = Card::parse(&process.fabric.card()).unwrap();
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, card.port)).unwrap();
    stream.set_nonblocking(true).unwrap();
    stream
}

/// What a process answers to these bytes of a stranger's; none if it ends the connection without.
fn answer(process: &mut Process, bytes: &[u8]) -> Option<Reply> {
    let mut stream = stranger(process);
    stream.write_all(bytes).unwrap();
    let begin = Instant::now();
    let mut reply = [0; REPLY_BYTES];
    let mut got = 0;
    while got < REPLY_BYTES {
        process.poll();
        match stream.read(&mut reply[got..]) {
            Ok(0) => return None,
            Ok(bytes) => got += bytes,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return None,
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "no answer");
    }
    Some(Reply::parse(&reply).unwrap())
}

fn hello(process: &Process) -> (Hello, Card) {
    let hello = Hello {
        from: 0,
        to: 1,
        lane: 0,
        purpose: Purpose::Packets,
        job: JobHash::of("test"),
        nonce: [3; 16],
    };
    (hello, Card::parse(&process.fabric.card()).unwrap())
}

#[test]
fn the_wrong_ones_are_refused() {
    let (_a, mut b) = pair();
    let (good, card) = hello(&b);
    let cases = [
        (
            Hello {
                job: JobHash::of("other"),
                ..good
            },
            Refusal::Job,
        ),
        (Hello { to: 0, ..good }, Refusal::Rank(1)),
        (Hello { from: 2, ..good }, Refusal::Malformed),
        (Hello { from: 1, ..good }, Refusal::Malformed),
        (Hello { lane: 2, ..good }, Refusal::Malformed),
    ];
    for (hello, refusal) in cases {
        let reply = answer(&mut b, &hello.put(&card.key));
        assert_eq!(reply, Some(Reply::Refused(refusal)));
    }
    let reply = answer(&mut b, &good.put(&Key::new([0; 16])));
    assert_eq!(reply, Some(Reply::Refused(Refusal::Key)));
    let reply = answer(&mut b, &[b'x'; HELLO_BYTES]);
    assert_eq!(reply, Some(Reply::Refused(Refusal::Malformed)));
    let challenged = answer(&mut b, &good.put(&card.key));
    assert!(matches!(challenged, Some(Reply::Challenge { .. })));
    // Whoever says a proof that is none has heard an earlier handshake at best.
    let another = Hello {
        nonce: [4; 16],
        ..good
    };
    let mut replayed = another.put(&card.key).to_vec();
    replayed.extend([7; 32]);
    let reply = answer(&mut b, &replayed);
    assert!(matches!(reply, Some(Reply::Challenge { .. })));
    assert_eq!(b.fabric.counters().links, 0);
}

#[test]
fn a_crowd_of_strangers_takes_bounded_room_and_blocks_nobody() {
    let (mut a, mut b) = pair();
    let mut crowd: Vec<TcpStream> = (0..300).map(|_| stranger(&b)).collect();
    for _ in 0..100 {
        b.poll();
    }
    assert!(
        (200..=256).contains(&b.fabric.pending()),
        "{}",
        b.fabric.pending()
    );
    assert_eq!(a.send(1, 0, &[]), Err(Refused::Connecting));
    turn(&mut [&mut a, &mut b], |all| all[0].log.writable == [1]);
    // Those that went were the oldest.
    for stream in &mut crowd[..300 - 256] {
        assert!(matches!(stream.read(&mut [0]), Ok(0)));
    }
}

/// Where all processes are of one host nobody else reaches them: they listen on the loopback interface's address alone.
#[test]
fn processes_of_one_host_listen_for_each_other_alone() {
    let within = Options {
        interfaces: Vec::new(),
        is_one_host: true,
        ..options()
    };
    let mut world = world_with(2, &within);
    let [a, b] = &mut world.all[..] else {
        unreachable!()
    };
    let card = Card::parse(&b.fabric.card()).unwrap();
    assert_eq!(card.addresses(), [Ipv4Addr::LOCALHOST]);
    // Of a process that listens on all addresses this is one.
    assert!(TcpStream::connect((Ipv4Addr::new(127, 0, 0, 2), card.port)).is_err());
    assert_eq!(a.send(1, 0, &[]), Err(Refused::Connecting));
    turn(&mut [a, b], |all| all[0].log.writable == [1]);
}

/// Passes the first connection to an address on to a process of this host.
fn relay(from: TcpListener, port: u16) {
    let pass = move || {
        let (near, _) = from.accept().unwrap();
        let far = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        for (mut from, mut to) in [(&near, &far), (&far, &near)]
            .map(|(from, to)| (from.try_clone().unwrap(), to.try_clone().unwrap()))
        {
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(std::net::Shutdown::Write);
            });
        }
    };
    std::thread::spawn(pass);
}

#[test]
fn an_address_that_leads_to_somebody_else_is_passed_over() {
    let mut world = world_with(3, &options());
    let card = |rank| Card::parse(&world.cards.0.lock().unwrap()[&rank]).unwrap();
    let (theirs, other) = (card(1), card(2));
    // At the first address rank 2 answers, at the second rank 1.
    let places = [Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 3)];
    let first = TcpListener::bind((places[0], 0)).unwrap();
    let port = first.local_addr().unwrap().port();
    relay(first, other.port);
    relay(TcpListener::bind((places[1], port)).unwrap(), theirs.port);
    let card = Card {
        interfaces: vec![places.map(Into::into).to_vec()],
        port,
        ..theirs
    };
    world.cards.0.lock().unwrap().insert(1, card.to_string());
    let [a, b, c] = &mut world.all[..] else {
        unreachable!()
    };
    assert_eq!(a.send(1, 0, b"for b"), Err(Refused::Connecting));
    turn(&mut [a, b, c], |all| all[0].log.writable == [1]);
    a.send(1, 0, b"for b").unwrap();
    turn(&mut [a, b, c], |all| !all[1].log.packets.is_empty());
    assert!(c.fabric.counters().links == 0 && a.log.lost.is_empty());
    // Where nobody else answers it is said who does.
    let card = Card {
        interfaces: vec![vec![Ipv4Addr::LOCALHOST.into()]],
        port: other.port,
        ..card
    };
    let mut second = world_with(2, &options());
    second.cards.0.lock().unwrap().insert(1, card.to_string());
    assert_eq!(second.all[0].send(1, 0, &[]), Err(Refused::Connecting));
    turn(&mut [&mut second.all[0], c], |all| {
        !all[0].log.lost.is_empty()
    });
    let why = &second.all[0].log.lost[&1];
    assert!(why.contains("rank 2 answers there"), "{why}");
}

#[test]
fn no_way_is_told_with_all_that_was_tried() {
    let world = world_with(2, &options());
    let mut all = world.all.into_iter();
    let (mut a, b) = (all.next().unwrap(), all.next().unwrap());
    let port = Card::parse(&b.fabric.card()).unwrap().port;
    drop(b);
    assert_eq!(a.send(1, 0, &[]), Err(Refused::Connecting));
    turn(&mut [&mut a], |all| !all[0].log.lost.is_empty());
    let why = &a.log.lost[&1];
    assert!(
        why.starts_with("rank 1 is lost: there is no way to it from here ("),
        "{why}"
    );
    assert!(
        why.contains(&format!("127.0.0.1:{port}: Connection refused")),
        "{why}"
    );
    assert!(
        why.contains(&format!("[::1]:{port}: Connection refused")),
        "{why}"
    );
    assert_eq!(a.send(1, 0, &[]), Err(Refused::Lost));
    assert!(a.log.writable.is_empty());
}

/// Ends a process's connections as the kernel does when it dies.
fn die(mut process: Process) {
    process.endpoint.die();
}

#[test]
fn a_death_is_told_after_what_was_sent_before() {
    let (mut a, mut b) = linked_pair();
    b.send(0, 5, b"last").unwrap();
    die(b);
    turn(&mut [&mut a], |all| !all[0].log.lost.is_empty());
    assert_eq!(a.log.packets.pop_front().unwrap().2, b"last");
    assert_eq!(a.log.lost[&1], "rank 1 is lost: its process has ended");
    assert_eq!(a.send(1, 0, &[]), Err(Refused::Lost));
}

#[test]
fn all_lanes_lose_a_peer() {
    let (mut a, mut b) = linked_pair();
    let (mut second, mut log) = (a.fabric.endpoint(1), Log::default());
    a.endpoint.end(1, &Lost("rank 1 sends nonsense".into()));
    a.poll();
    second.poll(&mut log);
    assert_eq!(a.log.lost[&1], "rank 1 sends nonsense");
    assert_eq!(log.lost[&1], "rank 1 sends nonsense");
    assert_eq!(
        second.send(1, Header([0, 0]), &[], true),
        Err(Refused::Lost)
    );
    turn(&mut [&mut b], |all| !all[0].log.lost.is_empty());
    assert!(b.log.lost[&0].contains("given up"), "{}", b.log.lost[&0]);
    // It is not taken back.
    assert_eq!(b.send(0, 0, &[]), Err(Refused::Lost));
}

#[test]
fn lies_end_the_peer_that_tells_them() {
    let descriptors: [[u64; 4]; 5] = [
        [1, 99, 0, 0],
        [1, 100, 101, 0],
        [1, 100, 0, 2],
        [u64::MAX, 1 << 40, 1 << 39, 1],
        [0, 100, u64::MAX, 0],
    ];
    for words in descriptors {
        let (_a, mut b) = linked_pair();
        let mut got = vec![0; 100];
        let descriptor = BulkDescriptor(words);
        let taken = b
            .endpoint
            .bulk_receive(0, descriptor, 100, memory(&mut got), 1);
        assert_eq!(taken, Err(Refused::Lost), "{words:?}");
        b.poll();
        assert!(
            b.log.lost[&0].contains("it sent a descriptor"),
            "{}",
            b.log.lost[&0]
        );
    }
}

#[test]
fn frames_that_are_none_end_the_peer_that_sends_them() {
    use crate::frame::{FrameKind, Head};
    let head = |kind, bytes, words| Head::new(kind, bytes, words).put().to_vec();
    let mut unknown = head(FrameKind::Packet, 0, [0, 0]);
    unknown[4] = 77;
    let mut after = head(FrameKind::Bye, 0, [0, 0]);
    after.extend(head(FrameKind::Packet, 0, [0, 0]));
    let cases = [
        (unknown, "a kind that is none"),
        (
            head(FrameKind::Packet, 1 << 20, [0, 0]),
            "longer than its kind may be",
        ),
        (head(FrameKind::Cts, 0, [5, 5]), "a CTS for no transfer"),
        (
            head(FrameKind::Credit, 0, [1, 0]),
            "credit for more than was sent",
        ),
        (head(FrameKind::Cancel, 0, [1, 1 << 30]), "taken back"),
        (
            head(FrameKind::Data, 8 << 20, [1, 0]),
            "more data than it may send",
        ),
        (
            head(FrameKind::Data, 10, [1, 5]),
            "data that are out of order",
        ),
        (
            head(FrameKind::Data, 0, [1, 0]),
            "more data than it may send",
        ),
        (after, "something after its goodbye"),
    ];
    for (bytes, what) in cases {
        let (mut a, mut b) = linked_pair();
        a.endpoint.scribble(1, &bytes);
        turn(&mut [&mut a, &mut b], |all| !all[1].log.lost.is_empty());
        let why = &b.log.lost[&0];
        assert!(
            why.starts_with("rank 0 is lost: it sent ") && why.contains(what),
            "{why}"
        );
        turn(&mut [&mut a, &mut b], |all| !all[0].log.lost.is_empty());
    }
}

#[test]
fn the_descriptor_wakes_a_sleeper() {
    let (mut a, mut b) = linked_pair();
    while b.poll() {}
    let ready = |process: &Process, timeout_ms| {
        let mut poll = libc::pollfd {
            fd: process.fabric.descriptor(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one entry, which lives on.
        unsafe { libc::poll(&mut poll, 1, timeout_ms) == 1 }
    };
    let arm = |b: &mut Process| {
        let ticket = b.fabric.prepare_sleep();
        (ticket, b.endpoint.arm())
    };
    assert_eq!((arm(&mut b).1, ready(&b, 0)), (false, false));
    a.send(1, 0, b"wakes").unwrap();
    assert!(ready(&b, 5000));
    b.endpoint.disarm();
    turn(&mut [&mut b], |all| !all[0].log.packets.is_empty());
    while b.poll() {}
    // Another thread of the process wakes it too, once.
    let (ticket, busy) = arm(&mut b);
    assert!(!busy && !ready(&b, 0));
    b.fabric.wake();
    assert!(ready(&b, 0));
    b.fabric.sleep(ticket, Some(5000));
    b.endpoint.disarm();
    while b.poll() {}
    assert!(!ready(&b, 0));
    // And so does a peer that nobody has heard of.
    let (ticket, _) = arm(&mut b);
    let _stranger = stranger(&b);
    assert!(ready(&b, 5000));
    b.fabric.sleep(ticket, Some(5000));
}
