//! Ranks and a network in one thread. Messages between two ranks keep their order; everything else happens
//! in an order chosen by a seed. A send may be read when it starts (eager) or when it is delivered
//! (rendezvous), so that memory reused too early shows.

use crate::memory::copy;
use crate::select::Needs;
use crate::{Arena, Channel, Hosts, Outcome, PointToPoint};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU8;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use weft_memory::Memory;
use weft_sync::board::{self, Board, Broken, Need};

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

struct Message {
    tag: u32,
    payload: Payload,
    /// How many messages between hosts led to it, itself included.
    depth: usize,
}

enum Payload {
    Eager(Vec<u8>),
    Rendezvous(Memory, usize),
    Failed(NonZeroU8),
}

struct Posted {
    request: usize,
    tag: u32,
    memory: Memory,
}

enum Status {
    Pending,
    Done(Result<usize, Error>),
    Used,
}

#[derive(Default)]
struct Pair {
    messages: VecDeque<Message>,
    receives: VecDeque<Posted>,
}

struct State {
    random: u64,
    /// How many messages between hosts one after the other have led to where each host is, by its name.
    depths: BTreeMap<u32, usize>,
    requests: Vec<Status>,
    /// Whose each request is.
    owners: Vec<usize>,
    dead: Option<usize>,
    /// By sender and receiver.
    pairs: BTreeMap<(usize, usize), Pair>,
}

impl State {
    /// xorshift64*
    fn random(&mut self, below: usize) -> usize {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        (self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % below
    }

    fn request(&mut self, owner: usize, status: Status) -> usize {
        self.owners.push(owner);
        self.requests.push(status);
        self.requests.len() - 1
    }

    /// A rank does nothing any more. What it has sent is delivered, but not from memory that was still its own.
    fn die(&mut self, rank: usize) {
        self.dead = Some(rank);
        for (&(from, to), pair) in &mut self.pairs {
            if to == rank {
                pair.receives.clear();
                for message in pair.messages.drain(..) {
                    if let Payload::Rendezvous(_, request) = message.payload {
                        self.requests[request] = Status::Done(Err(Error::Lost));
                    }
                }
            }
            if from == rank {
                let lent = |message: &Message| matches!(message.payload, Payload::Rendezvous(..));
                let first = pair.messages.iter().position(lent);
                pair.messages.truncate(first.unwrap_or(usize::MAX));
            }
        }
    }

    /// Delivers one message, or that there will be none; false if there is nothing to deliver.
    fn deliver(&mut self, names: &[u32]) -> bool {
        let dead = self.dead;
        let candidates: Vec<_> = self
            .pairs
            .iter()
            .filter(|((from, _), pair)| !pair.messages.is_empty() || dead == Some(*from))
            .filter(|(_, pair)| !pair.receives.is_empty())
            .map(|(&key, _)| key)
            .collect();
        if candidates.is_empty() {
            return false;
        }
        let key = candidates[self.random(candidates.len())];
        let pair = self.pairs.get_mut(&key).unwrap();
        let receive = pair.receives.pop_front().unwrap();
        let Some(message) = pair.messages.pop_front() else {
            self.requests[receive.request] = Status::Done(Err(Error::Lost));
            return true;
        };
        assert_eq!(message.tag, receive.tag);
        let depth = self.depths.entry(names[key.1]).or_default();
        *depth = message.depth.max(*depth);
        let data = match message.payload {
            Payload::Eager(data) => data,
            Payload::Rendezvous(memory, request) => {
                self.requests[request] = Status::Done(Ok(memory.bytes));
                read(&memory)
            }
            Payload::Failed(mark) => {
                self.requests[receive.request] = Status::Done(Err(Error::Told(mark)));
                return true;
            }
        };
        let outcome = if data.len() > receive.memory.bytes {
            Err(Error::Truncated)
        } else {
            // SAFETY: the tests' buffers outlive the operation.
            unsafe { receive.memory.write(0, &data) };
            Ok(data.len())
        };
        self.requests[receive.request] = Status::Done(outcome);
        true
    }
}

fn read(memory: &Memory) -> Vec<u8> {
    let mut data = vec![0; memory.bytes];
    // SAFETY: the tests' buffers outlive the operation.
    unsafe { memory.read(0, &mut data) };
    data
}

pub struct World {
    size: usize,
    pub oversubscribed: bool,
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

pub struct Rank<'w> {
    world: &'w World,
    rank: usize,
    hosts: Option<Hosts>,
    /// The ranks of its host, with which it shares the board.
    on_host: Vec<usize>,
    board: Board,
}

pub const TAG: u32 = 77;
pub const TRUNCATED: NonZeroU8 = NonZeroU8::new(1).unwrap();
pub const LOST: NonZeroU8 = NonZeroU8::new(2).unwrap();

impl World {
    pub fn new(size: usize, seed: u64) -> World {
        let state = State {
            random: seed * 2 + 1,
            depths: BTreeMap::new(),
            requests: Vec::new(),
            owners: Vec::new(),
            dead: None,
            pairs: BTreeMap::new(),
        };
        World {
            size,
            oversubscribed: false,
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
                idle < 1000,
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

impl Rank<'_> {
    /// Whether anything may be sent there.
    fn check_way(&self, to: usize) -> Result<(), Error> {
        assert!(to < self.world.size && to != self.rank);
        match self.world.refuses {
            Some(refusing) if refusing == to => Err(Error::Refused),
            _ => Ok(()),
        }
    }

    /// How many messages between hosts lead to one that is sent now.
    fn depth_to(&self, state: &State, to: usize) -> usize {
        let [own, theirs] = [self.rank, to].map(|rank| self.world.names[rank]);
        let depth = state.depths.get(&own).copied().unwrap_or(0);
        depth + usize::from(own != theirs)
    }

    /// It fails at once, or later, or nobody ever learns of it.
    fn send_to_dead(&self, state: &mut State) -> Result<usize, Error> {
        let outcome = match state.random(3) {
            0 => return Err(Error::Lost),
            1 => Err(Error::Lost),
            _ => Ok(0),
        };
        Ok(state.request(self.rank, Status::Done(outcome)))
    }

    fn given_up(&self) -> Result<(), Error> {
        match self.board.broken() {
            None => Ok(()),
            Some(Broken::Gone(_)) => Err(Error::Lost),
            Some(Broken::Apart) => Err(Error::Apart),
        }
    }
}

impl PointToPoint for Rank<'_> {
    type Request = usize;
    type Error = Error;

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.world.size
    }

