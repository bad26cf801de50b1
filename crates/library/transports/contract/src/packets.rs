//! Packets.

use std::collections::VecDeque;

use weft_transport::{Endpoint, Header, Peer, Refused};

use crate::process::{Process, Tested, linked_pair, turn, world};
use crate::random::Random;

pub fn every_length_arrives<F: Tested>() {
    let (mut a, mut b) = linked_pair::<F>();
    let mut random = Random(1);
    let most = a.endpoint.eager_limit(1);
    for bytes in (0..100).chain([127, 1000, 8191, 8192, most - 1, most]) {
        let payload = random.bytes(bytes);
        while a.send(1, bytes as u64, &payload).is_err() {
            a.poll();
        }
        turn(&mut [&mut a, &mut b], |all| !all[1].log.packets.is_empty());
        let (from, header, got) = b.log.packets.pop_front().unwrap();
        assert_eq!((from, header.0), (0, [bytes as u64, !(bytes as u64)]));
        assert_eq!(got, payload);
    }
    assert!(!b.poll() && b.log.packets.is_empty());
}

pub fn send_with_writes_the_payload<F: Tested>() {
    let (mut a, mut b) = linked_pair::<F>();
    for bytes in [0, 5, 40, 3000] {
        let header = Header([1, 2]);
        let fill = |out: &mut [u8]| out.fill(9);
        a.endpoint.send_with(1, header, bytes, false, fill).unwrap();
        turn(&mut [&mut a, &mut b], |all| !all[1].log.packets.is_empty());
        assert_eq!(b.log.packets.pop_front().unwrap().2, vec![9; bytes]);
    }
}

/// What was sent and has not come.
type Queue = VecDeque<(u64, Vec<u8>)>;

/// Random traffic among four, against queues.
pub fn random_traffic<F: Tested>() {
    for seed in 1..6 {
        let mut random = Random(seed);
        let mut all = world::<F>(4);
        let most = all[0].endpoint.eager_limit(1) as u64;
        let mut oracle: Vec<Vec<Queue>> = vec![vec![VecDeque::new(); 4]; 4];
        let take = |me: usize, all: &mut [Process<F>], oracle: &mut [Vec<Queue>]| {
            all[me].poll();
            while let Some((from, header, payload)) = all[me].log.packets.pop_front() {
                let expected = oracle[from as usize][me].pop_front().expect("was sent");
                assert_eq!((header.0[0], payload), expected);
            }
        };
        // On a busy machine links are made late, and most is refused until then.
        let (mut refused, mut accepted) = (0, 0);
        let begin = std::time::Instant::now();
        for number in 0u64.. {
            if number >= 6000 && accepted > 500 || begin.elapsed().as_secs() > 60 {
                break;
            }
            let me = random.below(4) as usize;
            if random.below(2 + 20 * (seed % 3)) == 0 {
                take(me, &mut all, &mut oracle);
                continue;
            }
            let to = ((me as u64 + 1 + random.below(3)) % 4) as usize;
            let limit = [most + 1, 60, 60, 60][random.below(4) as usize];
            let bytes = random.below(limit) as usize;
            let payload = random.bytes(bytes);
            match all[me].send(to as Peer, number, &payload) {
                Ok(()) => {
                    oracle[me][to].push_back((number, payload));
                    accepted += 1;
                }
                Err(Refused::Busy | Refused::Connecting) => refused += 1,
                Err(other) => panic!("{other:?}"),
            }
        }
        assert!(
            refused > 0 && accepted > 500,
            "{refused} refused, {accepted} not"
        );
        let begin = std::time::Instant::now();
        while oracle.iter().flatten().any(|queue| !queue.is_empty()) {
            (0..4).for_each(|me| take(me, &mut all, &mut oracle));
            assert!(begin.elapsed().as_secs() < 20);
        }
        assert!(all.iter().all(|one| one.log.lost.is_empty()));
    }
}

pub fn throttled_packets_are_refused_until_the_peer_resumes<F: Tested>() {
    let (mut a, mut b) = linked_pair::<F>();
    for on in [true, false] {
        b.endpoint.throttle(0, on);
        for _ in 0..400 {
            a.poll();
            b.poll();
        }
        let header = Header([1, 1]);
        let expected = if on { Err(Refused::Throttled) } else { Ok(()) };
        assert_eq!(a.endpoint.send(1, header, &[], true), expected);
        assert_eq!(a.endpoint.send(1, header, &[], false), Ok(()));
    }
    turn(&mut [&mut a, &mut b], |all| all[1].log.packets.len() == 3);
}

/// A sender that is not listened to is refused in the end; `check` is told after how many of the longest packets, and all of them come
/// once the receiver takes part again.
pub fn an_unready_receiver_holds<F: Tested>(
    (mut a, mut b): (Process<F>, Process<F>),
    check: impl FnOnce(&mut Process<F>, &mut Process<F>, u64),
) {
    let payload = vec![9; a.endpoint.eager_limit(1)];
    let (mut sent, mut refused) = (0u64, 0);
    while refused < 1000 {
        match a.send(1, sent, &payload) {
            Ok(()) => (sent, refused) = (sent + 1, 0),
            Err(Refused::Busy) => refused += 1,
            Err(other) => panic!("{other:?}"),
        }
        a.poll();
        a.log.writable.clear();
    }
    check(&mut a, &mut b, sent);
    let mut next = 0;
    turn(&mut [&mut a, &mut b], |all| {
        for (_, header, _) in all[1].log.packets.drain(..) {
            assert_eq!(header.0[0], next);
            next += 1;
        }
        next == sent && !all[0].log.writable.is_empty()
    });
}
