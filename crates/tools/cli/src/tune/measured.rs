//! What `weft tune` measures: rounds of each number of ranks.

use std::time::Instant;

use weft_collective::{CHOICES, Choice};
use weft_prices::Group;
use weft_tune::Point;

use super::groups::Groups;
use super::options::Options;
use crate::bench::catalog::TUNE;
use crate::bench::library::Library;
use crate::bench::plan::{Plan, list};
use crate::bench::stats::median;
use crate::bench::tune::{self, Figures, HostsLayout, Tuning};
use crate::installation::Installation;
use crate::machine::cores;

/// Cores are near where a word takes less from one to the other, half a round trip: 56 ns where they share a cache,
/// 200 where they do not (2 cores of an AMD EPYC, Linux 6.18).
const NEAR_NS: f64 = 100.0;
/// Where a hypervisor moves cores during a round, the round is done again, in all so many times as often as was asked.
const TRIES: u32 = 3;

/// A round's figures.
struct Round {
    group: Group,
    ranks: usize,
    figures: Figures,
}

pub fn measured(options: &Options, installation: &Installation) -> Result<Groups, String> {
    let words = words(options);
    let of_bench = tune::options(&words)?;
    let library = Library::weft(installation)?;
    let plan = Plan::new(&of_bench, &TUNE, &[], installation)?;
    let mut tuning = Tuning::begin(&plan, &library, &[], false)?;
    let ranks = ranks(options, cores());
    let told: Vec<String> = ranks.iter().map(u32::to_string).collect();
    let seconds = seconds(options, plan.points.len()) * ranks.len() as f64;
    println!(
        "{} ranks, {} rounds: some {seconds:.0} s",
        told.join(", "),
        options.rounds
    );
    let begin = Instant::now();
    let mut rounds = Vec::new();
    for round in 1..=options.rounds {
        for &ranks in &ranks {
            let so_far = begin.elapsed().as_secs();
            let what = format!(
                "{so_far} of some {seconds:.0} s: {ranks} ranks, round {round}/{}",
                options.rounds
            );
            rounds.push(one_round(&mut tuning, ranks as usize, &what)?);
        }
    }
    Ok(points(&rounds, &plan.points))
}

/// As `weft bench` is told.
fn words(options: &Options) -> Vec<String> {
    let mut words = vec![
        format!("--sizes={}", list(&options.sizes)),
        format!("--seconds={}", options.seconds),
    ];
    words.extend(
        options
            .programs
            .iter()
            .map(|folder| format!("--programs={}", folder.display())),
    );
    words
}

/// Powers of two and the number of cores: what has a core each; and what shares them.
fn ranks(options: &Options, cores: usize) -> Vec<u32> {
    if !options.ranks.is_empty() {
        return options.ranks.clone();
    }
    let cores = cores as u32;
    let powers = (1..).map(|power| 1 << power);
    let mut all: Vec<u32> = powers.take_while(|&ranks| ranks < cores).collect();
    all.extend([cores, 2 * cores].into_iter().filter(|&ranks| ranks > 1));
    all
}

/// Of all rounds of one number of ranks.
fn seconds(options: &Options, points: usize) -> f64 {
    let algorithms: usize = CHOICES.iter().map(|choice| choice.algorithms().len()).sum();
    f64::from(options.rounds) * (algorithms * points) as f64 * options.seconds
}

fn group(ranks: usize) -> Group {
    if ranks > cores() {
        return Group::SharedCores;
    }
    let words = weft_host::words();
    match words.iter().take(ranks - 1).all(|&(_, ns)| ns < NEAR_NS) {
        true => Group::Near,
        false => Group::Far,
    }
}

/// During which the cores stayed where they were.
fn one_round(tuning: &mut Tuning, ranks: usize, what: &str) -> Result<Round, String> {
    let layout = HostsLayout {
        hosts: 1,
        ranks_a_host: ranks,
    };
    for _ in 0..TRIES {
        let before = group(ranks);
        let mut figures = Figures::default();
        tuning.round(layout, what, &mut figures)?;
        if group(ranks) == before {
            return Ok(Round {
                group: before,
                ranks,
                figures,
            });
        }
    }
    Err(format!(
        "the cores of {ranks} ranks were near and far by turns, {TRIES} times in one round"
    ))
}

fn points(rounds: &[Round], sizes: &[u64]) -> Groups {
    let mut all = Groups::default();
    for (number, round) in rounds.iter().enumerate() {
        let is_alike = |other: &&Round| (other.group, other.ranks) == (round.group, round.ranks);
        if rounds[..number].iter().any(|before| is_alike(&before)) {
            continue;
        }
        let alike = rounds.iter().filter(is_alike);
        let alike: Vec<&Figures> = alike.map(|round| &round.figures).collect();
        for choice in &CHOICES {
            for (at, &bytes) in sizes.iter().enumerate() {
                let times = times(choice, &alike, at);
                let ranks = (round.ranks, cores());
                let point = Point::new(choice, ranks, bytes as usize, &times);
                point
                    .into_iter()
                    .for_each(|point| all.add(round.group, point));
            }
        }
    }
    all
}

/// Microseconds of an operation at a length, the medians of all rounds, by the numbers of its algorithms.
fn times(choice: &Choice, rounds: &[&Figures], at: usize) -> Vec<(usize, f64)> {
    let names = choice.algorithms().into_iter().enumerate();
    let times = names.filter_map(|(number, name)| {
        let of_rounds = rounds.iter();
        let of_rounds = of_rounds.filter_map(|round| round.value(choice.operation, &name, at));
        Some((number, median(&of_rounds.collect::<Vec<f64>>())?))
    });
    times.collect()
}
