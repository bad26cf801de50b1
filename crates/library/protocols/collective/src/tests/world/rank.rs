//! A rank of a world: its messages, and the board of its host.

use super::network::{Message, Payload, Posted, State, Status, read};
use super::{Error, LOST, TRUNCATED, World};
use crate::memory::copy;
use crate::{Arena, Hosts, PointToPoint};
use std::num::NonZeroU8;
use std::task::Poll;
use weft_memory::Memory;
use weft_sync::board::{Board, Broken, Need};

pub struct Rank<'w> {
    pub(super) world: &'w World,
    pub(super) rank: usize,
    pub(super) hosts: Option<Hosts>,
    /// The ranks of its host, with which it shares the board.
    pub(super) on_host: Vec<usize>,
    pub(super) board: Board,
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
            Some(Broken::Apart | Broken::Revoked) => Err(Error::Apart),
            Some(Broken::NoMemory) => Err(Rank::no_memory()),
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

    fn leader_before(&self, _: u32) -> Option<usize> {
        self.world.leader
    }

    fn send(&self, to: usize, tag: u32, memory: Memory) -> Result<usize, Error> {
        self.check_way(to)?;
        let mut state = self.world.state.borrow_mut();
        if state.dead == Some(to) {
            return self.send_to_dead(&mut state);
        }
        if self.world.names[self.rank] != self.world.names[to] {
            state.count(self.rank, to, memory.bytes);
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

    fn no_memory() -> Error {
        Error::Refused
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

    fn is_near(&self) -> bool {
        false
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

    fn failure_of(&self, _: usize, mark: NonZeroU8) -> Error {
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
