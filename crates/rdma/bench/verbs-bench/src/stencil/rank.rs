//! A rank: its threads post their halos up and down, wait for their neighbours', and compute.

use std::mem::swap;

use weft_verbs::{Operation, Remote};

use super::job::{CELL, Division, Job, Neighbours, Phase, Tally};
use crate::courier::Courier;
use crate::device::Choice;
use crate::grid::{Strip, digest};
use crate::talk::Talk;
use crate::team::{self, Gate, Stop};
use weft_endpoint::{Card, Endpoint, Endpoints, Layout};

/// Queue pairs of a thread, and the sides that halos are on.
const UP: usize = 0;
const DOWN: usize = 1;
/// Buffers of a thread: what it sends, and what its neighbours send it.
const OUT: usize = 0;
const IN: usize = 1;
const BUFFERS: usize = 2;
const WORD: usize = size_of::<u64>();

/// A halo and its word, on lines of their own.
fn place_bytes(division: Division) -> usize {
    (division.halo_bytes() + WORD).next_multiple_of(128)
}

/// Where the halo of a side and step stands in a thread's buffer; its word is behind it.
fn place(division: Division, side: usize, step: u64) -> usize {
    let parity = (step % 2) as usize;
    (side * 2 + parity) * place_bytes(division)
}

/// What a rank's endpoints are beyond those of the category.
pub fn layout(division: Division, category: Layout) -> Layout {
    Layout {
        queue_pairs_each: 2,
        buffers_each: BUFFERS,
        buffer_bytes: 4 * place_bytes(division),
        completion_depth: category.depth,
        is_exposed: true,
        ..category
    }
}

pub fn play(talk: &mut Talk, device: &Choice, job: &Job) -> Result<(), String> {
    let made = Endpoints::create(&device.find()?, &job.layout);
    let mut endpoints = made.map_err(|e| e.to_string())?;
    let card = endpoints.card().map_err(|e| e.to_string())?;
    talk.say(&card)?;
    let neighbours: Neighbours = talk.hear()?;
    let peers = peers(&card, &neighbours);
    endpoints.connect(&peers).map_err(|e| e.to_string())?;
    talk.say(&())?;
    // Steps go on over phases, so that no word of an earlier one is taken for a new one.
    let mut first = 1;
    while let Some(phase) = talk.hear::<Option<Phase>>()? {
        let (Phase::Exchange { steps } | Phase::Solve { steps }) = phase;
        let last = first + steps;
        let tally = run(endpoints.threads(), job, &neighbours, phase, first..last)?;
        first = last;
        talk.say(&tally)?;
    }
    Ok(())
}

/// For each own queue pair the neighbour's: up goes to down, and down to up. Neighbours have as many, in the same order.
fn peers(own: &Card, neighbours: &Neighbours) -> Card {
    let peer = |at: usize| match at % 2 {
        UP => neighbours.above.queue_pairs[at + 1],
        _ => neighbours.below.queue_pairs[at - 1],
    };
    Card {
        // All are on this machine, or behind the same switch: any of their ports is as good.
        port: neighbours.above.port,
        queue_pairs: (0..own.queue_pairs.len()).map(peer).collect(),
        memory: Vec::new(),
    }
}

/// What thread `index` of a neighbour receives into.
fn incoming(card: &Card, index: usize) -> Remote {
    card.memory[index * BUFFERS + IN].remote()
}

fn run(
    endpoints: &mut [Endpoint],
    job: &Job,
    neighbours: &Neighbours,
    phase: Phase,
    steps: std::ops::Range<u64>,
) -> Result<Tally, String> {
    let division = job.division;
    let strip = || {
        let rows = division.rows_of_rank();
        Strip::new(job.rank * rows, rows, division.columns)
    };
    let strips = [strip(), strip()];
    let gate = Gate::new(division.threads);
    let members = endpoints.iter_mut().collect();
    let outcome = team::run(members, &job.placement, None, |index, endpoint, stop| {
        let mut worker = Worker {
            courier: Courier::new(endpoint),
            division,
            index,
            rank: job.rank,
            remote: [
                incoming(&neighbours.above, index),
                incoming(&neighbours.below, index),
            ],
            stop,
        };
        let done = match phase {
            Phase::Exchange { .. } => worker.exchange_only(steps.clone()),
            Phase::Solve { .. } => worker.solve(steps.clone(), &strips, &gate),
        };
        if done.is_err() {
            stop.set();
        }
        done.map(|()| worker.courier.posted)
    });
    let posted: Result<Vec<u64>, String> = outcome.results.into_iter().collect();
    let last = &strips[((steps.end - steps.start) % 2) as usize];
    Ok(Tally {
        messages: posted?.into_iter().sum(),
        seconds: outcome.wall.as_secs_f64(),
        processor_seconds: outcome.processor.as_secs_f64(),
        digest: digest(last.bits()),
    })
}

struct Worker<'a> {
    courier: Courier<'a>,
    division: Division,
    index: usize,
    rank: usize,
    /// The memory of the same thread above and below.
    remote: [Remote; 2],
    stop: &'a Stop,
}

