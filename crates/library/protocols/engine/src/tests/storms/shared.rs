//! The same for more processes than cores: a process that waits makes way at once, and others run meanwhile.
//!
//! Cores take in turn whoever is ready. A process that waits looks, and yields or sleeps as [`Staying`] says; one
//! that comes rings those that sleep for it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{
    BEFORE, BEHIND, DISTURBANCES, Disturbance, Draws, QUICK, RING, US, quick, storms, usual,
};
use crate::Pace;
use crate::waiting::{BeforeTurn, Staying, smoothed};

/// Nanoseconds of a look, and of a switch to another process.
const LOOK: u64 = 100;
const SWITCH: u64 = 1500;

struct Process {
    /// The barrier that it has come to last, and how many it has left.
    came: usize,
    left: usize,
    /// Whether it has computed what it does before the next one.
    is_done: bool,
    staying: Staying,
    asleep_for: Option<usize>,
    /// When it was rung, until it runs; and what it knows of wakes.
    rung_at: Option<u64>,
    known_ns: Option<u64>,
}

struct Cores {
    pace: Pace,
    draws: Draws,
    wake_ns: u64,
    noise_ns: u64,
    what: Disturbance,
    victim: usize,
    late_ns: u64,
    processes: Vec<Process>,
    /// When each core is free, and who is ready since when.
    free: BinaryHeap<Reverse<u64>>,
    ready: BinaryHeap<Reverse<(u64, usize)>>,
    /// When the last left each barrier.
    left_at: Vec<u64>,
}

impl Cores {
    fn new(pace: Pace, seed: u64) -> Cores {
        let mut draws = Draws(seed);
        let cores = draws.between(1, 8);
        let processes = cores + draws.between(1, 3 * cores);
        let process = |_| Process {
            came: 0,
            left: 0,
            is_done: false,
            staying: Staying::new(pace),
            asleep_for: None,
            rung_at: None,
            known_ns: None,
        };
        Cores {
            pace,
            wake_ns: draws.scaled(US, 500 * US),
            noise_ns: draws.scaled(100, 200 * US),
            what: DISTURBANCES[seed as usize % DISTURBANCES.len()],
            victim: draws.below(processes) as usize,
            late_ns: draws.between(20, 30_000) * US,
            processes: (0..processes).map(process).collect(),
            free: (0..cores).map(|_| Reverse(0)).collect(),
            ready: (0..processes as usize)
                .map(|process| Reverse((0, process)))
                .collect(),
            left_at: vec![0; BEFORE + BEHIND + QUICK],
            draws,
        }
    }

    /// What a process does between two barriers.
    fn work(&mut self, process: usize, barrier: usize) -> u64 {
        let is_late = match self.what {
            Disturbance::Burst => (BEFORE - 5..BEFORE).contains(&barrier),
            Disturbance::Preempted => false,
            _ => barrier == BEFORE - 1,
        };
        let noise = self.draws.below(self.noise_ns);
        if is_late && process == self.victim {
            noise + self.late_ns
        } else {
            noise
        }
    }

    /// It takes twenty times as long for one, behind the disturbance.
    fn wake(&mut self, process: usize) -> u64 {
        let usual = self.draws.between(self.wake_ns / 2, self.wake_ns * 3 / 2);
        let is_slow = process == (self.victim + 1) % self.processes.len();
        match self.what {
            Disturbance::SlowWake if is_slow && self.processes[process].left == BEFORE - 1 => {
                20 * usual
            }
            _ => usual,
        }
    }

    fn comes(&mut self, process: usize, mut now: u64) -> u64 {
        self.processes[process].came += 1;
        for sleeper in 0..self.processes.len() {
            if self.processes[sleeper].asleep_for == Some(process) {
                self.processes[sleeper].asleep_for = None;
                now += RING;
                self.processes[sleeper].rung_at = Some(now);
                let wakes = now + self.wake(sleeper);
                self.ready.push(Reverse((wakes, sleeper)));
            }
        }
        now
    }

    /// A process has a core from `now` on. Until when.
    fn run(&mut self, process: usize, mut now: u64) -> u64 {
        let runs = &mut self.processes[process];
        if let Some(rung_at) = runs.rung_at.take() {
            runs.known_ns = Some(smoothed(runs.known_ns, now - rung_at));
        }
        loop {
            let Process {
                came,
                left,
                is_done,
                ..
            } = self.processes[process];
            if came == left && !is_done {
                self.processes[process].is_done = true;
                now += self.work(process, left);
                self.ready.push(Reverse((now, process)));
                return now;
            }
            if came == left {
                self.processes[process].is_done = false;
                now = self.comes(process, now);
                self.processes[process].staying = Staying::new(self.pace);
                continue;
            }
            now += LOOK;
            let Some(missing) = self.processes.iter().position(|other| other.came < came) else {
                self.processes[process].left = came;
                self.left_at[came - 1] = self.left_at[came - 1].max(now);
                if came == self.left_at.len() {
                    return now;
                }
                continue;
            };
            let Process {
                staying, known_ns, ..
            } = &mut self.processes[process];
            staying.count_turn();
            match staying.step(|| now, || *known_ns, || 0) {
                BeforeTurn::Spin => {}
                BeforeTurn::Yield => {
                    self.ready.push(Reverse((now, process)));
                    return now + SWITCH;
                }
                BeforeTurn::Sleep => {
                    self.processes[process].asleep_for = Some(missing);
                    return now + SWITCH;
                }
            }
        }
    }

    /// The time of a barrier before the disturbance, and of the tenth and later ones behind it.
    fn before_and_behind(mut self) -> (u64, u64) {
        let mut is_to_lose = self.what == Disturbance::Preempted;
        while let Some(Reverse((ready, process))) = self.ready.pop() {
            let Reverse(free) = self.free.pop().expect("there is a core");
            let mut begin = free.max(ready);
            if is_to_lose && self.processes[process].left == BEFORE {
                // Neither it nor its core does anything meanwhile.
                is_to_lose = false;
                begin += self.late_ns;
            }
            let end = self.run(process, begin);
            self.free.push(Reverse(end));
        }
        (usual(&self.left_at[..BEFORE - 5]), quick(&self.left_at))
    }
}

pub(super) fn together(seed: u64) -> (u64, u64) {
    Cores::new(Pace::SHARED, seed).before_and_behind()
}

#[test]
fn a_disturbance_is_over_where_processes_share_cores() {
    assert_eq!(storms(60, together), []);
}

/// Forty yields take less than many a wake.
#[test]
fn yields_alone_do_not_end_a_storm() {
    let few = Pace {
        wakes: 0,
        ..Pace::SHARED
    };
    assert!(storms(600, |seed| Cores::new(few, seed).before_and_behind()).len() > 5);
}
