//! The loop that the paper's message rates come from (Zambre 2018 §IV), after perftest's: each thread fills its queue pair with RDMA
//! writes, list by list, and looks for all completions that a full queue may give.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use weft_verbs::{Operation, Remote, SendList};

use crate::device::Choice;
use crate::features::Features;
use crate::pins::Placement;
use crate::talk::Talk;
use crate::team::{self, Stop};
use weft_endpoint::{Card, Endpoint, Endpoints, Error, Layout};

/// Lines that the targets of two threads are apart: two, as processors fetch them in pairs.
const APART_BYTES: usize = 128;

/// What the initiator is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    pub layout: Layout,
    pub features: Features,
    pub bytes: usize,
    pub placement: Placement,
}

/// What a round gave.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Tally {
    pub operations: u64,
    pub seconds: f64,
    pub processor_seconds: f64,
}

impl Job {
    pub fn new(layout: Layout, features: Features, bytes: usize, placement: &Placement) -> Job {
        let features = features.within(layout.depth);
        let completion_depth = features.completions(layout.depth);
        Job {
            layout: Layout {
                // The last requests of a round ask for a completion of their own.
                completion_depth: completion_depth + 1,
                buffer_bytes: bytes,
                ..layout
            },
            features,
            bytes,
            placement: placement.clone(),
        }
    }

    /// Where thread `index` writes to in the target's memory: on lines of its own.
    pub fn place(&self, index: usize) -> usize {
        index * self.bytes.next_multiple_of(APART_BYTES)
    }
}

/// The initiator.
pub fn play(talk: &mut Talk, device: &Choice, job: &Job) -> Result<(), String> {
    let made = Endpoints::create(&device.find()?, &job.layout);
    let mut endpoints = made.map_err(|e| e.to_string())?;
    talk.say(&endpoints.card().map_err(|e| e.to_string())?)?;
    let peer: Card = talk.hear()?;
    endpoints.connect(&peer).map_err(|e| e.to_string())?;
    let memory = peer.memory.first().ok_or("the target has no memory")?;
    let writer = |endpoint: &Endpoint| {
        let remote = memory.remote().at(job.place(endpoint.thread()) as u64);
        Writer::new(endpoint, job, remote)
    };
    let threads = endpoints.threads();
    let mut writers: Vec<Writer> = threads.iter().map(writer).collect();
    while let Some(seconds) = talk.hear::<Option<f64>>()? {
        let members = threads.iter_mut().zip(&mut writers).collect();
        let duration = Duration::from_secs_f64(seconds);
        let outcome = team::run(
            members,
            &job.placement,
            Some(duration),
            |_, (endpoint, writer), stop| {
                let done = writer.run(endpoint, stop);
                if done.is_err() {
                    stop.set();
                }
                done
            },
        );
        let done: Result<Vec<u64>, Error> = outcome.results.into_iter().collect();
        talk.say(&Tally {
            operations: done.map_err(|e| e.to_string())?.into_iter().sum(),
            seconds: outcome.wall.as_secs_f64(),
            processor_seconds: outcome.processor.as_secs_f64(),
        })?;
    }
    Ok(())
}

/// The lists that a thread posts over and over.
struct Writer {
    /// In turn; together they make whole periods of signalling.
    lists: Vec<SendList>,
    /// The list that ends a round.
    last: SendList,
    postlist: usize,
    signal_every: usize,
}

impl Writer {
    fn new(endpoint: &Endpoint, job: &Job, remote: Remote) -> Writer {
        let (postlist, signal_every) = (job.features.postlist, job.features.signal_every);
        let inline = job.features.inline && job.bytes <= job.layout.inline_bytes;
        let operation = Operation::Write(remote);
        let list = |first: usize, length: usize, every: usize| {
            let mut list = SendList::with_room(length);
            for at in first..first + length {
                let request = list.push(operation, endpoint.slot(0).part(0, job.bytes));
                request
                    .inlined(inline)
                    .signalled((at + 1).is_multiple_of(every))
                    .id(endpoint.tag(0, every));
            }
            list
        };
        let period = least_common_multiple(postlist, signal_every);
        let first = (0..period).step_by(postlist);
        Writer {
            lists: first.map(|at| list(at, postlist, signal_every)).collect(),
            last: list(0, 1, 1),
            postlist,
            signal_every,
        }
    }

    /// Requests that completed before the end was told.
    fn run(&mut self, endpoint: &mut Endpoint, stop: &Stop) -> Result<u64, Error> {
        let before = endpoint.completed(0);
        let mut posted = 0;
        let mut next = 0;
        while !stop.is_set() {
            while endpoint.post(0, &mut self.lists[next])? {
                posted += self.postlist;
                next = (next + 1) % self.lists.len();
            }
            endpoint.poll()?;
        }
        let completed = endpoint.completed(0) - before;
        self.flush(endpoint, posted % self.signal_every)?;
        Ok(completed)
    }

    /// Has the last `open` requests, which asked for no completion, answered for by one more.
    fn flush(&mut self, endpoint: &mut Endpoint, open: usize) -> Result<(), Error> {
        if open > 0 {
            self.last.at(0).id(endpoint.tag(0, open + 1));
            while !endpoint.post(0, &mut self.last)? {
                endpoint.poll()?;
            }
        }
        endpoint.drain()
    }
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_make_whole_periods() {
        assert_eq!(least_common_multiple(32, 64), 64);
        assert_eq!(least_common_multiple(32, 1), 32);
        assert_eq!(least_common_multiple(3, 4), 12);
    }
}
