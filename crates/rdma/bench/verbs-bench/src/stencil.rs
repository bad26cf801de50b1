//! A 5-point stencil over strips of rows (Zambre 2018 §VII, Figure 13): each rank has a strip, each of its threads some columns of it,
//! and a queue pair to the same thread of the rank above and of the one below, both on one completion queue.
//!
//! Two nodes are played by processes of one machine: every rank is a process. A halo goes in messages of one size, posted one by one, each
//! with its completion; after them a word that says which step they are of. Writes on one queue pair arrive in order, so who sees the word
//! has the halo. Halos have two places, used in turn: a rank can be one step ahead of its neighbours, never two.
//!
//! Rates are those of exchanging alone, with every halo byte checked; then some steps are computed, and the grid is compared, to the last
//! bit, with one computed in one place.

pub mod job;
mod rank;
mod table;

use std::time::Duration;

pub use rank::play;

use job::{CELL, Division, Job, NODES, Neighbours, Phase, STEPS, Tally, Variant};

use crate::account::{Account, Counters, Resources};
use crate::device::Choice;
use crate::grid;
use crate::part::{self, Part};
use crate::party::{Failure, Launcher, Party};
use crate::pins::Placement;
use crate::report::Report;
use crate::rounds::{Progress, Sample, in_turn};
use crate::settings::Settings;
use weft_endpoint::{Card, Category};

/// Threads of a node.
const THREADS: usize = 16;
/// One line, so that messages are as short as the paper's applications'.
const MESSAGE_BYTES: usize = 64;

pub fn run(settings: &Settings, progress: &mut Progress) -> Result<Report, Failure> {
    let node = settings.threads.unwrap_or(THREADS);
    let bytes = settings.bytes.unwrap_or(MESSAGE_BYTES);
    if bytes == 0 || !bytes.is_multiple_of(CELL) {
        return Err(Failure(format!(
            "messages of {bytes} B are not whole cells of {CELL} B"
        )));
    }
    let placement = Placement::of(NODES * node, &settings.processors());
    let mut variants = Vec::new();
    for threads in settings.points(&[1, 2, 4, 8, 16]) {
        if threads == 0 || !node.is_multiple_of(threads) {
            continue;
        }
        let division = Division::new(node, threads, bytes);
        for category in Category::ALL {
            let layout = settings.deep(category.layout(threads));
            variants.push(Variant {
                category,
                division,
                layout: rank::layout(division, layout),
                placement: placement.clone(),
            });
        }
    }
    if variants.is_empty() {
        return Err(Failure(format!(
            "{node} threads a node cannot be divided so"
        )));
    }
    let name = |v: &Variant| {
        let ranks = v.division.ranks / NODES;
        format!(
            "stencil, {ranks}.{}, {}",
            v.division.threads,
            v.category.name()
        )
    };
    let effort = settings.effort;
    let all = in_turn(&variants, effort.rounds, progress, name, |v| {
        measure(&settings.launcher, &settings.device, v, effort.seconds)
    })?;
    Ok(table::report(&variants, all))
}

/// Steps that are enough to know how long one takes.
const PROBE_STEPS: u64 = 8;

fn measure(
    launcher: &Launcher,
    device: &Choice,
    variant: &Variant,
    seconds: f64,
) -> Result<Sample, Failure> {
    let mut ranks = start(launcher, device, variant)?;
    let probe = phase(&mut ranks, Phase::Exchange { steps: PROBE_STEPS }, seconds)?;
    let step = slowest(&probe) / PROBE_STEPS as f64;
    let steps = (seconds / step).clamp(PROBE_STEPS as f64, 1e6) as u64;
    let before = accounts(&ranks)?;
    let tallies = phase(&mut ranks, Phase::Exchange { steps }, seconds)?;
    let after = accounts(&ranks)?;
    solve(&mut ranks, variant.division, seconds)?;
    for rank in ranks {
        rank.finish()?;
    }
    // A node's.
    let of_node = variant.division.ranks / NODES;
    Ok(Sample {
        operations: tallies.iter().map(|t| t.messages).sum(),
        seconds: slowest(&tallies),
        processor_seconds: tallies.iter().map(|t| t.processor_seconds).sum(),
        resources: after.as_ref().map(|all| sum_of_resources(&all[..of_node])),
        counters: after.zip(before).map(|(a, b)| sum_of_counters(&a, &b)),
    })
}

