//! The wire between two sides: packets, time and faults.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use super::oracle::Dice;
use super::side::{KEY, Side};
use crate::host::{Immediate, Sge};
use crate::packet::{Service, View, icrc_matches};
use crate::{
    Batch, Connection, Injection, Injector, Operation, Path, Payload, RequesterConfig,
    ResponderConfig, Work,
};

pub const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
/// QPNs of the two.
pub const QPNS: [u32; 2] = [0x01_0001, 0x02_0007];

/// Attributes of both ends.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub service: Service,
    pub mtu: u32,
    /// Initial PSNs of the two directions.
    pub psn: [u32; 2],
    pub requester: RequesterConfig,
    pub responder: ResponderConfig,
    pub injection: Injection,
    /// Side 0 only asks and side 1, an XRC target, only answers; after each turn another process goes on with what it kept, and
    /// now and then before its answers were sent.
    pub handover: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            service: Service::Reliable,
            mtu: 256,
            psn: [0xff_fff0, 3],
            requester: RequesterConfig {
                psn: 0,
                timeout: 14,
                retry_count: 7,
                rnr_retry: 7,
                max_rd_atomic: 4,
                window: 256,
                selective: true,
            },
            responder: ResponderConfig {
                psn: 0,
                max_dest_rd_atomic: 4,
                min_rnr_timer: 12,
                window: 256,
                write: true,
                read: true,
                atomic: true,
            },
            injection: Injection::default(),
            handover: false,
        }
    }
}

pub struct Pair {
    pub now: u64,
    pub sides: [Side; 2],
    pub connections: [Connection; 2],
    injectors: [Injector; 2],
    /// On their way to a side.
    arriving: [VecDeque<Vec<u8>>; 2],
    /// Packets that left each side.
    pub sent: [usize; 2],
    /// Packets that each side received before it could answer.
    pub largest_burst: usize,
    /// What the target is resumed with, and who decides when answers are lost.
    handover: Option<(Path, ResponderConfig, Dice)>,
    /// Changes packets on their way, if a test wants that.
    pub tamper: Option<Dice>,
}

impl Pair {
    pub fn new(settings: Settings) -> Pair {
        let path = |at: usize| Path {
            local: ADDRESSES[at],
            remote: ADDRESSES[1 - at],
            port: crate::UDP_PORT,
            remote_qpn: QPNS[1 - at],
            mtu: settings.mtu,
        };
        let connection = |at: usize| {
            let responder = ResponderConfig {
                psn: settings.psn[1 - at],
                ..settings.responder
            };
            let responder = (!settings.handover || at == 1).then_some(responder);
            let mut connection = Connection::new(settings.service, path(at), responder);
            if !settings.handover || at == 0 {
                connection.start_requester(RequesterConfig {
                    psn: settings.psn[at],
                    ..settings.requester
                });
            }
            connection
        };
        let injector = |at: u64| {
            let seed = settings.injection.seed * 2 + at;
            Injector::new(Injection {
                seed,
                ..settings.injection
            })
        };
        Pair {
            now: 1_000_000,
            sides: [Side::new(0xaa), Side::new(0xbb)],
            connections: [connection(0), connection(1)],
            injectors: [injector(0), injector(1)],
            arriving: [VecDeque::new(), VecDeque::new()],
            sent: [0; 2],
            largest_burst: 0,
            handover: settings
                .handover
                .then(|| (path(1), settings.responder, Dice(settings.injection.seed))),
            tamper: None,
        }
    }

    /// The target goes from one process to another.
    fn hand_over(&mut self) {
        if let Some((path, config, _)) = &self.handover {
            let saved = self.connections[1].save().expect("a target");
            self.connections[1] = Connection::resume(*path, *config, &saved);
        }
    }

    pub fn post(&mut self, at: usize, work: Work) {
        self.connections[at].post(work, &mut self.sides[at]);
    }

    pub fn cut_link(&mut self, down: bool) {
        self.injectors[0].set_link_down(down);
        self.injectors[1].set_link_down(down);
    }

    /// Packet by packet, until the sides are as wanted: what has come last is not answered yet.
    pub fn run_until(&mut self, reached: impl Fn(&[Side; 2]) -> bool) {
        while !reached(&self.sides) {
            self.now = self.next_time().map_or(self.now, |next| next.max(self.now));
            self.pass_time();
            for at in 0..2 {
                while !reached(&self.sides)
                    && let Some(bytes) = self.arriving[at].pop_front()
                {
                    self.receive(at, bytes);
                }
                if reached(&self.sides) {
                    return;
                }
                self.transmit(at);
            }
        }
    }

    /// A side's queue pair is destroyed, having said its last or not. Packets to it stay unheard.
    pub fn leave(&mut self, at: usize, parts: bool) {
        let mut batch = Batch::new();
        if parts {
            self.connections[at].part(&mut batch, &mut self.sides[at]);
        }
        self.send(at, &mut batch);
        let path = Path {
            local: ADDRESSES[at],
            remote: ADDRESSES[at],
            port: crate::UDP_PORT,
            remote_qpn: 0,
            mtu: 256,
        };
        self.connections[at] = Connection::new(Service::Reliable, path, None);
    }

