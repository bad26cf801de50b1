//! Ranks and a network in one thread. Messages between two ranks keep their order; everything else happens
//! in an order chosen by a seed. A send may be read when it starts (eager) or when it is delivered
//! (rendezvous), so that memory reused too early shows.

mod group;
mod network;
mod rank;

pub use group::Group;
pub use network::Traffic;
pub use rank::Rank;

use crate::{Channel, Hosts, Outcome};
use network::{Pair, State, Status};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroU8;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use weft_sync::board::{self, Board};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    Truncated,
    Refused,
    /// Waits for a rank that is gone.
    Lost,
    /// Lengths differed, and what is waited for will not come.
    Apart,
    /// Was told that another failed.
    Told(NonZeroU8),
}

pub struct World {
    size: usize,
    pub oversubscribed: bool,
    /// The rank that led the operation before any.
    pub leader: Option<usize>,
    /// The names of the ranks' hosts.
    names: Vec<u32>,
    /// Whether the ranks of a host share memory.
    shares: bool,
    /// Sends to this rank fail.
    pub refuses: Option<usize>,
    /// A rank, and after how many turns of any rank it dies.
    pub dies: Option<(usize, usize)>,
    state: RefCell<State>,
}

pub const TAG: u32 = 77;
pub const TRUNCATED: NonZeroU8 = NonZeroU8::new(1).unwrap();
pub const LOST: NonZeroU8 = NonZeroU8::new(2).unwrap();

impl World {
    pub fn new(size: usize, seed: u64) -> World {
        let state = State {
            random: seed * 2 + 1,
            between: vec![Default::default(); size],
            depths: BTreeMap::new(),
            requests: Vec::new(),
            owners: Vec::new(),
            dead: None,
            pairs: BTreeMap::new(),
        };
        World {
            size,
            oversubscribed: false,
            leader: None,
            names: vec![0; size],
            shares: true,
            refuses: None,
            dies: None,
            state: RefCell::new(state),
        }
    }

    /// With ranks on the hosts of these names; those of each share memory or do not.
    pub fn on_hosts(names: Vec<u32>, shares: bool, seed: u64) -> World {
        World {
            shares,
            ..World::new(names.len(), seed).named(names)
        }
    }

    fn named(mut self, names: Vec<u32>) -> World {
        self.names = names;
        self
    }

    pub fn hosts(&self, rank: usize) -> Option<Hosts> {
        Hosts::new(rank, self.names.iter().copied())
    }

    pub fn is_contiguous(&self) -> bool {
        self.hosts(0).is_none_or(|hosts| hosts.is_contiguous())
    }

    /// The most messages between hosts that waited for each other.
    pub fn depth(&self) -> usize {
        self.state
            .borrow()
            .depths
            .values()
            .copied()
            .max()
            .unwrap_or(0)
    }

    /// The most messages, and the most bytes, that a rank has sent to other hosts or was sent from there.
    pub fn busiest(&self) -> Traffic {
        let state = self.state.borrow();
        let most = |of: fn(&Traffic) -> usize| state.between.iter().flatten().map(of).max();
        Traffic {
            messages: most(|one| one.messages).unwrap_or(0),
            bytes: most(|one| one.bytes).unwrap_or(0),
        }
    }

    /// All that went between hosts.
    pub fn between(&self) -> Traffic {
        let state = self.state.borrow();
        let sent = state.between.iter().map(|[sent, _]| sent);
        sent.fold(Traffic::default(), |sum, one| Traffic {
            messages: sum.messages + one.messages,
            bytes: sum.bytes + one.bytes,
        })
    }

    /// Runs `operation` on all ranks to the end, and says what each returned.
    pub fn run<T>(&self, operation: impl AsyncFn(&Channel<'_, Rank<'_>>, usize) -> T) -> Vec<T> {
        self.run_ranks(async |rank| {
            let outcome = Outcome::default();
            operation(&Channel::new(rank, TAG, &outcome), rank.rank).await
        })
    }

    /// The same for operations that make their own channels.
    pub fn run_ranks<T>(&self, operation: impl AsyncFn(&Rank<'_>) -> T) -> Vec<T> {
        let results = self.run_while_alive(operation);
        results.into_iter().map(Option::unwrap).collect()
    }

    /// The same, where one may die.
    pub fn run_while_alive<T>(&self, operation: impl AsyncFn(&Rank<'_>) -> T) -> Vec<Option<T>> {
        const PAGE: usize = 4096;
        let mut shared: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
        let mut new = |rank: usize| {
            let name = self.names[rank];
            let all = 0..self.size;
            let on_host: Vec<usize> = all.filter(|&other| self.names[other] == name).collect();
            let bytes = board::bytes(on_host.len()) + PAGE;
            let memory = shared.entry(name).or_insert_with(|| vec![0u8; bytes]);
            let base = memory.as_mut_ptr();
            let base = base.wrapping_add(base.align_offset(PAGE));
            let position = on_host.iter().position(|&other| other == rank).unwrap();
            Rank {
                world: self,
                rank,
                hosts: self.hosts(rank),
                // SAFETY: the memory is long enough, and outlives the ranks.
                board: unsafe { Board::new(base, position, on_host.len()) },
                on_host,
            }
        };
        let ranks: Vec<_> = (0..self.size).map(&mut new).collect();
        let mut results: Vec<Option<T>> = (0..self.size).map(|_| None).collect();
        let mut futures: Vec<Pin<Box<dyn Future<Output = T>>>> = Vec::new();
        for rank in &ranks {
            futures.push(Box::pin(operation(rank)));
        }
        let mut context = Context::from_waker(Waker::noop());
        let mut unfinished: Vec<usize> = (0..self.size).collect();
        let (mut idle, mut turns) = (0, 0);
        while !unfinished.is_empty() {
            if let Some((rank, _)) = self.dies.filter(|&(_, after)| turns == after) {
                self.state.borrow_mut().die(rank);
                unfinished.retain(|&other| other != rank);
                if unfinished.is_empty() {
                    break;
                }
            }
            turns += 1;
            assert!(
                idle < 1000 * self.size,
                "{} of {} ranks wait for ever",
                unfinished.len(),
                self.size
            );
            let deliveries = self.state.borrow_mut().random(3);
            for _ in 0..deliveries {
                idle = if self.state.borrow_mut().deliver(&self.names) {
                    0
                } else {
                    idle + 1
                };
            }
            let at = self.state.borrow_mut().random(unfinished.len());
            let rank = unfinished[at];
            if let Poll::Ready(result) = futures[rank].as_mut().poll(&mut context) {
                results[rank] = Some(result);
                unfinished.swap_remove(at);
                idle = 0;
            }
        }
        drop(futures);
        let state = self.state.borrow();
        let mut requests = state.owners.iter().zip(&state.requests);
        assert!(requests.all(|(&owner, status)| {
            state.dead == Some(owner) || matches!(status, Status::Used)
        }));
        results
    }

    /// Whether every message sent was received.
    pub fn is_quiet(&self) -> bool {
        let empty = |pair: &Pair| pair.messages.is_empty() && pair.receives.is_empty();
        self.state.borrow().pairs.values().all(empty)
    }
}
