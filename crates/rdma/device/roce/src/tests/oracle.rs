//! Random operations in both directions over bad wires, against a model that does them one after the other.

use super::pair::{Pair, Settings, pattern, work};
use super::side::{KEY, MEMORY, SHARED, Side};
use crate::host::{Atomic, Immediate, ReceiveKind, Sge, Status};
use crate::packet::Service;
use crate::{Injection, Operation, Payload, RequesterConfig, ResponderConfig, Work};

/// SplitMix64, as deciding what a test does.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Of the shared half: the part that is only read, so that READs need no fence, and the part that is written.
const READ_ONLY: u64 = SHARED;
const WRITTEN: u64 = SHARED + (MEMORY - SHARED) / 2;
/// Longest message; more than a READ chunk at the least MTU.
const LONGEST: u64 = 9000;

/// What must be the case at the end.
struct Model {
    local: Vec<u8>,
    remote: Vec<u8>,
    received: Vec<(u64, ReceiveKind, u32, Immediate, bool)>,
    /// The peer's receive buffers, in order.
    buffers: Vec<(u64, u32)>,
}

struct Script {
    dice: Dice,
    mtu: u64,
    /// Where the next local buffer begins; each is used once.
    fresh: u64,
}

impl Script {
    fn length(&mut self) -> u64 {
        let around = self.mtu * self.dice.below(LONGEST / self.mtu);
        match self.dice.below(4) {
            0 => self.dice.below(9),
            1 => around,
            2 => around + self.dice.below(3),
            _ => self.dice.below(LONGEST),
        }
    }

    /// A list of one to three pieces of fresh local memory.
    fn buffer(&mut self, length: u64) -> Vec<Sge> {
        let mut list = Vec::new();
        let mut left = length;
        for _ in 0..self.dice.below(3) {
            let part = self.dice.below(left + 1);
            list.push(self.piece(part));
            left -= part;
        }
        list.push(self.piece(left));
        list
    }

    fn piece(&mut self, length: u64) -> Sge {
        let address = self.fresh;
        self.fresh += length + self.dice.below(5);
        Sge {
            address,
            length: length as u32,
            lkey: KEY,
        }
    }

    /// The next request, done to the model.
    fn next(&mut self, token: u64, model: &mut Model) -> Work {
        let solicited = self.dice.below(2) == 0;
        let fence = self.dice.below(4) == 0;
        let (operation, payload) = match self.dice.below(8) {
            0..=2 => self.send(solicited, model),
            3 | 4 => self.write(solicited, model),
            5 => self.read(model),
            _ => self.atomic(model),
        };
        Work {
            solicited,
            fence,
            ..work(token, operation, payload)
        }
    }

    fn immediate(&mut self) -> Option<u32> {
        (self.dice.below(3) == 0).then(|| self.dice.below(1 << 32) as u32)
    }

    fn send(&mut self, solicited: bool, model: &mut Model) -> (Operation, Payload) {
        let length = self.length();
        let immediate = match (self.dice.below(4), self.immediate()) {
            (_, Some(data)) => Immediate::Data(data),
            (0, None) => Immediate::Invalidated(1 + self.dice.below(1000) as u32),
            _ => Immediate::None,
        };
        let list = self.buffer(length);
        let data = gather(&model.local, &list);
        let (address, _) = model.take(length);
        model.remote[address as usize..][..data.len()].copy_from_slice(&data);
        model.note(ReceiveKind::Send, length, immediate, solicited);
        (Operation::Send { immediate }, self.source(list, data))
    }

    fn write(&mut self, solicited: bool, model: &mut Model) -> (Operation, Payload) {
        let length = self.length();
        let immediate = self.immediate();
        let list = self.buffer(length);
        let address = WRITTEN + self.dice.below(MEMORY - WRITTEN - LONGEST);
        let data = gather(&model.local, &list);
        model.remote[address as usize..][..data.len()].copy_from_slice(&data);
        if let Some(data) = immediate {
            model.take(0);
            let kind = ReceiveKind::WriteWithImmediate;
            model.note(kind, length, Immediate::Data(data), solicited);
        }
        let operation = Operation::Write {
            address,
            rkey: KEY,
            immediate,
        };
        (operation, self.source(list, data))
    }

    fn read(&mut self, model: &mut Model) -> (Operation, Payload) {
        let length = self.length();
        let list = self.buffer(length);
        let address = READ_ONLY + self.dice.below(WRITTEN - READ_ONLY - LONGEST);
        let data = model.remote[address as usize..][..length as usize].to_vec();
        scatter(&mut model.local, &list, &data);
        let operation = Operation::Read { address, rkey: KEY };
        (operation, Payload::Gather(list))
    }