fn start(launcher: &Launcher, device: &Choice, variant: &Variant) -> Result<Vec<Party>, Failure> {
    let division = variant.division;
    let start = |rank: usize| {
        let job = Job {
            division,
            rank,
            layout: variant.layout.clone(),
            placement: variant
                .placement
                .part(rank * division.threads, division.threads),
        };
        let job = part::Job {
            device: device.clone(),
            part: Part::Rank(job),
        };
        launcher.start("rank", &job, &[])
    };
    let mut ranks = (0..division.ranks)
        .map(start)
        .collect::<Result<Vec<_>, _>>()?;
    let cards = ranks
        .iter_mut()
        .map(Party::hear)
        .collect::<Result<Vec<Card>, _>>()?;
    let count = ranks.len();
    for (at, rank) in ranks.iter_mut().enumerate() {
        rank.tell(&Neighbours {
            above: cards[(at + count - 1) % count].clone(),
            below: cards[(at + 1) % count].clone(),
        })?;
    }
    // Nobody writes before all are connected.
    for rank in &mut ranks {
        rank.hear::<()>()?;
    }
    Ok(ranks)
}

fn phase(ranks: &mut [Party], phase: Phase, seconds: f64) -> Result<Vec<Tally>, Failure> {
    for rank in &mut *ranks {
        rank.tell(&Some(phase))?;
    }
    let busy = Duration::from_secs_f64(10.0 * seconds);
    ranks
        .iter_mut()
        .map(|rank| rank.hear_within(busy))
        .collect()
}

fn slowest(tallies: &[Tally]) -> f64 {
    tallies.iter().map(|t| t.seconds).fold(0.0, f64::max)
}

/// Computes some steps and compares every strip with its part of the grid computed here.
fn solve(ranks: &mut [Party], division: Division, seconds: f64) -> Result<(), Failure> {
    let tallies = phase(ranks, Phase::Solve { steps: STEPS }, seconds)?;
    let grid = grid::reference(division.rows, division.columns, STEPS as usize);
    let strips = grid.chunks(division.rows_of_rank() * division.columns);
    for (rank, (strip, tally)) in strips.zip(&tallies).enumerate() {
        if grid::digest(strip.iter().map(|v| v.to_bits())) != tally.digest {
            return Err(Failure(format!("the strip of rank {rank} is wrong")));
        }
    }
    Ok(())
}

fn accounts(ranks: &[Party]) -> Result<Option<Vec<Account>>, Failure> {
    let all = ranks
        .iter()
        .map(Party::account)
        .collect::<Result<Vec<_>, _>>()?;
    Ok(all.into_iter().collect())
}

fn sum_of_resources(accounts: &[Account]) -> Resources {
    let mut sum = Resources::default();
    for account in accounts {
        sum += account.resources;
    }
    sum
}

fn sum_of_counters(after: &[Account], before: &[Account]) -> Counters {
    let mut sum = Counters::default();
    for (after, before) in after.iter().zip(before) {
        sum += after.counters - before.counters;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_divisions_are_of_one_grid_and_processes_send_more_messages() {
        let all = [1, 2, 4, 8, 16].map(|threads| Division::new(16, threads, 64));
        for division in all {
            assert_eq!((division.rows, division.columns), (64, 512));
            assert_eq!(division.rows_of_rank() * division.ranks, 64);
            assert_eq!(division.columns_of_thread() * division.threads, 512);
        }
        let step = |d: Division| d.ranks * d.threads * 2 * (d.messages() - 1);
        // "The number of messages with processes only is 16x higher" (§VII).
        assert_eq!(step(all[0]), 16 * step(all[4]));
    }
}
