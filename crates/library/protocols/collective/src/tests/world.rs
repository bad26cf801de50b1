//! Ranks and a network in one thread. Messages between two ranks keep their order; everything else happens
//! in an order chosen by a seed. A send may be read when it starts (eager) or when it is delivered
//! (rendezvous), so that memory reused too early shows.

use crate::memory::copy;
use crate::{Arena, Channel, Outcome, PointToPoint};
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
    messages: VecDeque<(u32, Payload)>,
    receives: VecDeque<Posted>,
}

struct State {
    random: u64,
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
                for (_, message) in pair.messages.drain(..) {
                    if let Payload::Rendezvous(_, request) = message {
                        self.requests[request] = Status::Done(Err(Error::Lost));
                    }
                }
            }
            if from == rank {
                let lent =
                    |(_, message): &(u32, Payload)| matches!(message, Payload::Rendezvous(..));
                let first = pair.messages.iter().position(lent);
                pair.messages.truncate(first.unwrap_or(usize::MAX));
            }
        }
    }

    /// Delivers one message, or that there will be none; false if there is nothing to deliver.
    fn deliver(&mut self) -> bool {
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
        let Some((tag, payload)) = pair.messages.pop_front() else {
            self.requests[receive.request] = Status::Done(Err(Error::Lost));
            return true;
        };
        assert_eq!(tag, receive.tag);
        let data = match payload {
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
    /// Sends to this rank fail.
    pub refuses: Option<usize>,
    /// A rank, and after how many turns of any rank it dies.
    pub dies: Option<(usize, usize)>,
    state: RefCell<State>,
}

pub struct Rank<'w> {
    world: &'w World,
    rank: usize,
    board: Board,
}

pub const TAG: u32 = 77;
const TRUNCATED: NonZeroU8 = NonZeroU8::new(1).unwrap();
pub const LOST: NonZeroU8 = NonZeroU8::new(2).unwrap();

impl World {
    pub fn new(size: usize, seed: u64) -> World {
        let state = State {
            random: seed * 2 + 1,
            requests: Vec::new(),
            owners: Vec::new(),
            dead: None,
            pairs: BTreeMap::new(),
        };
        World {
            size,
            oversubscribed: false,
            refuses: None,
            dies: None,
            state: RefCell::new(state),
        }
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
        let mut shared = vec![0u8; board::bytes(self.size) + PAGE];
        let base = shared.as_mut_ptr();
        let base = base.wrapping_add(base.align_offset(PAGE));
        let new = |rank| Rank {
            world: self,
            rank,
            // SAFETY: the memory is long enough, and outlives the ranks.
            board: unsafe { Board::new(base, rank, self.size) },
        };
        let ranks: Vec<_> = (0..self.size).map(new).collect();
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
                idle = if self.state.borrow_mut().deliver() {
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
        state
            .pairs
            .entry((self.rank, to))
            .or_default()
            .messages
            .push_back((tag, payload));
        Ok(request)
    }

    fn send_failure(&self, to: usize, tag: u32, mark: NonZeroU8) -> Result<usize, Error> {
        self.check_way(to)?;
        let mut state = self.world.state.borrow_mut();
        if state.dead == Some(to) {
            return self.send_to_dead(&mut state);
        }
        let pair = state.pairs.entry((self.rank, to)).or_default();
        pair.messages.push_back((tag, Payload::Failed(mark)));
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

    fn arena(&self) -> Option<&dyn Arena<Error>> {
        Some(self)
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
        if self.world.state.borrow().dead == Some(need.rank) {
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

    /// Where the board is given up, ranks may be out of the operation, and their memory something else.
    fn read(&self, rank: usize, address: u64, into: &Memory) -> Result<(), Error> {
        if self.world.state.borrow().dead == Some(rank) {
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
