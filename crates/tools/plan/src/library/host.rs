//! What goes on within a host, and how long that takes among its ranks alone.

use weft_goal::{Fold, Machine, Rank, Schedule, simulate};

/// By position.
pub struct HostPart {
    /// How much later each of a rank's messages within the host leaves it done than the one before.
    pub taken_ns: Vec<Vec<u64>>,
    /// How long the host goes on when the rank has done all of its own.
    pub behind_ns: Vec<u64>,
    pub end_ns: f64,
}

impl HostPart {
    /// Of the host's ranks, numbered by themselves.
    pub fn new(ranks: Vec<Rank>, machine: &Machine) -> HostPart {
        let machine = Machine {
            ranks_a_host: ranks.len() as u32,
            ..*machine
        };
        let schedule = Schedule { ranks };
        let times = simulate(&schedule, &machine, Fold::None);
        let times = times.expect("what the library sends within a host it receives there");
        let (mut taken_ns, mut behind_ns) = (Vec::new(), Vec::new());
        for over_ns in &times.over_ns {
            let mut done: f64 = 0.0;
            let taken = over_ns.iter().map(|&over| {
                let before = done;
                done = done.max(over);
                (done.round() - before.round()) as u64
            });
            taken_ns.push(taken.collect());
            behind_ns.push((times.end_ns.round() - done.round()) as u64);
        }
        HostPart {
            taken_ns,
            behind_ns,
            end_ns: times.end_ns,
        }
    }
}