    /// Until nothing more happens of itself, or this much time has passed.
    pub fn run(&mut self, limit_ns: u64) {
        let end = self.now + limit_ns;
        loop {
            while self.turn() {}
            let Some(next) = self.next_time().filter(|&next| next <= end) else {
                return;
            };
            self.now = self.now.max(next);
            self.pass_time();
        }
    }

    fn pass_time(&mut self) {
        for at in 0..2 {
            self.connections[at].expire(self.now, &mut self.sides[at]);
            let mut out = Batch::new();
            self.injectors[at].release(self.now, &mut out);
            self.deliver(at, &out);
        }
    }

    fn receive(&mut self, at: usize, bytes: Vec<u8>) {
        let bytes = self.tampered(bytes);
        let Ok(view) = View::parse(&bytes) else {
            return assert!(self.tamper.is_some(), "a valid packet");
        };
        let source = ADDRESSES[1 - at];
        self.connections[at].receive(self.now, source, &view, &mut self.sides[at]);
    }

    fn transmit(&mut self, at: usize) -> bool {
        let mut moved = false;
        let mut batch = Batch::new();
        while self.connections[at].transmit(self.now, &mut batch, &mut self.sides[at]) {
            self.send(at, &mut batch);
            moved = true;
        }
        moved
    }

    fn send(&mut self, at: usize, batch: &mut Batch) {
        let mut out = Batch::new();
        self.sent[at] += batch.len();
        self.injectors[at].pass(self.now, batch, &mut out);
        self.deliver(at, &out);
    }

    /// Only the packets that can move without time passing.
    pub fn turn(&mut self) -> bool {
        let mut moved = false;
        for at in 0..2 {
            self.largest_burst = self.largest_burst.max(self.arriving[at].len());
            for bytes in std::mem::take(&mut self.arriving[at]) {
                self.receive(at, bytes);
                moved = true;
            }
            if at == 1
                && let Some((.., dice)) = &mut self.handover
                && dice.below(8) == 0
            {
                self.hand_over();
            }
            moved |= self.transmit(at);
        }
        self.hand_over();
        moved
    }

    /// As `turn`, but what side 1 says is lost.
    pub fn turn_one_way(&mut self) -> bool {
        self.injectors[1].set_link_down(true);
        let moved = self.turn();
        self.injectors[1].set_link_down(false);
        moved
    }

    fn deliver(&mut self, from: usize, out: &Batch) {
        for (destination, bytes) in out.iter() {
            assert_eq!(destination, ADDRESSES[1 - from]);
            let view = View::parse(bytes).expect("a valid packet");
            assert_eq!(view.header().destination_qpn, QPNS[1 - from]);
            let route = crate::packet::Route {
                source: ADDRESSES[from],
                destination,
                source_port: crate::UDP_PORT,
                destination_port: crate::UDP_PORT,
            };
            assert!(icrc_matches(&route, view.covered(), view.icrc(), 0));
            self.arriving[1 - from].push_back(bytes.to_vec());
        }
    }

    /// One packet in three gets up to three wrong bytes in its headers.
    fn tampered(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        if let Some(dice) = &mut self.tamper
            && dice.below(3) == 0
        {
            for _ in 0..dice.below(3) + 1 {
                let at = dice.below(bytes.len().min(48) as u64) as usize;
                // Small changes meet PSNs and opcodes that are nearly right.
                bytes[at] = match dice.below(2) {
                    0 => bytes[at].wrapping_add(dice.below(5) as u8).wrapping_sub(2),
                    _ => dice.below(256) as u8,
                };
            }
        }
        bytes
    }

    fn next_time(&self) -> Option<u64> {
        let connections = self.connections.iter().filter_map(Connection::deadline);
        let injectors = self.injectors.iter().filter_map(Injector::deadline);
        connections.chain(injectors).min()
    }
}

/// One element of local memory.
pub fn local(address: u64, length: u32) -> Payload {
    Payload::Gather(vec![Sge {
        address,
        length,
        lkey: KEY,
    }])
}

pub fn work(token: u64, operation: Operation, payload: Payload) -> Work {
    Work {
        token,
        operation,
        payload,
        solicited: false,
        fence: false,
        xrc_srq: 0,
    }
}

pub fn send() -> Operation {
    Operation::Send {
        immediate: Immediate::None,
    }
}

pub fn write(address: u64) -> Operation {
    Operation::Write {
        address,
        rkey: KEY,
        immediate: None,
    }
}

pub fn read(address: u64) -> Operation {
    Operation::Read { address, rkey: KEY }
}

/// Something to send, different everywhere.
pub fn pattern(side: &mut Side, address: u64, length: usize, seed: u64) {
    let mut value = seed | 1;
    for byte in &mut side.memory[address as usize..][..length] {
        value = value
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        *byte = (value >> 56) as u8;
    }
}
