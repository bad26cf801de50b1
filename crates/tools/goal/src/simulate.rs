//! How long a schedule takes by LogGOPS.
//!
//! A rank has one processor, which does one thing at a time, in the order in which they are ready. A message of `s`
//! bytes takes it `o + (s-1) O` on each side. Between, the sender's adapter is busy with it for `g + (s-1) G`, the
//! first byte comes `L` after it left, and the receiver's adapter is busy likewise: so one message alone takes `2 o +
//! 2 (s-1) O + L + (s-1) G`. A send of up to `S` bytes is over when the processor has done its part. A longer one
//! asks first: the question takes `L`, waits for the receive, and the answer takes `L` again; it is over when the
//! last byte has left.
//!
//! Ranks of one host have one adapter in common for what goes to other hosts; between themselves they have other
//! parameters, and nothing in common. No link of the network between the hosts is ever busy.

mod matching;
mod queue;
#[cfg(test)]
mod tests;

use std::fmt;

use matching::{Arrival, Matching};
use queue::{Event, Events, Processor, What};

use crate::{Operation, Schedule, Until};

/// The parameters of LogGOPS, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// `L`
    pub latency_ns: f64,
    /// `o`
    pub overhead_ns: f64,
    /// `g`
    pub gap_ns: f64,
    /// `G`, for each byte
    pub gap_byte_ns: f64,
    /// `O`, for each byte
    pub overhead_byte_ns: f64,
    /// `S`
    pub eager_bytes: u64,
}

impl Network {
    /// What LogGOPSim assumes where it is told nothing: a network of some 1.3 Gbit/s with high overheads.
    pub const LOGGOPSIM: Network = Network {
        latency_ns: 2500.0,
        overhead_ns: 1500.0,
        gap_ns: 1000.0,
        gap_byte_ns: 6.0,
        overhead_byte_ns: 0.0,
        eager_bytes: 65535,
    };

    /// What a message takes of the processor on either side.
    pub fn processor_ns(&self, bytes: u64) -> f64 {
        self.overhead_ns + behind_first(bytes) * self.overhead_byte_ns
    }

    /// How long an adapter is busy with a message.
    pub fn adapter_ns(&self, bytes: u64) -> f64 {
        self.gap_ns + self.transfer(bytes)
    }

    fn transfer(&self, bytes: u64) -> f64 {
        behind_first(bytes) * self.gap_byte_ns
    }
}

fn behind_first(bytes: u64) -> f64 {
    bytes.saturating_sub(1) as f64
}

/// Hosts with as many ranks each, in their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    pub ranks_a_host: u32,
    pub between: Network,
    pub within: Network,
}

/// Whose operations a schedule has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Those of all ranks.
    None,
    /// Those of the first of so many hosts: what it does to the host `d` after it, each host does to the one `d`
    /// after itself, around the ring.
    Rotation(u32),
    /// The same, where a host's number differs from its peer's in the bits of `d`.
    Bits,
}

impl Fold {
    /// Which host sends to the first what the first sends to this one.
    fn mirrored(self, host: u32) -> u32 {
        match self {
            Fold::None | Fold::Bits => host,
            Fold::Rotation(hosts) => (hosts - host) % hosts,
        }
    }
}

/// When the ranks were done.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    /// When each operation was over, rank by rank.
    pub over_ns: Vec<Vec<f64>>,
    /// The last of all.
    pub end_ns: f64,
    /// Messages that no rank receives.
    pub unreceived: usize,
}

/// A rank waits for what never comes.
#[derive(Debug, PartialEq, Eq)]
pub struct Stuck {
    pub rank: u32,
    /// The first of its operations that is not over, by its number.
    pub operation: u32,
    pub has_begun: bool,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.has_begun {
            true => "what it waits for is not sent or not received",
            false => "what it requires is never over",
        };
        let Stuck {
            rank, operation, ..
        } = self;
        write!(
            f,
            "rank {rank}: operation {} never ends: {why}",
            operation + 1
        )
    }
}

impl std::error::Error for Stuck {}

