use super::*;
use crate::frame::{FrameKind, Head};
use crate::world::{Log, Random, memory};

/// A stream of packets and of data that were asked for, cut anywhere, is read as it was written.
#[test]
fn a_stream_may_come_in_any_pieces() {
    for seed in 1..40 {
        let mut random = Random(seed);
        let mut bytes = Vec::new();
        let (mut packets, mut data) = (Vec::new(), Vec::new());
        for tag in 0..50u64 {
            let length = random.below(200) as usize;
            let content = random.bytes(length + 1);
            if random.below(3) == 0 {
                let words = [1, data.len() as u64];
                bytes.extend(Head::new(FrameKind::Data, content.len(), words).put());
                data.extend_from_slice(&content);
            } else {
                let words = [tag, 0];
                bytes.extend(Head::new(FrameKind::Packet, content.len(), words).put());
                packets.push(content.clone());
            }
            bytes.extend(content);
        }
        let mut got = vec![0; data.len()];
        let (mut streams, mut log) = (Streams::default(), Log::default());
        let total = data.len();
        let words = [1, total as u64, total as u64, 0];
        // SAFETY: the memory lives longer than the streams, and is looked at after.
        unsafe { streams.take_up(words, total, memory(&mut got)) }.unwrap();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let piece = rest.len().min(1 + random.below(100) as usize);
            streams
                .feed(Connection::Packets, &rest[..piece], &mut log)
                .unwrap();
            rest = &rest[piece..];
        }
        assert_eq!(streams.kept_bytes(), 0);
        drop(streams);
        assert!(got == data, "seed {seed}");
        let read = log.packets.into_iter().map(|(_, _, payload)| payload);
        assert!(read.eq(packets), "seed {seed}");
    }
}

/// However much a peer sends unasked, no more is kept than it may.
#[test]
fn what_comes_unasked_has_a_bound() {
    let (mut streams, mut log) = (Streams::default(), Log::default());
    let content = vec![5; 100 << 10];
    let mut ended = None;
    for transfer in 1..100 {
        let head = Head::new(FrameKind::Data, content.len(), [transfer, 0]).put();
        // One feed announces, the next comes after the engine's turn.
        let fed = streams
            .feed(Connection::Packets, &head, &mut log)
            .and_then(|()| streams.feed(Connection::Packets, &content, &mut log))
            .and_then(|()| streams.feed(Connection::Packets, &[], &mut log));
        if let Err(why) = fed {
            ended = Some(why);
            break;
        }
    }
    assert_eq!(ended.as_deref(), Some("more data than it may send"));
    let most = crate::sending::UNASKED_BYTES;
    assert!((most - content.len()..=most).contains(&streams.kept_bytes()));
}

/// Data were announced as long, and then their transfer as short, or as taken back.
#[test]
fn a_transfer_may_not_change_its_length() {
    for is_cancelled in [false, true] {
        let (mut streams, mut log) = (Streams::default(), Log::default());
        let mut got = vec![0; 10];
        let head = Head::new(FrameKind::Data, 100, [1, 0]).put();
        streams.feed(Connection::Bulk, &head, &mut log).unwrap();
        if is_cancelled {
            let cancel = Head::new(FrameKind::Cancel, 0, [1, 10]).put();
            streams
                .feed(Connection::Packets, &cancel, &mut log)
                .unwrap();
        } else {
            // SAFETY: the memory lives longer than the streams.
            unsafe { streams.take_up([1, 10, 10, 1], 10, memory(&mut got)) }.unwrap();
        }
        let fed = streams.feed(Connection::Bulk, &[1; 100], &mut log);
        assert_eq!(fed.unwrap_err(), "more of a transfer than it announced");
        drop(streams);
        assert_eq!(got, [0; 10]);
    }
}

/// A transfer of 100 bytes, of which 10 come in order, into the middle of other memory.
fn with_transfer(memory_around: &mut [u8; 120]) -> (Streams, Log) {
    let mut streams = Streams::default();
    // SAFETY: the memory lives longer than the streams, and is looked at after.
    unsafe { streams.take_up([1, 100, 10, 1], 100, memory(&mut memory_around[10..110])) }.unwrap();
    (streams, Log::default())
}

