//! How long a plan takes, of as many of its hosts as it needs.

#[cfg(test)]
mod tests;

use weft_goal::{Fold, Machine, Network, Operation, Rank, Schedule, simulate};

/// What ranks do that speak between hosts; as many on each host, which follow each other.
pub struct Plan<'a> {
    pub hosts: usize,
    pub speakers: usize,
    /// What those of a host do.
    pub of_host: Box<dyn Fn(usize) -> Vec<Rank> + 'a>,
}

/// Up to so many operations are simulated all, whether hosts do alike or not.
const FEW_OPERATIONS: usize = 1 << 18;

/// No more are simulated: they take some 1.5 GB.
pub const MOST_OPERATIONS: usize = 1 << 24;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub ns: f64,
    pub exactness: Exactness,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// Of what all ranks do.
    Whole,
    /// Of what one host does: those that were looked at all do alike.
    OneHost,
    /// Too many operations. What the busiest rank that was looked at is busy for, with no time for which it waits.
    AtLeast,
}

impl Plan<'_> {
    /// `done` is told now and then how many hosts have been looked at.
    pub fn estimate(&self, machine: &Machine, done: &mut dyn FnMut(usize)) -> Estimate {
        let sample = self.sample();
        let total = operations_of_all(self.hosts, &sample);
        if total > FEW_OPERATIONS
            && let Some(fold) = self.fold(&sample)
        {
            let first = Schedule {
                ranks: sample[0].1.clone(),
            };
            return Estimate {
                ns: end_ns(&first, self.on(machine), fold),
                exactness: Exactness::OneHost,
            };
        }
        if total > MOST_OPERATIONS {
            let ranks = sample.iter().flat_map(|(_, ranks)| ranks);
            let busy = ranks.map(|rank| busy_ns(rank, &machine.between));
            return Estimate {
                ns: busy.fold(0.0, f64::max),
                exactness: Exactness::AtLeast,
            };
        }
        Estimate {
            ns: end_ns(&schedule(self, done), self.on(machine), Fold::None),
            exactness: Exactness::Whole,
        }
    }

    /// About how many operations all ranks have.
    pub fn operations(&self) -> usize {
        operations_of_all(self.hosts, &self.sample())
    }

    fn on(&self, machine: &Machine) -> Machine {
        Machine {
            ranks_a_host: self.speakers as u32,
            ..*machine
        }
    }

    /// Some hosts, the first among them: those at which trees and rings begin and end, and some in between.
    fn sample(&self) -> Vec<(usize, Vec<Rank>)> {
        let hosts = self.hosts;
        let mut sample = vec![0, 1, 2, 3, hosts / 3, hosts / 2, hosts - 1];
        sample.retain(|&host| host < hosts);
        sample.sort_unstable();
        sample.dedup();
        let look = |host| (host, (self.of_host)(host));
        sample.into_iter().map(look).collect()
    }

    /// How hosts do alike, if they do.
    fn fold(&self, sample: &[(usize, Vec<Rank>)]) -> Option<Fold> {
        let (_, first) = sample.first()?;
        let alike = |moved: &dyn Fn(usize, usize) -> usize| {
            sample.iter().all(|(host, ranks)| {
                let mut pairs = first.iter().zip(ranks);
                pairs.all(|(first, rank)| {
                    let peer = |peer: u32| {
                        let (of, at) =
                            (peer as usize / self.speakers, peer as usize % self.speakers);
                        (moved(of, *host) * self.speakers + at) as u32
                    };
                    moved_rank(first, peer) == *rank
                })
            })
        };
        if alike(&|peer, host| (peer + host) % self.hosts) {
            return Some(Fold::Rotation(self.hosts as u32));
        }
        alike(&|peer, host| peer ^ host).then_some(Fold::Bits)
    }
}

/// What all ranks do.
pub fn schedule(plan: &Plan<'_>, done: &mut dyn FnMut(usize)) -> Schedule {
    let mut ranks = Vec::with_capacity(plan.hosts * plan.speakers);
    for host in 0..plan.hosts {
        ranks.extend((plan.of_host)(host));
        done(host + 1);
    }
    Schedule { ranks }
}

fn end_ns(schedule: &Schedule, machine: Machine, fold: Fold) -> f64 {
    let times = simulate(schedule, &machine, fold);
    let times = times.expect("what a plan sends it receives");
    assert_eq!(times.unreceived, 0, "what a plan sends it receives");
    times.end_ns
}

/// The first host may have more than the others.
fn operations_of_all(hosts: usize, sample: &[(usize, Vec<Rank>)]) -> usize {
    let count = |ranks: &Vec<Rank>| ranks.iter().map(|rank| rank.operations.len()).sum();
    let counts: Vec<usize> = sample.iter().map(|(_, ranks)| count(ranks)).collect();
    let others = counts[1..].iter().copied().max().unwrap_or(0);
    counts[0] + (hosts - 1) * others
}

fn moved_rank(rank: &Rank, moved: impl Fn(u32) -> u32) -> Rank {
    let operations = rank.operations.iter().map(|operation| match *operation {
        Operation::Send { to, bytes, tag } => Operation::Send {
            to: moved(to),
            bytes,
            tag,
        },
        Operation::Receive { from, bytes, tag } => Operation::Receive {
            from: moved(from),
            bytes,
            tag,
        },
        calc @ Operation::Calc { .. } => calc,
    });
    Rank {
        operations: operations.collect(),
        orders: rank.orders.clone(),
    }
}

/// How long a rank's processor or its adapter is busy, in the direction that is busy longer.
fn busy_ns(rank: &Rank, network: &Network) -> f64 {
    let (mut processor, mut sending, mut receiving) = (0.0, 0.0, 0.0);
    for operation in &rank.operations {
        match *operation {
            Operation::Calc { ns } => processor += ns as f64,
            Operation::Send { bytes, .. } => {
                processor += network.processor_ns(bytes);
                sending += network.adapter_ns(bytes);
            }
            Operation::Receive { bytes, .. } => {
                processor += network.processor_ns(bytes);
                receiving += network.adapter_ns(bytes);
            }
        }
    }
    f64::max(processor, f64::max(sending, receiving))
}