pub fn simulate(schedule: &Schedule, machine: &Machine, fold: Fold) -> Result<Times, Stuck> {
    let mut simulation = Simulation::new(schedule, machine, fold);
    simulation.begin();
    while let Some(event) = simulation.events.next() {
        simulation.happen(event);
    }
    simulation.times()
}

/// An adapter, or a rank's way to the others of its host: each direction is busy until then.
#[derive(Clone, Copy, Default)]
struct Way {
    out_ns: f64,
    in_ns: f64,
}

struct Rank {
    processor: Processor,
    /// To the ranks of its host.
    within: Way,
    matching: Matching,
    operations: Vec<State>,
    /// By operation, where what waits for it begins in `followers`, and last where all end.
    starts: Vec<u32>,
    followers: Vec<Follower>,
}

struct Follower {
    operation: u32,
    until: Until,
}

#[derive(Clone, Copy)]
struct State {
    /// How many of what it waits for have not come yet.
    awaited: u32,
    has_begun: bool,
    over_ns: f64,
}

struct Simulation<'a> {
    schedule: &'a Schedule,
    machine: &'a Machine,
    fold: Fold,
    ranks: Vec<Rank>,
    adapters: Vec<Way>,
    events: Events,
}

impl<'a> Simulation<'a> {
    fn new(schedule: &'a Schedule, machine: &'a Machine, fold: Fold) -> Simulation<'a> {
        let hosts = schedule.ranks.len().div_ceil(machine.ranks_a_host as usize);
        Simulation {
            ranks: schedule.ranks.iter().map(Rank::new).collect(),
            adapters: vec![Way::default(); hosts],
            events: Events::default(),
            schedule,
            machine,
            fold,
        }
    }

    fn begin(&mut self) {
        for rank in 0..self.ranks.len() as u32 {
            for operation in 0..self.ranks[rank as usize].operations.len() as u32 {
                if self.state(rank, operation).awaited == 0 {
                    self.events.push(0.0, rank, What::Begin(operation));
                }
            }
        }
    }

    fn state(&mut self, rank: u32, operation: u32) -> &mut State {
        &mut self.ranks[rank as usize].operations[operation as usize]
    }

    fn operation(&self, rank: u32, operation: u32) -> Operation {
        self.schedule.ranks[rank as usize].operations[operation as usize]
    }

    fn happen(&mut self, Event { ns, rank, what }: Event) {
        match what {
            What::Begin(operation) => self.begin_operation(ns, rank, operation),
            What::Wanted(operation) => self.want_processor(ns, rank, operation),
            What::Free => {
                if let Some(operation) = self.ranks[rank as usize].processor.next() {
                    self.occupy(ns, rank, operation);
                }
            }
            What::Over(operation) => self.end(ns, rank, operation),
            What::Handed(operation) => self.handed_over(ns, rank, operation),
            What::Answered(operation) => {
                let left = self.transmit(ns, rank, operation);
                self.events.push(left, rank, What::Over(operation));
            }
            What::Asked { from, operation } => {
                self.arrive(ns, rank, (from, operation), Arrival::asks);
            }
            What::FirstByte { from, operation } => self.first_byte(ns, rank, from, operation),
        }
    }

    fn begin_operation(&mut self, ns: f64, rank: u32, operation: u32) {
        match self.operation(rank, operation) {
            Operation::Send { .. } | Operation::Calc { .. } => {
                self.want_processor(ns, rank, operation);
            }
            Operation::Receive { from, tag, .. } => {
                self.has_begun(ns, rank, operation);
                let matching = &mut self.ranks[rank as usize].matching;
                if let Some(arrival) = matching.receive((from, tag), operation) {
                    self.matched(ns, rank, operation, arrival);
                }
            }
        }
    }

    fn want_processor(&mut self, ns: f64, rank: u32, operation: u32) {
        let processor = &mut self.ranks[rank as usize].processor;
        match processor.is_free(ns) {
            true => self.occupy(ns, rank, operation),
            false => {
                if let Some(free) = processor.wait(operation) {
                    self.events.push(free, rank, What::Free);
                }
            }
        }
    }

    /// The processor does its part of an operation.
    fn occupy(&mut self, ns: f64, rank: u32, operation: u32) {
        let doing = self.operation(rank, operation);
        let (taken, then) = match doing {
            Operation::Calc { ns } => (ns as f64, What::Over(operation)),
            Operation::Send { to, bytes, .. } => {
                let overhead = self.network(rank, to).processor_ns(bytes);
                (overhead, What::Handed(operation))
            }
            Operation::Receive { from, bytes, .. } => {
                let overhead = self.network(rank, from).processor_ns(bytes);
                (overhead, What::Over(operation))
            }
        };
        if !matches!(doing, Operation::Receive { .. }) {
            self.has_begun(ns, rank, operation);
        }
        self.events.push(ns + taken, rank, then);
        let processor = &mut self.ranks[rank as usize].processor;
        if let Some(free) = processor.occupy(ns + taken) {
            self.events.push(free, rank, What::Free);
        }
    }

    /// A message has been handed to the adapter.
    fn handed_over(&mut self, ns: f64, rank: u32, operation: u32) {
        let Operation::Send { to, bytes, .. } = self.operation(rank, operation) else {
            return;
        };
        let network = self.network(rank, to);
        if bytes <= network.eager_bytes {
            self.transmit(ns, rank, operation);
            return self.end(ns, rank, operation);
        }
        let leaves = ns.max(self.way(rank, to).out_ns);
        let (to, from) = self.route(rank, to);
        let asked = What::Asked { from, operation };
        self.events.push(leaves + network.latency_ns, to, asked);
    }

    /// When the last byte has left.
    fn transmit(&mut self, ns: f64, rank: u32, operation: u32) -> f64 {
        let Operation::Send { to, bytes, .. } = self.operation(rank, operation) else {
            return ns;
        };
        let network = self.network(rank, to);
        let way = self.way(rank, to);
        let leaves = ns.max(way.out_ns);
        way.out_ns = leaves + network.adapter_ns(bytes);
        let (to, from) = self.route(rank, to);
        let first = What::FirstByte { from, operation };
        self.events.push(leaves + network.latency_ns, to, first);
        leaves + network.transfer(bytes)
    }

    fn first_byte(&mut self, ns: f64, rank: u32, from: u32, operation: u32) {
        let (sender, bytes, _) = self.sent(from, operation);
        let network = self.network(rank, from);
        let way = self.way(rank, from);
        let enters = ns.max(way.in_ns);
        let last = enters + network.transfer(bytes);
        way.in_ns = last + network.gap_ns;
        if bytes <= network.eager_bytes {
            return self.arrive(ns, rank, (from, operation), |_, _| Arrival::Whole(last));
        }
        // It was asked for before.
        let receive = self.ranks[rank as usize]
            .matching
            .answered(sender, operation);
        self.events.push(last, rank, What::Wanted(receive));
    }

    /// A message, or the question for a longer one, has come.
    fn arrive(
        &mut self,
        ns: f64,
        rank: u32,
        (from, operation): (u32, u32),
        arrival: impl Fn(u32, u32) -> Arrival,
    ) {
        let (sender, _, tag) = self.sent(from, operation);
        let arrival = arrival(sender, operation);
        let matching = &mut self.ranks[rank as usize].matching;
        if let Some(receive) = matching.arrive((from, tag), arrival) {
            self.matched(ns, rank, receive, arrival);
        }
    }

    fn matched(&mut self, ns: f64, rank: u32, receive: u32, arrival: Arrival) {
        match arrival {
            Arrival::Whole(last) => {
                self.events.push(ns.max(last), rank, What::Wanted(receive));
            }
            Arrival::Asks { sender, operation } => {
                let matching = &mut self.ranks[rank as usize].matching;
                matching.answer(sender, operation, receive);
                let Operation::Receive { from, .. } = self.operation(rank, receive) else {
                    return;
                };
                let latency = self.network(rank, from).latency_ns;
                let answered = What::Answered(operation);
                self.events.push(ns + latency, sender, answered);
            }
        }
    }

    fn has_begun(&mut self, ns: f64, rank: u32, operation: u32) {
        self.state(rank, operation).has_begun = true;
        self.follow(ns, rank, operation, Until::Begun);
    }

    fn end(&mut self, ns: f64, rank: u32, operation: u32) {
        self.state(rank, operation).over_ns = ns;
        self.follow(ns, rank, operation, Until::Over);
    }

    fn follow(&mut self, ns: f64, rank: u32, operation: u32, reached: Until) {
        let Rank {
            starts,
            followers,
            operations,
            ..
        } = &mut self.ranks[rank as usize];
        let at = operation as usize;
        for follower in &followers[starts[at] as usize..starts[at + 1] as usize] {
            if follower.until != reached {
                continue;
            }
            let state = &mut operations[follower.operation as usize];
            state.awaited -= 1;
            if state.awaited == 0 {
                let begin = What::Begin(follower.operation);
                self.events.push(ns, rank, begin);
            }
        }
    }

    fn host(&self, rank: u32) -> u32 {
        rank / self.machine.ranks_a_host
    }

    fn network(&self, rank: u32, peer: u32) -> Network {
        match self.host(rank) == self.host(peer) {
            true => self.machine.within,
            false => self.machine.between,
        }
    }

    fn way(&mut self, rank: u32, peer: u32) -> &mut Way {
        let (host, other) = (self.host(rank), self.host(peer));
        match host == other {
            true => &mut self.ranks[rank as usize].within,
            false => &mut self.adapters[host as usize],
        }
    }

    /// To which rank that is simulated a message goes, and from which it seems to come there.
    fn route(&self, rank: u32, to: u32) -> (u32, u32) {
        if self.fold == Fold::None {
            return (to, rank);
        }
        let ranks = self.machine.ranks_a_host;
        let from = self.fold.mirrored(self.host(to)) * ranks + rank % ranks;
        (to % ranks, from)
    }

    /// The sender of a message that has come to a rank, and its bytes and tag.
    fn sent(&self, from: u32, operation: u32) -> (u32, u64, u32) {
        let sender = match self.fold {
            Fold::None => from,
            _ => from % self.machine.ranks_a_host,
        };
        match self.operation(sender, operation) {
            Operation::Send { bytes, tag, .. } => (sender, bytes, tag),
            _ => (sender, 0, 0),
        }
    }

    fn times(self) -> Result<Times, Stuck> {
        let mut end_ns: f64 = 0.0;
        let mut over_ns = Vec::new();
        let unreceived = self.ranks.iter().map(|rank| rank.matching.unreceived());
        let unreceived = unreceived.sum();
        for (rank, of_rank) in self.ranks.iter().enumerate() {
            let stuck = of_rank.operations.iter().position(|one| one.over_ns < 0.0);
            if let Some(operation) = stuck {
                return Err(Stuck {
                    rank: rank as u32,
                    operation: operation as u32,
                    has_begun: of_rank.operations[operation].has_begun,
                });
            }
            let over: Vec<f64> = of_rank.operations.iter().map(|one| one.over_ns).collect();
            end_ns = over.iter().copied().fold(end_ns, f64::max);
            over_ns.push(over);
        }
        Ok(Times {
            over_ns,
            end_ns,
            unreceived,
        })
    }
}

impl Rank {
    fn new(rank: &crate::Rank) -> Rank {
        let count = rank.operations.len();
        let state = State {
            awaited: 0,
            has_begun: false,
            over_ns: -1.0,
        };
        let mut operations = vec![state; count];
        let mut starts = vec![0; count + 1];
        for order in &rank.orders {
            starts[order.before as usize + 1] += 1;
            operations[order.operation as usize].awaited += 1;
        }
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let mut orders: Vec<_> = rank.orders.iter().collect();
        orders.sort_by_key(|order| order.before);
        let follower = |order: &crate::Order| Follower {
            operation: order.operation,
            until: order.until,
        };
        Rank {
            processor: Processor::default(),
            within: Way::default(),
            matching: Matching::default(),
            operations,
            starts,
            followers: orders.into_iter().map(follower).collect(),
        }
    }
}
