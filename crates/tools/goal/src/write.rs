//! Schedules as text.

use std::io::{self, Write};

use crate::{Operation, Rank, Schedule, Until};

/// A rank's operations are `l1`, `l2` and so on, and each is followed by what it waits for.
pub fn write(schedule: &Schedule, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "num_ranks {}", schedule.ranks.len())?;
    for (number, rank) in schedule.ranks.iter().enumerate() {
        writeln!(out, "rank {number} {{")?;
        write_rank(rank, out)?;
        writeln!(out, "}}")?;
    }
    Ok(())
}

fn write_rank(rank: &Rank, out: &mut impl Write) -> io::Result<()> {
    for (number, operation) in rank.operations.iter().enumerate() {
        write!(out, "l{}: ", number + 1)?;
        match operation {
            Operation::Send { to, bytes, tag } => writeln!(out, "send {bytes}b to {to} tag {tag}")?,
            Operation::Receive { from, bytes, tag } => {
                writeln!(out, "recv {bytes}b from {from} tag {tag}")?;
            }
            Operation::Calc { ns } => writeln!(out, "calc {ns}")?,
        }
    }
    for order in &rank.orders {
        let verb = match order.until {
            Until::Over => "requires",
            Until::Begun => "irequires",
        };
        writeln!(out, "l{} {verb} l{}", order.operation + 1, order.before + 1)?;
    }
    Ok(())
}