    fn oversubscribed(&self) -> bool {
        self.world.oversubscribed
    }

    fn send(&self, to: usize, tag: u32, memory: Memory) -> Result<usize, Error> {
        self.check_way(to)?;
        let mut state = self.world.state.borrow_mut();
        if state.dead == Some(to) {
            return self.send_to_dead(&mut state);
        }
        let (payload, request) = if state.random(2) == 0 {
            let data = read(&memory);
            (
                Payload::Eager(data),
                state.request(self.rank, Status::Done(Ok(memory.bytes))),
            )
        } else {
            let request = state.request(self.rank, Status::Pending);
            (Payload::Rendezvous(memory, request), request)
        };
        let depth = self.depth_to(&state, to);
        state
            .pairs
            .entry((self.rank, to))
            .or_default()
            .messages
            .push_back(Message {
                tag,
                payload,
                depth,
            });
        Ok(request)
    }

    fn send_failure(&self, to: usize, tag: u32, mark: NonZeroU8) -> Result<usize, Error> {
        self.check_way(to)?;
        let mut state = self.world.state.borrow_mut();
        if state.dead == Some(to) {
            return self.send_to_dead(&mut state);
        }
        let message = Message {
            tag,
            payload: Payload::Failed(mark),
            depth: self.depth_to(&state, to),
        };
        let pair = state.pairs.entry((self.rank, to)).or_default();
        pair.messages.push_back(message);
        Ok(state.request(self.rank, Status::Done(Ok(0))))
    }

    fn mark(error: &Error) -> NonZeroU8 {
        match *error {
            Error::Truncated => TRUNCATED,
            Error::Refused | Error::Lost | Error::Apart => LOST,
            Error::Told(mark) => mark,
        }
    }

    fn receive(&self, from: usize, tag: u32, memory: Memory) -> Result<usize, Error> {
        assert!(from < self.world.size && from != self.rank);
        let mut state = self.world.state.borrow_mut();
        let request = state.request(self.rank, Status::Pending);
        let posted = Posted {
            request,
            tag,
            memory,
        };
        state
            .pairs
            .entry((from, self.rank))
            .or_default()
            .receives
            .push_back(posted);
        Ok(request)
    }

    fn poll(&self, request: usize) -> Option<Result<usize, Error>> {
        let mut state = self.world.state.borrow_mut();
        match state.requests[request] {
            Status::Pending => None,
            Status::Done(outcome) => {
                state.requests[request] = Status::Used;
                Some(outcome)
            }
            Status::Used => panic!("request {request} was used up before"),
        }
    }

    fn hosts(&self) -> Option<&Hosts> {
        self.hosts.as_ref()
    }

    fn arena(&self) -> Option<&dyn Arena<Error>> {
        let shares = self.world.shares && (self.on_host.len() > 1 || self.hosts.is_none());
        shares.then_some(self as _)
    }
}

impl Arena<Error> for Rank<'_> {
    fn board(&self) -> &Board {
        &self.board
    }

