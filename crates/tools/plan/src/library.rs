//! What the library does: its own collective futures, run as one rank after the other among peers who always have
//! answered. What a rank does depends on nothing that it receives, so that this is all that it does.

#[allow(
    unsafe_code,
    reason = "it makes the library's reductions, whose buffers are this module's"
)]
mod call;
mod host;
#[allow(unsafe_code, reason = "it makes boards, whose memory is this module's")]
pub mod one_host;
mod recorder;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use call::Call;
use host::HostPart;
use recorder::{Recorder, Step};
use weft_collective::{CHOICES, Hosts, Placement, Sharing};
use weft_goal::{Machine, Program, Rank};

use crate::{Collective, Plan, Shape};

/// What a recorded rank may hold: its memory is made, and what it copies is copied.
const MOST_BYTES: usize = 2 << 30;

/// A rank's memory would be longer than what is recorded.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong {
    pub bytes: u128,
}

fn checked_bytes(collective: Collective, shape: Shape, bytes: u64) -> Result<usize, TooLong> {
    let longest = match collective.has_blocks() {
        true => u128::from(bytes) * shape.ranks() as u128,
        false => u128::from(bytes),
    };
    match longest > MOST_BYTES as u128 {
        true => Err(TooLong { bytes: longest }),
        false => Ok(bytes as usize),
    }
}

/// A collective of the library's, on so many hosts.
pub struct Library {
    pub collective: Collective,
    pub shape: Shape,
    pub bytes: usize,
    call: Call,
    machine: Machine,
    combine_byte_ns: f64,
    /// As the rank that was recorded last sees them; none on one host.
    hosts: Cell<Option<Hosts>>,
    /// The positions on a host of the ranks that send to other hosts or receive from there.
    speakers: Vec<usize>,
    parts: RefCell<HashMap<Vec<Vec<Step>>, HostPart>>,
}

impl Library {
    /// Messages go within hosts by the machine's parameters for that.
    pub fn new(
        collective: Collective,
        shape: Shape,
        bytes: u64,
        machine: Machine,
        combine_byte_ns: f64,
    ) -> Result<Library, TooLong> {
        let bytes = checked_bytes(collective, shape, bytes)?;
        let names = (0..shape.ranks()).map(|rank| (rank / shape.ranks_a_host) as u32);
        let mut library = Library {
            collective,
            shape,
            bytes,
            call: Call::new(collective, shape.ranks(), bytes),
            machine,
            combine_byte_ns,
            hosts: Cell::new(Hosts::new(0, names)),
            speakers: Vec::new(),
            parts: RefCell::default(),
        };
        library.speakers = library.find_speakers();
        Ok(library)
    }

    /// The name of the algorithm that the library chooses.
    pub fn algorithm(&self) -> String {
        let hosts = self.hosts.take();
        let placement = hosts.as_ref().and_then(Placement::of);
        self.hosts.set(hosts);
        let choice = CHOICES
            .iter()
            .find(|one| one.operation == self.collective.name());
        let choice = choice.expect("the library has each of them");
        let ranks = self.shape.ranks();
        let number = choice.chosen(self.bytes, ranks, false, Sharing::Nothing, placement);
        choice.algorithms().swap_remove(number)
    }

    /// How many of a host's ranks speak between hosts.
    pub fn speakers(&self) -> usize {
        self.speakers.len()
    }

    /// How long what goes on within a host takes alone: the longest of the root's and another.
    pub fn within_ns(&self) -> f64 {
        if self.shape.ranks_a_host == 1 {
            return 0.0;
        }
        let ends = [0, self.shape.hosts - 1].map(|host| self.alone(host).end_ns);
        ends[0].max(ends[1])
    }

