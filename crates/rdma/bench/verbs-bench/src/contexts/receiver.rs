//! The receiver: a receive for every message, and a new one for each that was used.

use std::thread;

use weft_verbs::abi::IBV_ACCESS_LOCAL_WRITE;
use weft_verbs::{
    Completion, CompletionQueue, Connection, Context, MemoryRegion, ProtectionDomain, QueuePair,
    QueuePairAttributes, ReceiveList,
};

use super::job::Shape;
use crate::device::Choice;
use crate::talk::Talk;
use crate::target::{address, exposed};
use crate::team::Stop;
use weft_endpoint::{Card, Port};

/// Receives posted for each request that the sender may have under way: so many may wait while the receiver looks after other
/// contexts, or has lost its processor for a moment.
const SLACK: usize = 8;
/// What a sender that came too early waits: the shortest there is but one, 10 us.
const NOT_READY_TIMER: u8 = 1;

struct Endpoint {
    context: Context,
    queue_pair: QueuePair,
    completions: CompletionQueue,
    receive: ReceiveList,
}

pub fn receive(talk: &mut Talk, device: &Choice, shape: &Shape) -> Result<(), String> {
    let device = device.find()?;
    let open = |_| Endpoint::new(device.open()?, shape);
    let all: Result<Vec<Endpoint>, weft_verbs::Error> = (0..shape.contexts).map(open).collect();
    let mut all = all.map_err(|e| e.to_string())?;
    let peer: Card = talk.hear()?;
    for (endpoint, &to) in all.iter_mut().zip(&peer.queue_pairs) {
        let connection = Connection {
            receiver_not_ready_timer: NOT_READY_TIMER,
            ..peer.port.connection(address(&endpoint.queue_pair), to)
        };
        let connected = endpoint.queue_pair.connect(&connection);
        connected.map_err(|e| e.to_string())?;
        for _ in 0..shape.depth * SLACK {
            endpoint.post()?;
        }
    }
    talk.say(&Card {
        port: Port::of(&all[0].context).map_err(|e| e.to_string())?,
        queue_pairs: all.iter().map(|e| address(&e.queue_pair)).collect(),
        memory: Vec::new(),
    })?;
    let stop = Stop::default();
    thread::scope(|scope| {
        let serving = scope.spawn(|| serve(&mut all, shape, &stop));
        let told = talk.hear::<()>();
        stop.set();
        let served = serving.join();
        told?;
        served.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn serve(all: &mut [Endpoint], shape: &Shape, stop: &Stop) -> Result<(), String> {
    shape.placement.pin(1);
    let mut completions = vec![Completion::default(); shape.depth];
    while !stop.is_set() {
        let mut found = 0;
        for endpoint in &mut *all {
            let polled = endpoint.completions.poll(&mut completions);
            let taken = polled.map_err(|e| e.to_string())?;
            if let Some(failed) = taken.iter().find(|c| !c.is_success()) {
                return Err(format!("a receive ended with status {}", failed.status()));
            }
            found += taken.len();
            for _ in 0..taken.len() {
                endpoint.post()?;
            }
        }
        if found == 0 && !shape.placement.is_pinned() {
            thread::yield_now();
        }
    }
    Ok(())
}

impl Endpoint {
    fn new(context: Context, shape: &Shape) -> Result<Endpoint, weft_verbs::Error> {
        let domain = ProtectionDomain::new(&context)?;
        let depth = (shape.depth * SLACK) as u32;
        let completions = CompletionQueue::new(&context, depth, None)?;
        let attributes = QueuePairAttributes {
            send_depth: 1,
            receive_depth: depth,
            ..QueuePairAttributes::default()
        };
        let (send, receive) = (completions.clone(), completions.clone());
        let queue_pair = QueuePair::new(domain.clone(), send, receive, None, &attributes)?;
        let buffer = exposed(&domain, shape.bytes)?;
        let region = MemoryRegion::new(&domain, &buffer, IBV_ACCESS_LOCAL_WRITE)?;
        let mut receive = ReceiveList::with_room(1);
        receive.push(0, region.part(0, shape.bytes));
        Ok(Endpoint {
            context,
            queue_pair,
            completions,
            receive,
        })
    }

    #[inline]
    fn post(&mut self) -> Result<(), String> {
        let posted = self.queue_pair.post_receive(&mut self.receive);
        posted.map_err(|e| e.to_string())
    }
}