fn stripe(id: u64, begin: usize, bytes: &[u8]) -> Vec<u8> {
    let head = Head::new(FrameKind::Stripe, bytes.len(), [id, begin as u64]);
    [&head.put()[..], bytes].concat()
}

/// As after a connection has failed: stripes come twice, in any order, and some after all has come.
#[test]
fn stripes_may_come_again() {
    let mut around = [0xa5; 120];
    let (mut streams, mut log) = with_transfer(&mut around);
    let content: Vec<u8> = (0..100).collect();
    let part = |begin: usize, end: usize| stripe(1, begin, &content[begin..end]);
    let mut feed = |connection, bytes: &[u8]| streams.feed(connection, bytes, &mut log);
    let prefix = [
        &Head::new(FrameKind::Data, 10, [1, 0]).put(),
        &content[..10],
    ]
    .concat();
    // The connection fails in the midst of this one.
    feed(Connection::Stripe, &part(40, 90)[..50]).unwrap();
    for (begin, end) in [(90, 100), (10, 60), (30, 90)] {
        feed(Connection::Bulk, &part(begin, end)).unwrap();
    }
    feed(Connection::Bulk, &prefix).unwrap();
    // It is whole: what else comes is dropped.
    feed(Connection::Bulk, &stripe(1, 20, &[7; 50])).unwrap();
    feed(Connection::Stripe, &[7; 24]).unwrap();
    let wholes: Vec<u64> = streams.link.receiving.take_wholes().collect();
    assert_eq!(
        (wholes, streams.link.receiving.take_done().count()),
        (vec![1], 1)
    );
    drop(streams);
    assert_eq!(around[10..110], content);
    assert!(around[..10] == [0xa5; 10] && around[110..] == [0xa5; 10]);
}

#[test]
fn stripes_that_are_none_end_the_peer() {
    let whole = Head::new(FrameKind::Whole, 0, [1, 0]).put().to_vec();
    let data = Head::new(FrameKind::Data, 10, [1, 0]).put().to_vec();
    let late = Head::new(FrameKind::Data, 20, [1, 0]).put().to_vec();
    let (before, behind) = (stripe(1, 9, &[1; 10]), stripe(1, 91, &[1; 10]));
    let far = Head::new(FrameKind::Stripe, 10, [1, u64::MAX])
        .put()
        .to_vec();
    for (connection, bytes, why) in [
        (Connection::Stripe, before, "a stripe of no transfer"),
        (Connection::Bulk, behind, "a stripe of no transfer"),
        (Connection::Stripe, far, "a stripe of no transfer"),
        (
            Connection::Stripe,
            stripe(1, 50, &[]),
            "a stripe of no transfer",
        ),
        (
            Connection::Bulk,
            stripe(2, 50, &[1]),
            "a stripe of no transfer",
        ),
        (
            Connection::Packets,
            stripe(1, 50, &[1]),
            "data on a connection",
        ),
        (Connection::Stripe, data, "data on a connection"),
        (
            Connection::Stripe,
            whole.clone(),
            "a message on a connection",
        ),
        (
            Connection::Packets,
            whole,
            "news of a transfer that did not",
        ),
    ] {
        let mut around = [0; 120];
        let (mut streams, mut log) = with_transfer(&mut around);
        let lie = streams.feed(connection, &bytes, &mut log).unwrap_err();
        assert!(lie.starts_with(why), "{connection:?}: {lie}, not {why}");
    }
    // Once stripes have come no more comes in order than was announced.
    let mut around = [0; 120];
    let (mut streams, mut log) = with_transfer(&mut around);
    streams
        .feed(Connection::Bulk, &stripe(1, 50, &[1]), &mut log)
        .unwrap();
    let lie = streams.feed(Connection::Bulk, &late, &mut log);
    assert_eq!(lie.unwrap_err(), "more data than it may send");
}

/// The engine takes back what the receiver says it has not taken up, though it had.
#[test]
fn a_transfer_in_stripes_may_be_taken_back() {
    let mut source = vec![1; 3 << 20];
    let (mut streams, mut log) = (Streams::default(), Log::default());
    // SAFETY: the memory lives longer than the streams.
    unsafe { streams.open_striped(memory(&mut source)) };
    assert!(streams.link.sending.stripes.has_left());
    streams.cancel();
    let over = Head::new(FrameKind::StripeOver, 0, [0, 0]).put();
    streams.feed(Connection::Packets, &over, &mut log).unwrap();
    assert!(!streams.link.sending.stripes.has_left());
    let whole = Head::new(FrameKind::Whole, 0, [1, 0]).put();
    let lie = streams.feed(Connection::Packets, &whole, &mut log);
    assert!(
        lie.unwrap_err()
            .starts_with("news of a transfer that did not")
    );
}