impl Worker<'_> {
    /// Sends what stands in the own buffer for both sides, waits for both neighbours' halos, and until all has left.
    fn exchange(&mut self, step: u64) -> Result<(), String> {
        let halo = self.division.halo_bytes();
        for side in [UP, DOWN] {
            let from = place(self.division, side, step);
            // What goes up is the halo that is below for who gets it.
            let to = place(self.division, 1 - side, step);
            let word = step.to_ne_bytes();
            self.courier.endpoint.slot(OUT).write(from + halo, &word);
            for at in (0..halo).step_by(self.division.message_bytes) {
                let bytes = self.division.message_bytes.min(halo - at);
                self.write(side, from + at, to + at, bytes)?;
            }
            self.write(side, from + halo, to + halo, WORD)?;
        }
        for side in [UP, DOWN] {
            let word = place(self.division, side, step) + halo;
            while self.courier.endpoint.slot(IN).word(word) != step {
                if self.stop.is_set() {
                    return Err("another thread failed".into());
                }
                let polled = self.courier.endpoint.poll();
                if polled.map_err(|e| e.to_string())? == 0 {
                    std::thread::yield_now();
                }
            }
        }
        self.courier.finish().map_err(|e| e.to_string())
    }

    fn write(&mut self, side: usize, from: usize, to: usize, bytes: usize) -> Result<(), String> {
        let operation = Operation::Write(self.remote[side].at(to as u64));
        let posted = self.courier.post(side, operation, OUT, (from, bytes));
        posted.map_err(|e| e.to_string())
    }

    /// A halo's word `at`, of what a thread sends to `side` in a step: different for each of them.
    fn pattern(&self, rank: usize, side: usize, step: u64, at: usize) -> u64 {
        let sender = (rank * self.division.threads + self.index) * 2 + side;
        (step << 40 | (sender as u64) << 20 | at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn exchange_only(&mut self, steps: std::ops::Range<u64>) -> Result<(), String> {
        let words = self.division.columns_of_thread();
        let ranks = self.division.ranks;
        let neighbours = [(self.rank + ranks - 1) % ranks, (self.rank + 1) % ranks];
        let mut bytes = vec![0; self.division.halo_bytes()];
        for step in steps {
            for side in [UP, DOWN] {
                for (at, word) in bytes.chunks_exact_mut(WORD).enumerate() {
                    word.copy_from_slice(&self.pattern(self.rank, side, step, at).to_ne_bytes());
                }
                let out = place(self.division, side, step);
                self.courier.endpoint.slot(OUT).write(out, &bytes);
            }
            self.exchange(step)?;
            for side in [UP, DOWN] {
                let place = place(self.division, side, step);
                self.courier.endpoint.slot(IN).read(place, &mut bytes);
                let (found, _) = bytes.as_chunks();
                let sent = |at| self.pattern(neighbours[side], 1 - side, step, at);
                if let Some(at) = (0..words).find(|&at| u64::from_ne_bytes(found[at]) != sent(at)) {
                    return Err(self.wrong(side, step, at));
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn wrong(&self, side: usize, step: u64, at: usize) -> String {
        let (rank, thread) = (self.rank, self.index);
        let side = ["above", "below"][side];
        format!("rank {rank}, thread {thread}, step {step}: word {at} of the halo {side} is wrong")
    }

    fn solve(
        &mut self,
        steps: std::ops::Range<u64>,
        strips: &[Strip; 2],
        gate: &Gate,
    ) -> Result<(), String> {
        let width = self.division.columns_of_thread();
        let own = self.index * width..(self.index + 1) * width;
        let [mut now, mut next] = [&strips[0], &strips[1]];
        let mut halos = [vec![0.0; width], vec![0.0; width]];
        for step in steps {
            for (side, row) in [(UP, 0), (DOWN, now.rows() - 1)] {
                let bytes: Vec<u8> = own
                    .clone()
                    .flat_map(|column| now.cell(row, column).to_ne_bytes())
                    .collect();
                self.courier
                    .endpoint
                    .slot(OUT)
                    .write(place(self.division, side, step), &bytes);
            }
            self.exchange(step)?;
            for side in [UP, DOWN] {
                self.halo(side, step, &mut halos[side]);
            }
            now.advance(next, own.clone(), &halos[UP], &halos[DOWN]);
            // Everybody's columns are there before anybody reads them.
            if !gate.pass(self.stop) {
                return Err("another thread failed".into());
            }
            swap(&mut now, &mut next);
        }
        Ok(())
    }

    fn halo(&self, side: usize, step: u64, into: &mut [f64]) {
        let mut bytes = vec![0; into.len() * CELL];
        self.courier
            .endpoint
            .slot(IN)
            .read(place(self.division, side, step), &mut bytes);
        let (words, _) = bytes.as_chunks();
        for (value, word) in into.iter_mut().zip(words) {
            *value = f64::from_ne_bytes(*word);
        }
    }
}
