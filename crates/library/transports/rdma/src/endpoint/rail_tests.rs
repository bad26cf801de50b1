//! Several adapters: what goes by which, and what becomes of it when one fails.

use std::collections::VecDeque;

use weft_transport::{BulkDescriptor, Endpoint, Fabric, Header, Refused};

use super::tests;
use crate::counters::Traffic;
use crate::options::Options;
use crate::selection::MOST_RAILS;
use crate::world::{
    Log, Process, Random, linked_pair, memory, options, over_rails, over_xrc, turn, world_with_each,
};

#[test]
fn what_is_true_of_one_adapter_is_true_of_two() {
    for test in tests::OF_EVERY_LINK {
        over_rails(2, test);
        over_xrc(|| over_rails(3, test));
    }
}

fn by_adapter(process: &Process, bytes: fn(&Traffic) -> u64) -> Vec<u64> {
    process.fabric.traffic().iter().map(bytes).collect()
}

/// Turns until nothing more happens for a while.
fn settle(all: &mut [&mut Process]) {
    let mut quiet = 0;
    turn(all, |all| {
        let moved = all.iter_mut().fold(false, |any, one| one.poll() | any);
        quiet = if moved { 0 } else { quiet + 1 };
        quiet > 50
    });
}

#[test]
fn each_lane_has_an_adapter_for_its_frames() {
    for is_over_xrc in [false, true] {
        let test = || {
            let (mut a, mut b) = linked_pair();
            let (mut second, mut log) = (a.fabric.endpoint(1), Log::default());
            let before = by_adapter(&a, |traffic| traffic.sent_bytes);
            for _ in 0..100 {
                turn(&mut [&mut a, &mut b], |all| {
                    all[0].send(1, 0, &[1; 1000]).is_ok()
                });
            }
            settle(&mut [&mut a, &mut b]);
            let first = by_adapter(&a, |traffic| traffic.sent_bytes);
            assert!(
                first[0] - before[0] > 80_000 && first[1] == before[1],
                "{before:?} {first:?}"
            );
            let mut sent = 0;
            let mut other = b.fabric.endpoint(1);
            let mut taken = Log::default();
            turn(&mut [&mut a, &mut b], |all| {
                second.poll(&mut log);
                other.poll(&mut taken);
                match second.send(1, Header([0; 2]), &[1; 1000], false) {
                    Err(Refused::Connecting) => all[0].fabric.connect(1),
                    other => sent += usize::from(other.is_ok()),
                }
                sent >= 100 && taken.packets.len() >= 100
            });
            let both = by_adapter(&a, |traffic| traffic.sent_bytes);
            assert!(
                both[1] - first[1] > 80_000 && both[0] == first[0],
                "{first:?} {both:?}"
            );
        };
        match is_over_xrc {
            true => over_xrc(|| over_rails(2, test)),
            false => over_rails(2, test),
        }
    }
}

/// Takes up a transfer, once there is a way to its sender.
fn receive(
    at: &mut Process,
    from: &mut Process,
    offer: BulkDescriptor,
    into: &mut [u8],
    cookie: u64,
) {
    turn(&mut [at, from], |all| {
        let taken = all[0]
            .endpoint
            .bulk_receive(0, offer, into.len(), memory(into), cookie);
        match taken {
            Err(Refused::Connecting) => {
                all[0].fabric.connect(0);
                false
            }
            other => other == Ok(()),
        }
    });
}

/// Sends one long message, which is to arrive whole.
fn long_message(a: &mut Process, b: &mut Process, bytes: usize, seed: u8) {
    let mut data: Vec<u8> = (0..bytes)
        .map(|at| (at / 7) as u8 ^ (at >> 9) as u8 ^ seed)
        .collect();
    let mut got = vec![0; bytes];
    let offer = a
        .endpoint
        .bulk_send(1, memory(&mut data), seed.into())
        .unwrap();
    receive(b, a, offer, &mut got, 2);
    turn(&mut [a, b], |all| {
        all[1].log.received.contains(&2) && all[0].log.sent.contains(&seed.into())
    });
    a.log.sent.clear();
    b.log.received.clear();
    assert!(got == data, "{bytes} bytes");
}

#[test]
fn long_messages_go_by_all_that_two_share() {
    for rails in 2..=3 {
        let test = move || {
            let (mut a, mut b) = linked_pair();
            settle(&mut [&mut a, &mut b]);
            for bytes in [256 << 10, (1 << 20) + 1, 3 << 20] {
                long_message(&mut a, &mut b, bytes, 1);
            }
            let before = by_adapter(&b, |traffic| traffic.read_bytes);
            long_message(&mut a, &mut b, 4 << 20, 2);
            let read = by_adapter(&b, |traffic| traffic.read_bytes);
            let read: Vec<u64> = read
                .iter()
                .zip(&before)
                .map(|(now, then)| now - then)
                .collect();
            assert_eq!(read.iter().sum::<u64>(), 4 << 20);
            assert!(read.iter().all(|&one| one >= 256 << 10), "{read:?}");
            // Short ones go by that of the frames.
            long_message(&mut a, &mut b, 100_000, 3);
            let after = by_adapter(&b, |traffic| traffic.read_bytes);
            assert_eq!(
                after.iter().sum::<u64>() - before.iter().sum::<u64>(),
                (4 << 20) + 100_000
            );
            assert_eq!(after[0] - before[0], read[0] + 100_000);
        };
        over_rails(rails, test);
        over_xrc(|| over_rails(rails, test));
    }
}

