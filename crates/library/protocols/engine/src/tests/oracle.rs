//! Random traffic among several engines: every receive gets what a linear scan says it must.
//!
//! One sender and tag at a time is a queue; a receive takes from the queues that its pattern admits the message
//! that the rules allow: the next of its sender. The check is exact where the rules are: per sender, the messages
//! that a receive's pattern admits are received in order, and nothing is lost or doubled.

use std::collections::HashMap;
use std::sync::Arc;

use weft_transport::Fabric;
use weft_transport::loopback::Network;

use super::{engines, engines_on_hosts};
use crate::{Engine, RequestId};

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

const TAGS: u64 = 3;

/// What was sent from one engine to another and when: the receiver must see any two of them in order.
struct Sent {
    tag: i32,
    serial: u32,
    bytes: usize,
}

#[test]
fn random_traffic_follows_the_rules() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let network = network(&mut random, 200);
        run(seed, random, &engines(&network, 3));
    }
}

/// Likewise where some peers are reached in one way and some in another, whose limits differ.
#[test]
fn random_traffic_between_hosts_follows_the_rules() {
    for seed in 0..80 {
        let mut random = Random(seed);
        let (near, far) = (network(&mut random, 200), network(&mut random, 300));
        let hosts: Vec<u32> = (0..4).map(|_| random.below(3) as u32).collect();
        let engines = engines_on_hosts(seed, [&near, &far], &hosts);
        run(seed, random, &engines);
    }
}

fn network(random: &mut Random, eager_limit: usize) -> Arc<Network> {
    let (seed, capacity) = (random.below(1 << 20), 1 + random.below(6) as usize);
    match random.below(2) {
        0 => Network::new(seed, capacity, eager_limit),
        _ => Network::on_demand(seed, capacity, eager_limit),
    }
}

fn run<F: Fabric>(seed: u64, mut random: Random, engines: &[Engine<F>]) {
    let mut sent: HashMap<(u32, u32), Vec<Sent>> = HashMap::new();
    let mut sends: Vec<(usize, RequestId, Box<[u8]>)> = Vec::new();
    let mut receives: Vec<(usize, RequestId, Vec<u8>, i32, i32)> = Vec::new();
    let peers = engines.len() as u64;
    let mut balance = vec![0i64; engines.len()];
    for _ in 0..400 {
        let me = random.below(peers) as usize;
        match random.below(5) {
            0 | 1 => {
                let to = random.below(peers) as u32;
                let tag = random.below(TAGS) as i32;
                let bytes = 4 + [0, 30, 100, 190, 400][random.below(5) as usize];
                let queue = sent.entry((me as u32, to)).or_default();
                let serial = queue.len() as u32;
                queue.push(Sent { tag, serial, bytes });
                let mut data = vec![serial as u8; bytes].into_boxed_slice();
                data[..4].copy_from_slice(&serial.to_le_bytes());
                let synchronous = random.below(4) == 0;
                let id = engines[me].send_to(to, tag as u32, &mut data, synchronous);
                sends.push((me, id, data));
                balance[to as usize] += 1;
            }
            2 | 3 if balance[me] > 0 => {
                // Only wildcards here, so that every message finds a receive in the end.
                let mut got = vec![0; 500];
                let id = engines[me].receive_from(-1, -1, &mut got);
                receives.push((me, id, got, -1, -1));
                balance[me] -= 1;
            }
            _ => {
                engines[me].progress();
            }
        }
    }
    for (me, left) in balance.iter_mut().enumerate() {
        while *left > 0 {
            let mut got = vec![0; 500];
            let id = engines[me].receive_from(-1, -1, &mut got);
            receives.push((me, id, got, -1, -1));
            *left -= 1;
        }
    }
    let mut next: HashMap<(u32, u32), u32> = HashMap::new();
    // Posted in this order and all wild: each takes, of whichever sender, the next message.
    for (me, id, got, ..) in receives {
        let status = super::settle(engines, me, id);
        let key = (status.source as u32, me as u32);
        let serial = u32::from_le_bytes(got[..4].try_into().unwrap());
        let expected = next.entry(key).or_default();
        assert_eq!(
            serial, *expected,
            "seed {seed}: from {} to {me}",
            status.source
        );
        *expected += 1;
        let message = &sent[&key][serial as usize];
        assert_eq!(
            (status.tag, status.bytes as usize),
            (message.tag, message.bytes)
        );
        assert_eq!(message.serial, serial);
        assert!(
            got[4..message.bytes]
                .iter()
                .all(|&byte| byte == serial as u8)
        );
    }
    for (me, id, _) in sends {
        super::settle(engines, me, id);
    }
    for (key, messages) in sent {
        assert_eq!(next.get(&key).copied().unwrap_or(0), messages.len() as u32);
    }
}

/// Receives by exact pattern, in random order of posting, mixed with partial wildcards: the tag's messages of a
/// sender come in order, whatever else is posted.
#[test]
fn per_tag_order_with_mixed_patterns() {
    for seed in 0..60 {
        let mut random = Random(seed ^ 0x5555);
        let network = Network::new(seed, 1 + random.below(5) as usize, 200);
        let engines = engines(&network, 2);
        let count = 60;
        let plan: Vec<i32> = (0..count).map(|_| random.below(TAGS) as i32).collect();
        let mut posts: Vec<i32> = plan.clone();
        for i in (1..posts.len()).rev() {
            posts.swap(i, random.below(i as u64 + 1) as usize);
        }
        let mut receives = Vec::new();
        let mut sends = Vec::new();
        let (mut to_send, mut to_post) = (plan.iter().enumerate(), posts.iter());
        while receives.len() < count || sends.len() < count {
            if random.below(2) == 0 {
                if let Some((serial, &tag)) = to_send.next() {
                    let mut data = vec![serial as u8; 1 + 300 * (serial % 2)].into_boxed_slice();
                    let id = engines[0].send_to(1, tag as u32, &mut data, false);
                    sends.push((id, data));
                }
            } else if let Some(&tag) = to_post.next() {
                let mut got = vec![0; 400];
                let source = if random.below(2) == 0 { -1 } else { 0 };
                receives.push((tag, engines[1].receive_from(source, tag, &mut got), got));
            }
            engines[random.below(2) as usize].progress();
        }
        let mut expected: HashMap<i32, Vec<u8>> = HashMap::new();
        for (serial, &tag) in plan.iter().enumerate().rev() {
            expected.entry(tag).or_default().push(serial as u8);
        }
        for (tag, id, got) in receives {
            super::settle(&engines, 1, id);
            assert_eq!(
                Some(got[0]),
                expected.get_mut(&tag).unwrap().pop(),
                "seed {seed} tag {tag}"
            );
        }
        for (id, _) in sends {
            super::settle(&engines, 0, id);
        }
    }
}
