//! The sender: posts to each context in turn until its queue is full, and looks once for completions.

use std::time::{Duration, Instant};

use weft_verbs::abi::{IBV_ACCESS_LOCAL_WRITE, ibv_wc_status};
use weft_verbs::{
    Buffer, Completion, CompletionQueue, Context, MemoryRegion, Operation, ProtectionDomain,
    QueuePair, QueuePairAttributes, SendList,
};

use super::job::{Calls, Round, Shape, Tally};
use crate::cycles;
use crate::device::Choice;
use crate::talk::Talk;
use crate::target::address;
use weft_endpoint::{Card, Port};

/// A context with what stands on it.
struct Endpoint {
    context: Context,
    queue_pair: QueuePair,
    completions: CompletionQueue,
    request: SendList,
    outstanding: usize,
}

pub fn send(talk: &mut Talk, device: &Choice, shape: &Shape) -> Result<(), String> {
    let device = device.find()?;
    let open = |_| Endpoint::new(device.open()?, shape);
    let all: Result<Vec<Endpoint>, weft_verbs::Error> = (0..shape.contexts).map(open).collect();
    let mut all = all.map_err(|e| e.to_string())?;
    talk.say(&Card {
        port: Port::of(&all[0].context).map_err(|e| e.to_string())?,
        queue_pairs: all.iter().map(|e| address(&e.queue_pair)).collect(),
        memory: Vec::new(),
    })?;
    let peer: Card = talk.hear()?;
    for (endpoint, &to) in all.iter().zip(&peer.queue_pairs) {
        let connection = peer.port.connection(address(&endpoint.queue_pair), to);
        let connected = endpoint.queue_pair.connect(&connection);
        connected.map_err(|e| e.to_string())?;
    }
    shape.placement.pin(0);
    let mut completions = vec![Completion::default(); shape.depth];
    while let Some(round) = talk.hear::<Option<Round>>()? {
        let mut driver = Driver {
            all: &mut all,
            depth: shape.depth,
            completions: &mut completions,
        };
        let tally = if round.is_measured {
            driver.run::<true>(round.seconds)?
        } else {
            driver.run::<false>(round.seconds)?
        };
        talk.say(&tally)?;
    }
    Ok(())
}

impl Endpoint {
    fn new(context: Context, shape: &Shape) -> Result<Endpoint, weft_verbs::Error> {
        let domain = ProtectionDomain::new(&context)?;
        let depth = shape.depth as u32;
        let completions = CompletionQueue::new(&context, depth, None)?;
        let attributes = QueuePairAttributes {
            send_depth: depth,
            ..QueuePairAttributes::default()
        };
        let (send, receive) = (completions.clone(), completions.clone());
        let queue_pair = QueuePair::new(domain.clone(), send, receive, None, &attributes)?;
        let buffer = Buffer::new(shape.bytes);
        let region = MemoryRegion::new(&domain, &buffer, IBV_ACCESS_LOCAL_WRITE)?;
        let mut request = SendList::with_room(1);
        let part = region.part(0, shape.bytes);
        request.push(Operation::Send, part).signalled(true);
        Ok(Endpoint {
            context,
            queue_pair,
            completions,
            request,
            outstanding: 0,
        })
    }
}

struct Driver<'a> {
    all: &'a mut [Endpoint],
    depth: usize,
    completions: &'a mut [Completion],
}

impl Driver<'_> {
    /// `MEASURED` is a constant so that the loop without has no trace of it.
    fn run<const MEASURED: bool>(&mut self, seconds: f64) -> Result<Tally, String> {
        let overhead = if MEASURED { cycles::overhead() } else { 0 };
        let mut tally = Tally {
            polls: vec![Calls::default(); self.depth + 1],
            ..Tally::default()
        };
        let duration = Duration::from_secs_f64(seconds);
        let (begin, first) = (Instant::now(), cycles::now());
        while begin.elapsed() < duration {
            for index in 0..self.all.len() {
                self.turn::<MEASURED>(index, overhead, &mut tally)?;
            }
        }
        tally.cycles = cycles::now() - first;
        tally.seconds = begin.elapsed().as_secs_f64();
        while self.all.iter().any(|e| e.outstanding > 0) {
            for endpoint in &mut *self.all {
                let taken = endpoint.poll(self.completions)?;
                endpoint.outstanding -= taken;
            }
        }
        Ok(tally)
    }

    #[inline]
    fn turn<const MEASURED: bool>(
        &mut self,
        index: usize,
        overhead: u64,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let endpoint = &mut self.all[index];
        while endpoint.outstanding < self.depth {
            let before = if MEASURED { cycles::now() } else { 0 };
            let posted = endpoint.queue_pair.post_send(&mut endpoint.request);
            if MEASURED {
                let spent = (cycles::now() - before).saturating_sub(overhead);
                tally.posts.add(spent);
            }
            posted.map_err(|e| e.to_string())?;
            endpoint.outstanding += 1;
        }
        let before = if MEASURED { cycles::now() } else { 0 };
        let taken = endpoint.poll(self.completions)?;
        if MEASURED {
            let spent = (cycles::now() - before).saturating_sub(overhead);
            tally.polls[taken].add(spent);
        }
        endpoint.outstanding -= taken;
        tally.completed += taken as u64;
        Ok(())
    }
}

impl Endpoint {
    /// Takes what there is, and makes sure that it succeeded.
    #[inline]
    fn poll(&self, into: &mut [Completion]) -> Result<usize, String> {
        let taken = self.completions.poll(into).map_err(|e| e.to_string())?;
        match taken.iter().find(|c| !c.is_success()) {
            None => Ok(taken.len()),
            Some(failed) => Err(self.failure(failed.status())),
        }
    }

    #[cold]
    fn failure(&self, status: ibv_wc_status) -> String {
        format!(
            "a send on {} ended with status {status}",
            self.context.name()
        )
    }
}