/// Packets and long messages both ways, while adapters fail at any moment.
struct Story {
    random: Random,
    sent: [u64; 2],
    taken: [u64; 2],
    /// By receiver: what was offered, and what it is read into.
    data: Vec<u8>,
    into: [VecDeque<(u64, Vec<u8>)>; 2],
    begun: [u64; 2],
    done: [u64; 2],
}

const LONG_BYTES: usize = 700_000;

impl Story {
    fn send(&mut self, all: &mut [&mut Process], from: usize, most: u64) {
        // Without a flush the turn goes on, and packets that are sent in it are gathered.
        let sender = &mut *all[from];
        if self.random.below(3) == 0 {
            sender.endpoint.poll(&mut sender.log);
        }
        for _ in 0..=self.random.below(6) {
            if self.sent[from] == most {
                break;
            }
            let mut payload = self.sent[from].to_le_bytes().to_vec();
            let limit = [30, 3000][self.random.below(2) as usize];
            payload.resize(8 + self.random.below(limit) as usize, from as u8);
            let sent = all[from].send(1 - from as u32, 1, &payload);
            assert!(
                matches!(sent, Ok(()) | Err(Refused::Busy | Refused::Connecting)),
                "{sent:?}"
            );
            self.sent[from] += u64::from(sent.is_ok());
        }
        let pending = self.begun[from] - self.done[1 - from];
        if self.sent[from].is_multiple_of(16) && pending < 3 && self.begun[from] < most / 16 {
            let cookie = self.begun[from];
            // The receiver reads all of one piece of memory, which nobody writes.
            let offer =
                all[from]
                    .endpoint
                    .bulk_send(1 - from as u32, memory(&mut self.data), cookie);
            if let Ok(offer) = offer {
                self.begun[from] += 1;
                let mut into = vec![0; LONG_BYTES];
                let to = 1 - from;
                let taken = all[to].endpoint.bulk_receive(
                    from as u32,
                    offer,
                    LONG_BYTES,
                    memory(&mut into),
                    cookie,
                );
                match taken {
                    Ok(()) => self.into[to].push_back((cookie, into)),
                    Err(Refused::Connecting) => {
                        all[from].endpoint.bulk_cancel(1 - from as u32, cookie);
                        self.begun[from] -= 1;
                    }
                    Err(other) => panic!("{other:?}"),
                }
            }
        }
    }

    fn take(&mut self, all: &mut [&mut Process], at: usize) {
        assert!(all[at].log.lost.is_empty(), "{:?}", all[at].log.lost);
        while let Some((_, _, payload)) = all[at].log.packets.pop_front() {
            let number = u64::from_le_bytes(payload[..8].try_into().unwrap());
            assert_eq!(number, self.taken[at], "at rank {at}");
            assert!(payload[8..].iter().all(|&byte| byte == 1 - at as u8));
            self.taken[at] += 1;
        }
        for cookie in std::mem::take(&mut all[at].log.received) {
            let found = self.into[at].iter().position(|into| into.0 == cookie);
            let (_, got) = self.into[at].remove(found.expect("received once")).unwrap();
            assert!(got == self.data, "transfer {cookie} at rank {at}");
            self.done[at] += 1;
        }
    }
}

/// All that is sent comes once and in order, whichever adapters fail, as long as one is left.
fn adapters_fail(pools: &str, rails: usize, seed: u64) {
    let with_pools = Options {
        pools: Some(pools.parse().unwrap()),
        ..options()
    };
    let mut both = world_with_each(&[with_pools.clone(), with_pools]).all;
    let (mut b, mut a) = (both.pop().unwrap(), both.pop().unwrap());
    let mut story = Story {
        random: Random(seed),
        sent: [0; 2],
        taken: [0; 2],
        data: (0..LONG_BYTES)
            .map(|at| (at / 5) as u8 ^ (at >> 8) as u8)
            .collect(),
        into: Default::default(),
        begun: [0; 2],
        done: [0; 2],
    };
    const MOST: u64 = 320;
    let mut failed = 0;
    turn(&mut [&mut a, &mut b], |all| {
        for at in 0..2 {
            story.send(all, at, MOST);
            story.take(all, at);
        }
        let due = (failed as u64 + 1) * MOST / rails as u64;
        if failed + 1 < rails && story.taken[0] + story.taken[1] > due {
            let at = story.random.below(2) as usize;
            all[at].endpoint.break_rail(failed);
            failed += 1;
        }
        story.taken == [MOST; 2] && story.done == [MOST / 16; 2]
    });
    assert_eq!(failed, rails - 1);
    let failovers = [&a, &b].map(|one| one.fabric.counters().failovers);
    assert!(
        failovers.iter().sum::<u64>() >= failed as u64,
        "{failovers:?}"
    );
    settle(&mut [&mut a, &mut b]);
    // The one that is left is lost with its last adapter.
    a.endpoint.expect(1, false).unwrap();
    (0..rails).for_each(|rail| a.endpoint.break_rail(rail));
    turn(&mut [&mut a, &mut b], |all| {
        let _ = all[0].send(1, 0, &[]);
        !all[0].log.lost.is_empty()
    });
}

