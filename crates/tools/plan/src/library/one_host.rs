//! What the ranks of one host do: the library's own collective futures, run in turns until each has what it waits for on
//! the board, while messages are always there. What a rank does depends on nothing that it receives, and not on when others
//! post, so that this is what it does whatever time that takes (`weft_sim`).

use std::cell::RefCell;
use std::num::NonZeroU8;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use weft_collective::{Arena, CHOICES, Channel, Choice, Doing, Outcome, PointToPoint, Sharing};
use weft_memory::Memory;
use weft_sim::{Act, Host};
use weft_sync::board::{self, Board, Need};

use super::call::Call;
use super::recorder::Never;
use super::{TooLong, checked_bytes};
use crate::{Collective, Shape};

/// Operations before those that are counted, in which ranks get as far ahead of each other as they do, and those.
const BEFORE: u32 = 4;
const COUNTED: u32 = 6;

/// The library's prices are those of near cores where a word goes from one to the other in less.
const NEAR_NS: f64 = 100.0;

#[derive(Clone, Copy, Debug)]
pub struct Simulated {
    pub ns: f64,
    /// In some operation sleepers and their wakers lost more time by wakes than all ranks together worked.
    pub is_storm: bool,
}

pub struct OneHost {
    collective: Collective,
    ranks: usize,
    bytes: usize,
    call: Call,
}

impl OneHost {
    pub fn new(collective: Collective, ranks: usize, bytes: u64) -> Result<OneHost, TooLong> {
        let shape = Shape {
            hosts: 1,
            ranks_a_host: ranks,
        };
        let bytes = checked_bytes(collective, shape, bytes)?;
        Ok(OneHost {
            collective,
            ranks,
            bytes,
            call: Call::new(collective, ranks, bytes),
        })
    }

    fn choice(&self) -> &'static Choice {
        let mut all = CHOICES.iter();
        let choice = all.find(|one| one.operation == self.collective.name());
        choice.expect("the library has each of them")
    }

    /// By number.
    pub fn algorithms(&self) -> Vec<(usize, String)> {
        let choice = self.choice();
        let names = choice.algorithms();
        let possible = choice.possible(None, Sharing::Everything).into_iter();
        possible
            .map(|number| (number, names[number].clone()))
            .collect()
    }

    /// The name of the algorithm that the library chooses there.
    pub fn chosen(&self, host: &Host) -> String {
        let ranks = self.ranks;
        let lines = (1..ranks.min(host.cores)).map(|core| host.line_between_ns(0, core));
        let are_near = lines.fold(0.0, f64::max) < NEAR_NS;
        let ranges = self.choice().ranges(ranks, ranks > host.cores, are_near);
        let mut ranges = ranges.into_iter();
        let found = ranges.find(|(longest, _)| self.bytes <= *longest);
        found.expect("the last range has no end").1
    }

    /// What each rank does in so many operations, one after the other, by the algorithm of that number.
    pub fn record(&self, algorithm: usize, operations: u32) -> Vec<Vec<Act>> {
        let mut memory = vec![0u8; board::bytes(self.ranks) + PAGE];
        let base = memory.as_mut_ptr();
        let base = base.wrapping_add(base.align_offset(PAGE));
        let ranks: Vec<Rank> = (0..self.ranks)
            .map(|rank| Rank {
                // SAFETY: the memory is long enough, zero and aligned, and outlives the boards.
                board: unsafe { Board::new(base, rank, self.ranks) },
                record: RefCell::default(),
            })
            .collect();
        let mut futures: Vec<Pin<Box<dyn Future<Output = ()>>>> = Vec::new();
        for rank in &ranks {
            futures.push(Box::pin(self.operations(rank, algorithm, operations)));
        }
        let mut context = Context::from_waker(Waker::noop());
        while !futures.is_empty() {
            futures.retain_mut(|future| future.as_mut().poll(&mut context).is_pending());
        }
        drop(futures);
        let acts = ranks.into_iter().map(|rank| rank.record.into_inner().acts);
        acts.collect()
    }

    /// How long an operation takes by the algorithm of that number, one of several that follow each other.
    pub fn simulate(&self, host: &Host, algorithm: usize, seed: u64) -> Simulated {
        let acts = self.record(algorithm, BEFORE + COUNTED);
        let outcome = weft_sim::run(host, &acts, seed, None);
        let mut waking = outcome.waking_ns.iter().zip(&outcome.worked_ns);
        Simulated {
            ns: outcome.mean_ns(BEFORE as usize),
            is_storm: waking.any(|(waking, worked)| waking > worked),
        }
    }

    async fn operations(&self, rank: &Rank, algorithm: usize, operations: u32) {
        for tag in 0..operations {
            let outcome = Outcome::default();
            let channel = Channel::new(rank, tag, &outcome);
            let record = |bytes| rank.act(Act::Combine(bytes));
            let done = self.call.operation(&channel, &record, Some(algorithm));
            done.await.unwrap_or_else(|never| match never {});
            rank.act(Act::End);
        }
    }
}

