//! Ranks and a network in one thread. Messages between two ranks keep their order; everything else happens
//! in an order chosen by a seed. A send may be read when it starts (eager) or when it is delivered
//! (rendezvous), so that memory reused too early shows.

use crate::memory::copy;
use crate::{Arena, Channel, PointToPoint};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use weft_sync::board::{self, Board, Need};
use weft_transport::Memory;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    Truncated,
    Refused,
}

enum Payload {
    Eager(Vec<u8>),
    Rendezvous(Memory, usize),
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

    fn request(&mut self, status: Status) -> usize {
        self.requests.push(status);
        self.requests.len() - 1
    }

    /// Delivers one message; false if none can be.
    fn deliver(&mut self) -> bool {
        let ready = |pair: &Pair| !pair.messages.is_empty() && !pair.receives.is_empty();
        let candidates: Vec<_> = self
            .pairs
            .iter()
            .filter(|(_, pair)| ready(pair))
            .map(|(&key, _)| key)
            .collect();
        if candidates.is_empty() {
            return false;
        }
        let key = candidates[self.random(candidates.len())];
        let pair = self.pairs.get_mut(&key).unwrap();
        let (tag, payload) = pair.messages.pop_front().unwrap();
        let receive = pair.receives.pop_front().unwrap();
        assert_eq!(tag, receive.tag);
        let data = match payload {
            Payload::Eager(data) => data,
            Payload::Rendezvous(memory, request) => {
                self.requests[request] = Status::Done(Ok(memory.bytes));
                read(&memory)
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
    state: RefCell<State>,
}

pub struct Rank<'w> {
    world: &'w World,
    rank: usize,
    board: Board,
}

pub const TAG: u32 = 77;

impl World {
    pub fn new(size: usize, seed: u64) -> World {
        let state = State {
            random: seed * 2 + 1,
            requests: Vec::new(),
            pairs: BTreeMap::new(),
        };
        World {
            size,
            oversubscribed: false,
            refuses: None,
            state: RefCell::new(state),
        }
    }

    /// Runs `operation` on all ranks to the end, and says what each returned.
    pub fn run<T>(&self, operation: impl AsyncFn(&Channel<'_, Rank<'_>>, usize) -> T) -> Vec<T> {
        self.run_ranks(async |rank| operation(&Channel::new(rank, TAG), rank.rank).await)
    }

    /// The same for operations that make their own channels.
    pub fn run_ranks<T>(&self, operation: impl AsyncFn(&Rank<'_>) -> T) -> Vec<T> {
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
        let mut idle = 0;
        while !unfinished.is_empty() {
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
        assert!(
            state
                .requests
                .iter()
                .all(|status| matches!(status, Status::Used))
        );
        results.into_iter().map(Option::unwrap).collect()
    }

    /// Whether every message sent was received.
    pub fn is_quiet(&self) -> bool {
        let empty = |pair: &Pair| pair.messages.is_empty() && pair.receives.is_empty();
        self.state.borrow().pairs.values().all(empty)
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
        assert!(to < self.world.size && to != self.rank);
        if self.world.refuses == Some(to) {
            return Err(Error::Refused);
        }
        let mut state = self.world.state.borrow_mut();
        let (payload, request) = if state.random(2) == 0 {
            let data = read(&memory);
            (
                Payload::Eager(data),
                state.request(Status::Done(Ok(memory.bytes))),
            )
        } else {
            let request = state.request(Status::Pending);
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

    fn receive(&self, from: usize, tag: u32, memory: Memory) -> Result<usize, Error> {
        assert!(from < self.world.size && from != self.rank);
        let mut state = self.world.state.borrow_mut();
        let request = state.request(Status::Pending);
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
        match self.board.is_met(need) {
            true => Poll::Ready(Ok(())),
            false => Poll::Pending,
        }
    }

    fn wake(&self) {}

    fn read(&self, _: usize, address: u64, into: &Memory) -> Result<(), Error> {
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

    fn receive(&self, from: usize, tag: u32, memory: Memory) -> Result<usize, Error> {
        assert!(from < self.size);
        self.own.receive(self.start + from, tag, memory)
    }

    fn poll(&self, request: usize) -> Option<Result<usize, Error>> {
        self.own.poll(request)
    }
}