#[test]
fn the_pieces_of_a_transfer_have_a_bound() {
    let mut target = vec![0; 100_000];
    let (mut streams, mut log) = (Streams::default(), Log::default());
    // SAFETY: the memory lives longer than the streams.
    unsafe { streams.take_up([1, 100_000, 0, 1], 100_000, memory(&mut target)) }.unwrap();
    let lie = (0..50_000).find_map(|number| {
        let one = stripe(1, 2 * number, &[1]);
        streams.feed(Connection::Stripe, &one, &mut log).err()
    });
    assert_eq!(lie.as_deref(), Some("a transfer in too many pieces"));
}

#[test]
fn the_handshake_reads_what_it_writes() {
    handshake(b"tcp1:7:000102030405060708090a0b0c0d0e0f:10.0.0.1");
    handshake(&[0; 200]);
}

/// What a receiver may say of a transfer, again and again, in any order, of transfers that were told to it and of others. What is on the way
/// unasked is, at all times, what no word of its has been believed about.
#[test]
fn credit_is_given_once() {
    let mut data = vec![1; 2 << 20];
    let bytes = data.len();
    let mut lies = |words: &[(FrameKind, [u64; 2])], is_told: bool| {
        let mut streams = Streams::default();
        let mut log = Log::default();
        let source = memory(&mut data);
        let sending = &mut streams.link.sending;
        let [id, _, prefix, _] = match is_told {
            // SAFETY: the memory lives longer than the streams.
            true => unsafe { streams.open(source) }.0,
            // SAFETY: likewise.
            false => sending.open(unsafe { Source::new(source) }, 1).0,
        };
        assert!(prefix > 0 && prefix < bytes as u64);
        let say = |&(kind, [first, second]): &(FrameKind, [u64; 2])| {
            let first = if kind == FrameKind::Credit {
                prefix
            } else {
                id + first
            };
            let head = Head::new(kind, 0, [first, second]).put();
            streams.feed(Connection::Packets, &head, &mut log)
        };
        words.iter().try_for_each(say)
    };
    let (cts, credit) = (
        (FrameKind::Cts, [0, bytes as u64]),
        (FrameKind::Credit, [0, 0]),
    );
    assert_eq!(lies(&[cts], true), Ok(()));
    for words in [&[credit, cts][..], &[cts, credit], &[cts, cts], &[credit]] {
        assert!(lies(words, true).is_err(), "{words:?}");
    }
    // The receiver cannot know of it.
    for words in [&[cts][..], &[credit]] {
        assert!(lies(words, false).is_err(), "{words:?}");
    }
}

/// The same by chance, with transfers that are taken back: nothing overflows, and the bound holds.
#[test]
fn whatever_a_receiver_says_what_is_unasked_has_its_bound() {
    let mut data = vec![1; 2 << 20];
    for seed in 1..1000 {
        let (mut random, mut streams, mut log) = (Random(seed), Streams::default(), Log::default());
        let (mut ended, mut opened) = (false, 0);
        while !ended {
            match random.below(4) {
                0 => streams.cancel(),
                1 => {
                    // Half of them are sent unasked in part.
                    let bytes = 1 + random.below(data.len() as u64) as usize;
                    let source = memory(&mut data[..bytes]);
                    // SAFETY: the memory lives longer than the streams.
                    unsafe { streams.open(source) };
                    opened += 1;
                }
                _ => {
                    let (kind, words) = match random.below(2) {
                        0 => (
                            FrameKind::Cts,
                            [1 + random.below(opened + 1), random.below(1 << 20)],
                        ),
                        _ => (FrameKind::Credit, [random.below(256 << 10), 0]),
                    };
                    let head = Head::new(kind, 0, words).put();
                    ended = streams.feed(Connection::Packets, &head, &mut log).is_err();
                }
            }
            assert!(streams.link.sending.unasked_bytes() <= crate::sending::UNASKED_BYTES);
        }
    }
}
