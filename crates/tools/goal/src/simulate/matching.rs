//! Which receive of a rank gets which message: of one sender and tag, in order.

use std::collections::{HashMap, VecDeque};

/// By the rank that it comes from and its tag.
type Key = (u32, u32);

#[derive(Default)]
pub struct Matching {
    receives: HashMap<Key, VecDeque<u32>>,
    arrivals: HashMap<Key, VecDeque<Arrival>>,
    /// The receives of long messages that were asked for, by sender and its operation.
    answered: HashMap<(u32, u32), u32>,
}

/// A message that has come.
#[derive(Clone, Copy)]
pub enum Arrival {
    /// Whole at this time.
    Whole(f64),
    /// A longer one, which is sent once it is asked for.
    Asks { sender: u32, operation: u32 },
}

impl Arrival {
    pub fn asks(sender: u32, operation: u32) -> Arrival {
        Arrival::Asks { sender, operation }
    }
}

impl Matching {
    /// What has come for this receive; else it waits.
    pub fn receive(&mut self, key: Key, operation: u32) -> Option<Arrival> {
        let arrival = take(&mut self.arrivals, key);
        if arrival.is_none() {
            self.receives.entry(key).or_default().push_back(operation);
        }
        arrival
    }

    /// The receive that waits for this; else it waits.
    pub fn arrive(&mut self, key: Key, arrival: Arrival) -> Option<u32> {
        let receive = take(&mut self.receives, key);
        if receive.is_none() {
            self.arrivals.entry(key).or_default().push_back(arrival);
        }
        receive
    }

    /// How many messages no receive waits for.
    pub fn unreceived(&self) -> usize {
        self.arrivals.values().map(VecDeque::len).sum()
    }

    pub fn answer(&mut self, sender: u32, operation: u32, receive: u32) {
        self.answered.insert((sender, operation), receive);
    }

    /// Once: the message has come.
    pub fn answered(&mut self, sender: u32, operation: u32) -> u32 {
        let receive = self.answered.remove(&(sender, operation));
        receive.expect("a long message comes once it was asked for")
    }
}

fn take<T>(queues: &mut HashMap<Key, VecDeque<T>>, key: Key) -> Option<T> {
    let queue = queues.get_mut(&key)?;
    let first = queue.pop_front();
    if queue.is_empty() {
        queues.remove(&key);
    }
    first
}