    /// On few positions, with values that often compare equal.
    fn atomic(&mut self, model: &mut Model) -> (Operation, Payload) {
        let list = self.buffer(8);
        let address = WRITTEN + 8 * self.dice.below(4);
        let atomic = match self.dice.below(2) {
            0 => Atomic::FetchAdd {
                add: self.dice.below(3),
            },
            _ => Atomic::CompareSwap {
                compare: self.dice.below(3),
                swap: self.dice.below(3),
            },
        };
        let original = model.atomic(address, atomic);
        scatter(&mut model.local, &list, &original.to_ne_bytes());
        let operation = Operation::Atomic {
            address,
            rkey: KEY,
            atomic,
        };
        (operation, Payload::Gather(list))
    }

    fn source(&mut self, list: Vec<Sge>, data: Vec<u8>) -> Payload {
        match self.dice.below(3) {
            0 => Payload::Inline(data),
            _ => Payload::Gather(list),
        }
    }
}

impl Model {
    fn take(&mut self, length: u64) -> (u64, u32) {
        let taken = self.buffers[self.received.len()];
        assert!(length <= u64::from(taken.1));
        taken
    }

    fn note(&mut self, kind: ReceiveKind, length: u64, immediate: Immediate, solicited: bool) {
        let token = self.received.len() as u64;
        self.received
            .push((token, kind, length as u32, immediate, solicited));
    }

    fn atomic(&mut self, address: u64, atomic: Atomic) -> u64 {
        let word = &mut self.remote[address as usize..][..8];
        let original = u64::from_ne_bytes((&*word).try_into().unwrap());
        let new = match atomic {
            Atomic::FetchAdd { add } => original.wrapping_add(add),
            Atomic::CompareSwap { compare, swap } if compare == original => swap,
            Atomic::CompareSwap { .. } => original,
        };
        word.copy_from_slice(&new.to_ne_bytes());
        original
    }
}

fn gather(memory: &[u8], list: &[Sge]) -> Vec<u8> {
    list.iter()
        .flat_map(|sge| &memory[sge.address as usize..][..sge.length as usize])
        .copied()
        .collect()
}

fn scatter(memory: &mut [u8], list: &[Sge], mut data: &[u8]) {
    for sge in list {
        let (part, rest) = data.split_at(sge.length as usize);
        memory[sge.address as usize..][..part.len()].copy_from_slice(part);
        data = rest;
    }
}

/// Requests of each side in a run.
const REQUESTS: u64 = 40;

/// Receive buffers at the end of the local half, one for each request.
fn receive_buffer(index: u64) -> u64 {
    SHARED - (index + 1) * LONGEST
}

/// One direction: who asks, and what comes of it in both memories. The other direction touches none of it: local
/// buffers of a side are at the beginning of its memory, the receive buffers that the peer fills at the end.
fn run(settings: Settings, seed: u64) {
    let askers = if settings.handover { 1 } else { 2 };
    let mut pair = Pair::new(settings);
    let mut models = Vec::new();
    let mut posts: [Vec<Work>; 2] = [Vec::new(), Vec::new()];
    for side in &mut pair.sides {
        pattern(side, 0, WRITTEN as usize, seed);
        side.memory[WRITTEN as usize..].fill(0);
        for index in 0..REQUESTS {
            side.post_receive(index, receive_buffer(index), LONGEST as u32);
        }
    }
    for (at, posted) in posts.iter_mut().enumerate().take(askers) {
        let mut model = Model {
            local: pair.sides[at].memory.clone(),
            remote: pair.sides[1 - at].memory.clone(),
            received: Vec::new(),
            buffers: (0..REQUESTS)
                .map(|index| (receive_buffer(index), LONGEST as u32))
                .collect(),
        };
        let mut script = Script {
            dice: Dice(seed.wrapping_mul(77) + at as u64),
            mtu: u64::from(settings.mtu),
            fresh: 0,
        };
        for token in 0..REQUESTS {
            posted.push(script.next(token, &mut model));
        }
        assert!(script.fresh < receive_buffer(REQUESTS));
        models.push(model);
    }
    let mut dice = Dice(seed);
    for token in 0..REQUESTS as usize {
        for (at, posted) in posts.iter().enumerate().take(askers) {
            pair.post(at, posted[token].clone());
        }
        if dice.below(4) == 0 {
            pair.run(dice.below(50_000));
        }
    }
    pair.run(600_000_000_000);
    for (at, model) in models.iter().enumerate() {
        check(&pair.sides[at], &pair.sides[1 - at], model, seed);
    }
}