    fn copies(&self) -> bool {
        true
    }

    fn look(&self, need: Need) -> Poll<Result<(), Error>> {
        if self.board.is_met(need) {
            return Poll::Ready(Ok(()));
        }
        if self.world.state.borrow().dead == Some(self.on_host[need.rank]) {
            self.board.give_up(Broken::Gone(need.rank));
        }
        match self.given_up() {
            Ok(()) => Poll::Pending,
            lost => Poll::Ready(lost),
        }
    }

    fn wake(&self) {}

    fn differs(&self, _: usize, _: Option<[usize; 2]>) -> Error {
        Error::Truncated
    }

    fn told(&self, _: usize, mark: NonZeroU8) -> Error {
        Error::Told(mark)
    }

    /// Where the board is given up, ranks may be out of the operation, and their memory something else.
    fn read(&self, rank: usize, address: u64, into: &Memory) -> Result<(), Error> {
        if self.world.state.borrow().dead == Some(self.on_host[rank]) {
            self.board.give_up(Broken::Gone(rank));
        }
        self.given_up()?;
        let from = std::ptr::with_exposed_provenance_mut(address as usize);
        copy(&Memory::contiguous(from, into.bytes), into);
        Ok(())
    }
}

/// A group of a world's ranks, as one of them or one of another group sees it.
pub struct Group<'w> {
    pub own: &'w Rank<'w>,
    /// This one's rank in its own group.
    pub rank: usize,
    /// Where the group's ranks begin.
    pub start: usize,
    pub size: usize,
}

impl PointToPoint for Group<'_> {
    type Request = usize;
    type Error = Error;

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn oversubscribed(&self) -> bool {
        self.own.oversubscribed()
    }

    fn send(&self, to: usize, tag: u32, memory: Memory) -> Result<usize, Error> {
        assert!(to < self.size);
        self.own.send(self.start + to, tag, memory)
    }

    fn send_failure(&self, to: usize, tag: u32, mark: NonZeroU8) -> Result<usize, Error> {
        assert!(to < self.size);
        self.own.send_failure(self.start + to, tag, mark)
    }

    fn mark(error: &Error) -> NonZeroU8 {
        Rank::mark(error)
    }

    fn receive(&self, from: usize, tag: u32, memory: Memory) -> Result<usize, Error> {
        assert!(from < self.size);
        self.own.receive(self.start + from, tag, memory)
    }

    fn poll(&self, request: usize) -> Option<Result<usize, Error>> {
        self.own.poll(request)
    }
}

/// The hosts of as many ranks: one; pairs, thirds and halves that follow each other; one, two and the rest; every second and every
/// third rank; one rank a host.
fn placements(size: usize) -> Vec<Vec<u32>> {
    let place = |host: &dyn Fn(usize) -> usize| (0..size).map(|rank| host(rank) as u32).collect();
    let mut all: Vec<Vec<u32>> = vec![
        place(&|_| 0),
        place(&|rank| rank / 2),
        place(&|rank| rank * 3 / size),
        place(&|rank| rank * 2 / size),
        place(&|rank| rank.min(3).div_ceil(2)),
        place(&|rank| rank % 2),
        place(&|rank| (rank + 1) % 3),
        place(&|rank| rank),
    ];
    all.sort();
    all.dedup();
    all
}

/// The placements in which an algorithm that asks this of the ranks can run.
pub fn placements_for(size: usize, needs: Needs) -> Vec<Vec<u32>> {
    let mut all = placements(size);
    all.retain(
        |names| match (needs, Hosts::new(0, names.iter().copied())) {
            (Needs::Nothing | Needs::Board | Needs::Everything, hosts) => hosts.is_none(),
            (_, None) => false,
            (Needs::Hosts, Some(_)) => true,
            (Needs::ContiguousHosts, Some(hosts)) => hosts.is_contiguous(),
            (Needs::EvenHosts, Some(hosts)) => hosts.is_even(),
        },
    );
    all
}

/// Worlds in which such an algorithm can run. On several hosts the ranks of each share memory or, as in nonblocking
/// operations, do not.
pub fn worlds(size: usize, seed: u64, needs: Needs) -> Vec<World> {
    let mut worlds = Vec::new();
    for names in placements_for(size, needs) {
        worlds.push(World::on_hosts(names.clone(), true, seed));
        if Hosts::new(0, names.iter().copied()).is_some() {
            worlds.push(World::on_hosts(names, false, seed + 1));
        }
    }
    worlds
}

/// Worlds of as many ranks on one host and on several.
pub fn all_worlds(size: usize, seed: u64) -> Vec<World> {
    let mut worlds = worlds(size, seed, Needs::Nothing);
    worlds.extend(self::worlds(size, seed, Needs::Hosts));
    worlds
}