    pub fn plan(&self) -> Plan<'_> {
        Plan {
            hosts: self.shape.hosts,
            speakers: self.speakers.len(),
            of_host: Box::new(|host| self.of_host(host)),
        }
    }

    /// What the ranks of a host do that speak between hosts.
    fn of_host(&self, host: usize) -> Vec<Rank> {
        let steps: Vec<Vec<Step>> = (self.speakers.iter())
            .map(|&position| self.record(host, position))
            .collect();
        if self.speakers.len() == self.shape.ranks_a_host {
            return steps.iter().map(|steps| self.whole(steps)).collect();
        }
        let within: Vec<Vec<Step>> = steps.iter().map(|one| self.within(host, one)).collect();
        let mut parts = self.parts.borrow_mut();
        let part = parts.entry(within).or_insert_with(|| self.alone(host));
        let each = self.speakers.iter().zip(&steps);
        each.map(|(&position, steps)| self.between(host, steps, part, position))
            .collect()
    }

    /// A rank of which all messages are told.
    fn whole(&self, steps: &[Step]) -> Rank {
        let mut program = Program::default();
        let mut requests = Vec::new();
        for step in steps {
            let request = match *step {
                Step::Send { to, bytes } => Some(program.send(to, bytes as u64)),
                Step::Receive { from, bytes } => Some(program.receive(from, bytes as u64)),
                Step::Wait(request) => {
                    program.wait(requests[request]);
                    None
                }
                Step::Combine(bytes) => {
                    program.calc(self.combining_ns(bytes));
                    None
                }
            };
            requests.extend(request);
        }
        program.finish()
    }

    /// A rank whose messages within its host are the time that they take.
    fn between(&self, host: usize, steps: &[Step], part: &HostPart, position: usize) -> Rank {
        let mut program = Program::default();
        // By request; those within the host are waited for where they are begun.
        let mut requests = Vec::new();
        let mut taken = part.taken_ns[position].iter();
        for step in steps {
            match *step {
                Step::Send { to: peer, .. } | Step::Receive { from: peer, .. }
                    if self.host_of(peer) == host =>
                {
                    program.calc(taken.next().copied().unwrap_or(0));
                    requests.push(None);
                }
                Step::Send { to, bytes } => {
                    requests.push(Some(program.send(self.speaker(to), bytes as u64)));
                }
                Step::Receive { from, bytes } => {
                    requests.push(Some(program.receive(self.speaker(from), bytes as u64)));
                }
                Step::Wait(request) => {
                    if let Some(request) = requests[request] {
                        program.wait(request);
                    }
                }
                Step::Combine(bytes) => program.calc(self.combining_ns(bytes)),
            }
        }
        program.calc(part.behind_ns[position]);
        program.finish()
    }

    /// The number of a rank among those that speak.
    fn speaker(&self, rank: usize) -> usize {
        let position = rank % self.shape.ranks_a_host;
        let place = self.speakers.iter().position(|&one| one == position);
        let place = place.expect("who is spoken to speaks");
        self.host_of(rank) * self.speakers.len() + place
    }

    fn host_of(&self, rank: usize) -> usize {
        rank / self.shape.ranks_a_host
    }

    fn combining_ns(&self, bytes: usize) -> u64 {
        (bytes as f64 * self.combine_byte_ns).round() as u64
    }

    /// The steps within the host, whose ranks are numbered by themselves.
    fn within(&self, host: usize, steps: &[Step]) -> Vec<Step> {
        let first = host * self.shape.ranks_a_host;
        let mut within = Vec::new();
        // By request, its number among those that are left.
        let mut requests: Vec<Option<usize>> = Vec::new();
        let mut left = 0;
        for step in steps {
            let peer = match *step {
                Step::Send { to: peer, .. } | Step::Receive { from: peer, .. } => peer,
                Step::Wait(request) => {
                    within.extend(requests[request].map(Step::Wait));
                    continue;
                }
                Step::Combine(_) => {
                    // What is combined of other hosts' goes on among the hosts.
                    continue;
                }
            };
            let is_within = self.host_of(peer) == host;
            requests.push(is_within.then_some(left));
            if is_within {
                left += 1;
                within.push(step.with_peer(peer - first));
            }
        }
        within
    }

    fn alone(&self, host: usize) -> HostPart {
        let positions = 0..self.shape.ranks_a_host;
        let ranks = positions.map(|position| {
            let steps = self.record(host, position);
            self.whole(&self.within(host, &steps))
        });
        HostPart::new(ranks.collect(), &self.machine)
    }

    /// The root's host and the last one have all the positions that others have.
    fn find_speakers(&self) -> Vec<usize> {
        let speaks = |position: usize| {
            [0, self.shape.hosts - 1].into_iter().any(|host| {
                let steps = self.record(host, position);
                let mut peers = steps.iter().filter_map(Step::peer);
                peers.any(|peer| self.host_of(peer) != host)
            })
        };
        let positions = 0..self.shape.ranks_a_host;
        positions.filter(|&position| speaks(position)).collect()
    }

    fn record(&self, host: usize, position: usize) -> Vec<Step> {
        let rank = host * self.shape.ranks_a_host + position;
        let hosts = self.hosts.take().map(|hosts| hosts.seen_by(rank));
        let recorder = Recorder::new(rank, self.shape.ranks(), hosts);
        self.call.run(&recorder);
        let (steps, hosts) = recorder.finish();
        self.hosts.set(hosts);
        steps
    }
}
