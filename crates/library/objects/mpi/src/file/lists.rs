//! Views that are long lists, in an access by two phases: each process sends each aggregator the part of its view that lies in that one's
//! domain, as two messages, of which the first says how long the second is. Other views travel whole, when they are set.

use std::future::poll_fn;
use std::ops::Range;
use std::task::Poll;

use weft_collective::PointToPoint;
use weft_file::{Cursor, Domains, View};
use weft_memory::Memory;

use super::aggregation::Told;
use super::kept::{Exchanged, Part};
use super::seen::Seen;
use crate::collective::Peers;
use crate::error::{Class, Error, Result};
use crate::objects::request::Request;

pub(super) struct Lists<'a, 'p> {
    pub seen: &'a Seen,
    pub part: (&'a View, &'a Range<u64>),
    pub told: &'a [Told],
    pub aggregators: &'a [usize],
    pub domains: &'a Domains,
    pub peers: &'a Peers<'p>,
    pub tag: u32,
}

/// What goes to one aggregator, or comes from one process.
#[derive(Default)]
struct Message {
    length: [u8; 8],
    bytes: Vec<u8>,
}

impl Message {
    fn new(bytes: Vec<u8>) -> Message {
        Message {
            length: (bytes.len() as u64).to_le_bytes(),
            bytes,
        }
    }
}

fn memory(bytes: &mut [u8]) -> Memory {
    Memory::contiguous(bytes.as_mut_ptr(), bytes.len())
}

impl Lists<'_, '_> {
    /// The parts that this process works on as an aggregator: those kept since the last access if that was the same, else exchanged now.
    /// Only an access that `keeps` its parts looks for kept ones. And the first error.
    pub async fn learn(&self, rank: usize, keeps: bool) -> (Exchanged, Option<Error>) {
        let of_all = &self.seen.of_all;
        let keeps = keeps && of_all.some_are_listed;
        if let Some(kept) = keeps.then(|| of_all.kept.take(self.told)).flatten() {
            return (kept, None);
        }
        let (parts, failed) = self.exchange(rank).await;
        let told = self.told.to_vec();
        (Exchanged { told, parts }, failed)
    }

    /// Sends each aggregator its part, if this process's view is a list; receives the others' parts, if this process is an aggregator. Those
    /// parts by rank, none of ranks whose views are no lists; and the first error.
    async fn exchange(&self, rank: usize) -> (Vec<Option<Part>>, Option<Error>) {
        let mut told: Vec<Option<Part>> = self.told.iter().map(|_| None).collect();
        let mut outgoing = match self.seen.of_all.is_listed {
            true => self.packed(),
            false => Vec::new(),
        };
        let sent = self.send(&mut outgoing);
        let received = match self.aggregators.contains(&rank) {
            true => self.receive(&mut told).await,
            false => Ok(()),
        };
        let sent = self.finish_all(sent).await;
        (told, received.and(sent).err())
    }

    /// A message for each aggregator.
    fn packed(&self) -> Vec<Message> {
        let (view, positions) = self.part;
        let of = |number: usize| {
            let domain = self.domains.domain(number);
            let there = Cursor::new(view, positions, &domain).take(domain.end);
            match there.is_empty() {
                true => Message::default(),
                false => Message::new(view.pack(&there)),
            }
        };
        (0..self.aggregators.len()).map(of).collect()
    }

    fn send(&self, messages: &mut [Message]) -> Vec<Result<Request>> {
        let mut sent = Vec::new();
        for (&aggregator, message) in self.aggregators.iter().zip(messages) {
            let send = |bytes: &mut [u8]| self.peers.send(aggregator, self.tag, memory(bytes));
            sent.push(send(&mut message.length));
            if !message.bytes.is_empty() {
                sent.push(send(&mut message.bytes));
            }
        }
        sent
    }

    /// As an aggregator.
    async fn receive(&self, told: &mut [Option<Part>]) -> Result<()> {
        let listed = (0..told.len()).filter(|&rank| self.seen.view_of(rank).is_none());
        let mut messages: Vec<(usize, Message)> =
            listed.map(|rank| (rank, Message::default())).collect();
        let from =
            |rank: usize, bytes: &mut [u8]| self.peers.receive(rank, self.tag, memory(bytes));
        let lengths = messages.iter_mut();
        let lengths = lengths.map(|(rank, message)| from(*rank, &mut message.length));
        let lengths = lengths.collect();
        let mut outcome = self.finish_all(lengths).await;
        let mut received = Vec::new();
        for (rank, message) in &mut messages {
            let length = u64::from_le_bytes(message.length);
            let positions = &self.told[*rank].positions;
            let most = View::most_packed_bytes(positions.end - positions.start);
            match length <= most {
                true => message.bytes = vec![0; length as usize],
                false => outcome = outcome.and(Err(no_list())),
            }
            if !message.bytes.is_empty() {
                received.push(from(*rank, &mut message.bytes));
            }
        }
        outcome = outcome.and(self.finish_all(received).await);
        for (rank, message) in messages
            .iter()
            .filter(|(_, message)| !message.bytes.is_empty())
        {
            told[*rank] = View::unpack(&message.bytes);
            if told[*rank].is_none() {
                outcome = outcome.and(Err(no_list()));
            }
        }
        outcome
    }

    /// Waits for all; the first error.
    async fn finish_all(&self, requests: Vec<Result<Request>>) -> Result<()> {
        let mut outcome = Ok(());
        for request in requests {
            let finished = match request {
                Ok(request) => {
                    poll_fn(|_| match self.peers.poll(request) {
                        Some(outcome) => Poll::Ready(outcome.map(drop)),
                        None => Poll::Pending,
                    })
                    .await
                }
                Err(error) => Err(error),
            };
            outcome = outcome.and(finished);
        }
        outcome
    }
}

#[cold]
fn no_list() -> Error {
    Error::new(
        Class::Intern,
        "a process tells of a part of a view that is none",
    )
}
