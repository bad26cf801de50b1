//! Plans of collectives between hosts: what the library's own futures do, recorded, and what the field's other
//! algorithms would do; and how long each takes by LogGOPS.
//!
//! A plan has the ranks that speak between hosts, as many on each host. Where that is not all of them, what goes on
//! within a host is computation of those that speak, as long as it takes among the host's ranks alone.

#![deny(unsafe_code)]

mod collective;
pub mod competitors;
mod estimate;
mod library;
mod priced;

pub use collective::Collective;
pub use estimate::{Estimate, Exactness, MOST_OPERATIONS, Plan, schedule};
pub use library::one_host::{OneHost, Simulated};
pub use library::{Library, TooLong};
pub use priced::choose_by;

/// Hosts with as many ranks each, which follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub hosts: usize,
    pub ranks_a_host: usize,
}

impl Shape {
    pub fn ranks(self) -> usize {
        self.hosts * self.ranks_a_host
    }
}
