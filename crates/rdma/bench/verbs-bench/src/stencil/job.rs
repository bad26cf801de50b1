//! What the driver and the ranks know of a stencil before they begin, and what they tell each other.

use serde::{Deserialize, Serialize};

use crate::pins::Placement;
use weft_endpoint::{Card, Category, Layout};

/// The grid and how it is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Division {
    pub rows: usize,
    pub columns: usize,
    /// Of all nodes together.
    pub ranks: usize,
    /// Of a rank.
    pub threads: usize,
    /// Of a halo's data, in one message.
    pub message_bytes: usize,
}

pub const CELL: usize = size_of::<f64>();

/// The paper's two nodes.
pub const NODES: usize = 2;

/// Rows of a rank when there are most ranks.
pub const LEAST_ROWS: usize = 2;

/// Messages of a halo when there are most threads.
pub const LEAST_MESSAGES: usize = 4;

pub const STEPS: u64 = 12;

impl Division {
    /// `ranks` ranks a node of `threads` threads; the grid is the same for all divisions of `threads_a_node`.
    pub fn new(threads_a_node: usize, threads: usize, message_bytes: usize) -> Division {
        Division {
            rows: NODES * threads_a_node * LEAST_ROWS,
            columns: threads_a_node * LEAST_MESSAGES * message_bytes / CELL,
            ranks: NODES * threads_a_node / threads,
            threads,
            message_bytes,
        }
    }

    pub fn rows_of_rank(self) -> usize {
        self.rows / self.ranks
    }

    pub fn columns_of_thread(self) -> usize {
        self.columns / self.threads
    }

    pub fn halo_bytes(self) -> usize {
        self.columns_of_thread() * CELL
    }

    /// Of one thread's halo on one side, the last word included.
    pub fn messages(self) -> usize {
        self.halo_bytes().div_ceil(self.message_bytes) + 1
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    pub division: Division,
    pub rank: usize,
    pub layout: Layout,
    pub placement: Placement,
}

/// Whom a rank exchanges with. With two ranks both are one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Neighbours {
    pub above: Card,
    pub below: Card,
}

/// What ranks are told to do, all the same.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Phase {
    Exchange { steps: u64 },
    Solve { steps: u64 },
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Tally {
    pub messages: u64,
    pub seconds: f64,
    pub processor_seconds: f64,
    /// Of the strip after the last step.
    pub digest: u64,
}

pub struct Variant {
    pub category: Category,
    pub division: Division,
    pub layout: Layout,
    pub placement: Placement,
}