const POOLS: [&str; 4] = [
    "S,256,64:S,2k,64:S,16512,32",
    "P,256,64:P,2k,32:P,16512,16",
    "P,256,64:S,2k,64:S,16512,32",
    "S,1k,64",
];

#[test]
fn what_was_under_way_by_an_adapter_that_failed_goes_by_another() {
    for (number, pools) in POOLS.into_iter().enumerate() {
        over_rails(2, || adapters_fail(pools, 2, number as u64 + 1));
        over_rails(3, || adapters_fail(pools, 3, number as u64 + 11));
    }
}

#[test]
fn what_was_under_way_to_a_host_goes_by_another_adapter() {
    let over_hosts = ["X,256,64:X,2k,64:X,16512,32", "P,256,64:X,2k,64:X,16512,32"];
    for (number, pools) in over_hosts.into_iter().enumerate() {
        over_xrc(|| over_rails(2, || adapters_fail(pools, 2, number as u64 + 21)));
        over_xrc(|| over_rails(3, || adapters_fail(pools, 3, number as u64 + 31)));
    }
}

/// A message whose sender has not registered it for the adapter that is left comes in frames.
#[test]
fn what_no_adapter_that_is_left_can_read_comes_in_frames() {
    over_rails(2, || {
        let (mut a, mut b) = linked_pair();
        settle(&mut [&mut a, &mut b]);
        let (mut data, mut got) = (vec![7; 100_000], vec![0; 100_000]);
        let offer = a.endpoint.bulk_send(1, memory(&mut data), 1).unwrap();
        a.endpoint.break_rail(0);
        b.endpoint.break_rail(0);
        receive(&mut b, &mut a, offer, &mut got, 2);
        turn(&mut [&mut a, &mut b], |all| !all[1].log.received.is_empty());
        assert_eq!(got, data);
        let read = by_adapter(&b, |traffic| traffic.read_bytes);
        assert_eq!(read, [0, 0]);
    });
}

/// Accesses that were under way are done by another adapter.
#[test]
fn windows_survive_an_adapter() {
    let test = || {
        let (mut a, mut b) = linked_pair();
        settle(&mut [&mut a, &mut b]);
        let mut window = vec![0; 4 << 20];
        let exposure = b.fabric.expose(0, memory(&mut window)).expect("memory");
        let mut from: Vec<Vec<u8>> = (0..64).map(|n| vec![n as u8 + 1; 60_000]).collect();
        for (number, piece) in from.iter_mut().enumerate() {
            let access = weft_transport::Access {
                direction: weft_transport::Direction::Write,
                exposed: exposure.exposed,
                offset: 60_000 * number as u64,
                memory: memory(piece),
            };
            a.endpoint.access(1, access, number as u64).unwrap();
            if number == 20 {
                a.endpoint.break_rail(0);
            }
        }
        turn(&mut [&mut a, &mut b], |all| all[0].log.sent.len() == 64);
        for (number, piece) in window.chunks(60_000).take(64).enumerate() {
            assert!(
                piece.iter().all(|&byte| byte == number as u8 + 1),
                "{number}"
            );
        }
        assert!(a.log.lost.is_empty() && b.log.lost.is_empty());
    };
    over_rails(2, test);
    over_xrc(|| over_rails(2, test));
}

/// Where a port of the way's does not answer, another one's way is taken.
#[test]
fn a_link_is_made_by_whichever_adapter_answers() {
    over_rails(2, || {
        let mut both = world_with_each(&[options(), options()]);
        let mut card = crate::card::Card::parse(&both.all[1].fabric.card()).unwrap();
        card.ports[0].queue_key ^= 1;
        both.cards.0.lock().unwrap().insert(1, card.to_string());
        let (mut b, mut a) = (both.all.pop().unwrap(), both.all.pop().unwrap());
        turn(&mut [&mut a, &mut b], |all| {
            all[0].send(1, 5, b"by the second").is_ok()
        });
        turn(&mut [&mut a, &mut b], |all| !all[1].log.packets.is_empty());
        let sent = by_adapter(&a, |traffic| traffic.sent_bytes);
        assert!(sent[0] == 0, "{sent:?}");
    });
}

#[test]
fn a_card_of_many_adapters_is_short() {
    over_rails(3, || {
        let all: Vec<String> = (1..=16)
            .map(|n| format!("S,{},32768,32767,32767", 1_000_000 * n))
            .collect();
        let both = world_with_each(&[options()]);
        let mut card = crate::card::Card::parse(&both.all[0].fabric.card()).unwrap();
        let port = card.ports[0].clone();
        card.ports = vec![port; MOST_RAILS];
        card.pools = all.join(":").parse().unwrap();
        let length = card.to_string().len();
        assert!(length < 900, "{length}");
    });
}