fn check(asking: &Side, asked: &Side, model: &Model, seed: u64) {
    let statuses: Vec<_> = asking
        .sends_done
        .iter()
        .map(|done| (done.token, done.status))
        .collect();
    let expected: Vec<_> = (0..REQUESTS).map(|t| (t, Status::Success)).collect();
    assert_eq!(statuses, expected, "seed {seed}");
    let received: Vec<_> = asked
        .receives_done
        .iter()
        .map(|(token, done)| {
            assert_eq!(done.status, Status::Success, "seed {seed}");
            (
                *token,
                done.kind,
                done.bytes,
                done.immediate,
                done.solicited,
            )
        })
        .collect();
    assert_eq!(received, model.received, "seed {seed}");
    let locals = receive_buffer(REQUESTS) as usize;
    assert!(
        asking.memory[..locals] == model.local[..locals],
        "seed {seed}: local memory"
    );
    assert!(
        asked.memory[locals..] == model.remote[locals..],
        "seed {seed}: remote memory"
    );
    assert!(asking.faults.is_empty(), "seed {seed}");
}

/// The same seeds under each kind of wire.
fn on_wire(injection: Injection) {
    on_wire_with(injection, Settings::default().requester.retry_count);
}

fn on_wire_with(injection: Injection, retry_count: u8) {
    for seed in 0..30 {
        let mut dice = Dice(seed);
        let reads = 1 + dice.below(8) as u8;
        let base = Settings::default();
        let settings = Settings {
            service: dice.pick(&[Service::Reliable, Service::ExtendedReliable]),
            mtu: dice.pick(&[256, 256, 512, 1024, 4096]),
            psn: [
                0xff_ffff - dice.below(200) as u32,
                dice.below(1 << 24) as u32,
            ],
            requester: RequesterConfig {
                max_rd_atomic: reads,
                retry_count,
                // A peer of another kind is told all from the loss on.
                selective: seed % 3 != 0,
                ..base.requester
            },
            responder: ResponderConfig {
                max_dest_rd_atomic: reads,
                // What the peer sends beyond it is as good as lost.
                window: [256, 8, 0][(seed / 3 % 3) as usize],
                ..base.responder
            },
            injection: Injection { seed, ..injection },
            handover: false,
        };
        run(settings, seed);
        // Half of them again, with a target that goes from process to process.
        if settings.service == Service::ExtendedReliable {
            run(
                Settings {
                    handover: true,
                    ..settings
                },
                seed,
            );
        }
    }
}

#[test]
fn perfect_wire() {
    on_wire(Injection::default());
}

#[test]
fn one_in_twenty_lost() {
    on_wire(Injection {
        loss: 0.05,
        ..Injection::default()
    });
}

#[test]
fn one_in_four_lost() {
    on_wire(Injection {
        loss: 0.25,
        ..Injection::default()
    });
}

#[test]
fn doubled_and_reordered() {
    on_wire(Injection {
        duplicate: 0.2,
        reorder: 0.2,
        ..Injection::default()
    });
}

#[test]
fn everything_at_once() {
    on_wire(Injection {
        loss: 0.1,
        duplicate: 0.1,
        reorder: 0.3,
        delay_us: 700,
        ..Injection::default()
    });
}

/// More than an adapter's seven retries stand for here: it is order and completeness that are asked for.
#[test]
fn three_in_ten_of_everything() {
    let worst = Injection {
        loss: 0.3,
        duplicate: 0.3,
        reorder: 0.3,
        delay_us: 300,
        ..Injection::default()
    };
    on_wire_with(worst, 100);
}

/// Whatever mixture: each seed has a wire of its own.
#[test]
fn any_wire() {
    for seed in 0..40 {
        let mut dice = Dice(1000 + seed);
        let mut share = || dice.below(31) as f64 / 100.0;
        let injection = Injection {
            loss: share(),
            duplicate: share(),
            reorder: share(),
            delay_us: Dice(seed).below(2000) as u32,
            seed,
            ..Injection::default()
        };
        let settings = Settings {
            mtu: 256,
            requester: RequesterConfig {
                retry_count: 100,
                selective: seed % 3 != 0,
                ..Settings::default().requester
            },
            injection,
            ..Settings::default()
        };
        run(settings, seed);
    }
}
