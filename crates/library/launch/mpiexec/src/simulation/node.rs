//! A host whose first and last ranks are processes.

use crate::assignment::Orders;
use crate::pmi::{Event, Job, Server};

pub struct Node {
    pub server: Server,
    /// Ascending; never empty.
    pub ranks: Vec<u32>,
}

impl Node {
    pub fn new(orders: &Orders, ranks: Vec<u32>) -> Node {
        let job = Job {
            name: orders.job.clone(),
            size: orders.size,
            mapping: orders.mapping.clone(),
        };
        Node {
            server: Server::new(job, ranks.iter().map(|&rank| orders.application_of(rank))),
            ranks,
        }
    }

    pub fn processes(&self) -> impl Iterator<Item = u32> {
        let (first, last) = (self.ranks[0], self.ranks[self.ranks.len() - 1]);
        [Some(first), (last > first).then_some(last)]
            .into_iter()
            .flatten()
    }

    /// Those who say what a process says: the last rank speaks for all but the first.
    pub fn alike(&self, rank: u32) -> Vec<u32> {
        match rank == self.ranks[0] {
            true => vec![rank],
            false => self.ranks[1..].to_vec(),
        }
    }

    pub fn line(&mut self, rank: u32, line: &str, events: &mut Vec<Event>) {
        let index = self.ranks.binary_search(&rank).expect("it is on this host");
        self.server.line(index as u32, line.as_bytes(), events);
    }
}