const PAGE: usize = 4096;

struct Rank {
    board: Board,
    record: RefCell<Record>,
}

#[derive(Default)]
struct Record {
    acts: Vec<Act>,
    /// The bytes of each request.
    requests: Vec<usize>,
}

impl Rank {
    fn act(&self, act: Act) {
        self.record.borrow_mut().acts.push(act);
    }

    fn request(&self, act: Act, bytes: usize) -> usize {
        self.act(act);
        let requests = &mut self.record.borrow_mut().requests;
        requests.push(bytes);
        requests.len() - 1
    }
}

impl PointToPoint for Rank {
    type Request = usize;
    type Error = Never;

    fn rank(&self) -> usize {
        self.board.rank()
    }

    fn size(&self) -> usize {
        self.board.ranks()
    }

    fn oversubscribed(&self) -> bool {
        false
    }

    fn send(&self, to: usize, _: u32, memory: Memory) -> Result<usize, Never> {
        let bytes = memory.bytes;
        Ok(self.request(Act::Send { to, bytes }, bytes))
    }

    fn send_failure(&self, _: usize, _: u32, _: NonZeroU8) -> Result<usize, Never> {
        unreachable!("nothing fails")
    }

    fn mark(error: &Never) -> NonZeroU8 {
        match *error {}
    }

    fn no_memory() -> Never {
        panic!("there is no memory for what a rank holds")
    }

    fn receive(&self, from: usize, _: u32, memory: Memory) -> Result<usize, Never> {
        Ok(self.request(Act::Receive { from }, memory.bytes))
    }

    fn poll(&self, request: usize) -> Option<Result<usize, Never>> {
        self.act(Act::Wait(request));
        Some(Ok(self.record.borrow().requests[request]))
    }

    fn does(&self, does: Doing) {
        self.act(match does {
            Doing::Enter { step } => Act::Enter(step),
            Doing::Post { step, bytes } => Act::Post { step, bytes },
            Doing::Await { rank, step } => Act::Await { rank, step },
            Doing::Take { rank, bytes } => Act::Take { rank, bytes },
            Doing::Fold { rank, bytes } => Act::Fold { rank, bytes },
            Doing::Copy { bytes } => Act::Copy(bytes),
        });
    }

    fn arena(&self) -> Option<&dyn Arena<Never>> {
        Some(self)
    }
}

impl Arena<Never> for Rank {
    fn board(&self) -> &Board {
        &self.board
    }

    fn copies(&self) -> bool {
        true
    }

    fn is_near(&self) -> bool {
        false
    }

    fn look(&self, need: Need) -> Poll<Result<(), Never>> {
        match self.board.is_met(need) {
            true => Poll::Ready(Ok(())),
            false => Poll::Pending,
        }
    }

    fn wake(&self) {}

    fn differs(&self, _: usize, _: Option<[usize; 2]>) -> Never {
        unreachable!("all pass the same lengths")
    }

    fn failure_of(&self, _: usize, _: NonZeroU8) -> Never {
        unreachable!("nothing fails")
    }

    /// What would be copied is nobody's to read.
    fn read(&self, rank: usize, _: u64, into: &Memory) -> Result<(), Never> {
        let bytes = into.bytes;
        self.act(Act::Read { rank, bytes });
        Ok(())
    }
}
