//! The policy of waiting in virtual time: barriers of many processes, each with a core, whose waking takes its time. A disturbance is to be over when it is over.
//!
//! What is simulated: each process publishes that it has come and rings those that sleep for it; those that it wakes
//! help (`sync/board/sleeping`). It waits by [`Staying`] until all have come. A process that was rung is late by a
//! wake. That is how a board's barrier works, and the worst that there is: everybody waits for everybody. More
//! processes than cores: `shared`.

mod shared;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::Pace;
use crate::waiting::{BeforeTurn, Staying, smoothed};

/// Nanoseconds of a turn, of one with a yield on a busy machine, of a ring, and from the last one's coming to the others' seeing it.
const SPIN: u64 = 50;
const YIELD: u64 = 2000;
const RING: u64 = 2000;
const SEEN: u64 = 200;
const US: u64 = 1000;
/// Barriers before the disturbance, and behind it those in which it is to end, and those that are to be as quick as before.
const BEFORE: usize = 40;
const BEHIND: usize = 9;
const QUICK: usize = 4;

/// splitmix64.
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// The same, as many between a number and its double anywhere.
    fn scaled(&mut self, least: u64, most: u64) -> u64 {
        let scales = u64::from((most / least).ilog2());
        let scale = least << self.below(scales.max(1));
        self.between(scale, 2 * scale).min(most)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disturbance {
    /// One comes late.
    Late,
    /// One loses its core, wherever it is, also in the middle of a wake.
    Preempted,
    /// One comes late, and the next wake of another takes twenty times what wakes take.
    SlowWake,
    /// One is late again and again.
    Burst,
}

const DISTURBANCES: [Disturbance; 4] = [
    Disturbance::Late,
    Disturbance::Preempted,
    Disturbance::SlowWake,
    Disturbance::Burst,
];

struct Job {
    pace: Pace,
    draws: Draws,
    /// What a wake takes, mostly.
    wake_ns: u64,
    /// The most that a process computes between two barriers.
    noise_ns: u64,
    /// When each process comes to the next barrier, and what it knows of wakes.
    comes_at: Vec<u64>,
    known_ns: Vec<Option<u64>>,
    /// The process whose next wake takes longer, and by how much.
    slow: Option<(usize, u64)>,
}

impl Job {
    fn new(pace: Pace, seed: u64) -> Job {
        let mut draws = Draws(seed);
        // As many draws of 2 to 4 processes as of 64 to 128; likewise of wakes of 1 to 500 us.
        let processes = draws.scaled(2, 128) as usize;
        let wake_ns = draws.scaled(US, 500 * US);
        let noise_ns = draws.scaled(100, 200 * US);
        Job {
            pace,
            draws,
            wake_ns,
            noise_ns,
            comes_at: vec![0; processes],
            known_ns: vec![None; processes],
            slow: None,
        }
    }

    /// When a process that is awake from `from` on falls asleep, if that is before `until`.
    fn sleeps_at(&self, process: usize, from: u64, until: u64) -> Option<u64> {
        let (mut staying, mut now) = (Staying::new(self.pace), from);
        while now <= until {
            staying.count_turn();
            match staying.step(|| now, || self.known_ns[process], || 0) {
                BeforeTurn::Spin => now += SPIN,
                BeforeTurn::Yield => now += YIELD,
                BeforeTurn::Sleep => return Some(now),
            }
        }
        None
    }

    /// What the wake of a process takes: mostly somewhat more or less than usual, now and then three times that.
    fn wake(&mut self, process: usize) -> u64 {
        let usual = self.wake_ns;
        let wake = match self.draws.below(50) {
            0 => 3 * usual,
            _ => self.draws.between(usual / 2, usual * 3 / 2),
        };
        self.known_ns[process] = Some(smoothed(self.known_ns[process], wake));
        match self.slow {
            Some((slow, by)) if slow == process => {
                self.slow = None;
                wake + by
            }
            _ => wake,
        }
    }

    /// A process rings others from `now` on, helped by those that run again: when each of them is done with that.
    /// Nobody's time but theirs passes.
    fn ring(&mut self, ringer: usize, now: u64, sleepers: &[usize]) -> BTreeMap<usize, u64> {
        let mut done = BTreeMap::from([(ringer, now)]);
        let mut awake = BinaryHeap::from([Reverse((now, ringer))]);
        for &sleeper in sleepers {
            let Reverse((from, by)) = awake.pop().expect("the first stays awake");
            let rung = from + RING;
            let wakes = rung + self.wake(sleeper);
            done.extend([(by, rung), (sleeper, wakes)]);
            awake.extend([Reverse((rung, by)), Reverse((wakes, sleeper))]);
        }
        done
    }

    /// Whom a process waits for that looks at `now`: the first behind it that has not come.
    fn awaited(&self, process: usize, now: u64) -> Option<usize> {
        let processes = self.comes_at.len();
        let mut others = (1..processes).map(|ahead| (process + ahead) % processes);
        others.find(|&other| self.comes_at[other] > now)
    }

    /// All go through a barrier: when the last has left it.
    fn barrier(&mut self) -> u64 {
        let mut order: Vec<usize> = (0..self.comes_at.len()).collect();
        order.sort_unstable_by_key(|&process| self.comes_at[process]);
        let all_are_there = order.last().map_or(0, |&last| self.comes_at[last]);
        // Since when each that has come is awake, and when it falls asleep, if that is before all have come.
        let mut waiting: BTreeMap<usize, (u64, Option<u64>)> = BTreeMap::new();
        for &process in &order {
            let now = self.comes_at[process];
            let is_rung = |(sleeper, asleep): (usize, Option<u64>)| {
                let from = asleep.filter(|&from| from <= now)?;
                (self.awaited(sleeper, from) == Some(process)).then_some(sleeper)
            };
            let asleep = waiting
                .iter()
                .map(|(&sleeper, &(_, asleep))| (sleeper, asleep));
            let rung: Vec<usize> = asleep.filter_map(is_rung).collect();
            for (process, since) in self.ring(process, now, &rung) {
                let asleep = self.sleeps_at(process, since, all_are_there);
                waiting.insert(process, (since, asleep));
            }
        }
        for (process, (since, _)) in waiting {
            let noise = self.draws.below(self.noise_ns);
            self.comes_at[process] = since.max(all_are_there) + SEEN + noise;
        }
        self.comes_at.iter().copied().max().unwrap_or(0)
    }

    fn disturb(&mut self, what: Disturbance) {
        let processes = self.comes_at.len() as u64;
        let victim = self.draws.below(processes) as usize;
        let late = self.draws.between(20, 30_000) * US;
        match what {
            Disturbance::Late => self.comes_at[victim] += late,
            Disturbance::Preempted => {
                self.comes_at[victim] += late;
                let other = self.draws.below(processes) as usize;
                self.slow = Some((other, self.draws.between(1000, 10_000) * US));
            }
            Disturbance::SlowWake => {
                self.comes_at[victim] += late;
                let other = self.draws.below(processes) as usize;
                self.slow = Some((other, 19 * self.wake_ns));
            }
            Disturbance::Burst => {
                for _ in 0..5 {
                    self.comes_at[victim] += self.draws.between(20, 3000) * US;
                    self.barrier();
                }
            }
        }
    }
}

/// The time of a barrier before a disturbance, and of the tenth and later ones behind it.
fn before_and_behind(pace: Pace, seed: u64) -> (u64, u64) {
    let mut job = Job::new(pace, seed);
    let before: Vec<u64> = (0..BEFORE).map(|_| job.barrier()).collect();
    job.disturb(DISTURBANCES[seed as usize % DISTURBANCES.len()]);
    let behind: Vec<u64> = (0..BEHIND + QUICK).map(|_| job.barrier()).collect();
    (usual(&before), quick(&behind))
}

/// The median time of barriers that were left so.
fn usual(left: &[u64]) -> u64 {
    let mut times: Vec<u64> = left.windows(2).map(|pair| pair[1] - pair[0]).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// The mean time of those that are to be quick, so that noise is no storm.
fn quick(left: &[u64]) -> u64 {
    let last = left.len() - 1;
    (left[last] - left[last - QUICK]) / QUICK as u64
}

/// The seeds, of so many, by which the tenth barrier and those behind it take more than twice the time before; and both times.
fn storms(seeds: u64, times: impl Fn(u64) -> (u64, u64)) -> Vec<(u64, u64, u64)> {
    let all = (0..seeds).map(|seed| (seed, times(seed)));
    let goes_on = all.filter(|(_, (before, behind))| *behind > 2 * before);
    goes_on
        .map(|(seed, (before, behind))| (seed, before, behind))
        .collect()
}

fn alone(seed: u64) -> (u64, u64) {
    before_and_behind(Pace::ALONE, seed)
}

#[test]
fn a_disturbance_is_over_when_it_is_over() {
    assert_eq!(storms(60, alone), []);
}

/// Two thousand turns and two hundred yields were some 180 us: where a wake takes longer, storms go on.
#[test]
fn turns_alone_do_not_end_a_storm() {
    let by_turns = Pace {
        spins: 2000,
        yields: 40,
        wakes: 0,
    };
    assert!(storms(60, |seed| before_and_behind(by_turns, seed)).len() > 5);
}

#[test]
#[ignore = "minutes; run in release"]
fn no_disturbance_of_many_goes_on() {
    assert_eq!(storms(100_000, alone), []);
    assert_eq!(storms(100_000, shared::together), []);
}

/// The last of 64 that sleep for one is awake no later than if that one rang all, and much sooner where a wake takes
/// no longer than some rings.
#[test]
fn those_that_wake_help_to_ring() {
    let sleepers: Vec<usize> = (1..64).collect();
    for (wake_ns, gain) in [(2 * US, 4), (10 * US, 2), (50 * US, 1), (500 * US, 1)] {
        let mut job = Job::new(Pace::ALONE, wake_ns);
        job.comes_at = vec![0; 64];
        job.known_ns = vec![None; 64];
        job.wake_ns = wake_ns;
        let last = *job.ring(0, 0, &sleepers).values().max().unwrap();
        let alone = 63 * RING + 3 * wake_ns;
        assert!(last * gain <= alone, "{last} ns, {alone} by one alone");
    }
}
