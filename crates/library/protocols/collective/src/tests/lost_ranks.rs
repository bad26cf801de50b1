//! Ranks lose one another on a network that holds back and reorders what comes from different peers: wherever that happens in two
//! operations that follow each other, each rank has, of each, an error or the whole right result, and none waits for ever.
//!
//! Here the ranks are engines, so that eager and rendezvous messages, and how each of them ends with its peer, are the real ones.
//! The algorithms that go through a board send nothing; `deaths.rs` has those.

use super::case::{Case, Operation, Rounds, all};
use super::placements::placements_for;
use crate::Hosts;
use crate::PointToPoint;
use crate::select::Needs;
use std::num::NonZeroU8;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use weft_engine::{
    Engine, Failure, Incoming, Outgoing, Pace, RequestId, Route, Wanted, describe_packet,
};
use weft_memory::Memory;
use weft_transport::faulty::{Fault, Faulty, Plan};
use weft_transport::loopback::{Loopback, Network};
use weft_transport::tracer::{Recent, Trace, Tracer};

const CONTEXT: u32 = 8;
/// Longer messages go by rendezvous.
const LIMIT: usize = 512;
/// Lines of the trace for each rank that are shown when a test fails.
const LINES: usize = 20;
const LOST: NonZeroU8 = NonZeroU8::new(2).unwrap();

struct Rank {
    engine: Engine<Tracer<Faulty<Loopback>>>,
    rank: usize,
    size: usize,
    hosts: Option<Hosts>,
}

impl Rank {
    fn route(&self, peer: usize, source: usize, tag: u32) -> Route {
        Route {
            lane: 0,
            peer: peer as u32,
            context: CONTEXT,
            source: source as i32,
            tag: tag as i32,
        }
    }
}

/// A request, and of a receive what it waits for.
#[derive(Clone, Copy)]
struct Request {
    id: RequestId,
    wanted: Option<Wanted>,
}

impl Request {
    fn send(id: RequestId) -> Request {
        Request { id, wanted: None }
    }
}

impl PointToPoint for Rank {
    type Request = Request;
    type Error = Failure;

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn oversubscribed(&self) -> bool {
        false
    }

    fn hosts(&self) -> Option<&Hosts> {
        self.hosts.as_ref()
    }

    fn send(&self, to: usize, tag: u32, memory: Memory) -> Result<Request, Failure> {
        let message = Outgoing {
            route: self.route(to, self.rank, tag),
            memory,
            synchronous: false,
        };
        Ok(Request::send(self.engine.send(message).unwrap()))
    }

    fn send_failure(&self, to: usize, tag: u32, mark: NonZeroU8) -> Result<Request, Failure> {
        let route = self.route(to, self.rank, tag);
        Ok(Request::send(
            self.engine.send_failure(route, mark.get()).unwrap(),
        ))
    }

    fn no_memory() -> Failure {
        unreachable!("the operations are short")
    }

    fn mark(error: &Failure) -> NonZeroU8 {
        match *error {
            Failure::PeerLost => LOST,
            Failure::Operation(number) => NonZeroU8::new(number).unwrap(),
            Failure::Truncated | Failure::NoMemory => panic!("all lengths are alike and short"),
            Failure::Revoked => panic!("nobody revokes"),
        }
    }

    fn receive(&self, from: usize, tag: u32, memory: Memory) -> Result<Request, Failure> {
        let route = self.route(from, from, tag);
        let wanted = Wanted {
            lane: route.lane,
            peer: route.peer,
            context: route.context,
            source: route.source,
            tag: route.tag,
        };
        Ok(Request {
            id: self.engine.receive(Incoming { route, memory }).unwrap(),
            wanted: Some(wanted),
        })
    }

    /// The engine looks by the clock after receives from ranks that were lost before. A probe asks the same here, so that a run
    /// is the same every time.
    fn poll(&self, Request { id, wanted }: Request) -> Option<Result<usize, Failure>> {
        if !self.engine.is_complete(id)
            && let Some(wanted) = wanted
            && self.engine.probe(wanted) == Err(Failure::PeerLost)
        {
            self.engine.cancel(id);
        }
        if !self.engine.is_complete(id) {
            return None;
        }
        let status = self.engine.finish(id);
        let cancelled = status.cancelled.then_some(Failure::PeerLost);
        let failure = status.failure.or(cancelled);
        Some(failure.map_or(Ok(status.bytes as usize), Err))
    }
}

/// How a rank is lost.
#[derive(Clone, Copy, Debug)]
enum Loss {
    /// It does nothing from this turn on, and the network tells.
    Dies { turn: usize },
    /// Another loses it at this step of its own and is lost by it; all live on.
    ByOne { other: usize, step: usize },
    /// All others do, each at its own step: this share, in thousandths, of those it takes when nothing goes wrong.
    ByAll { share: usize },
}

/// What a run takes when nothing goes wrong: turns of any rank, and steps of each.
struct Sound {
    turns: usize,
    steps: Vec<usize>,
}

struct Run {
    case: Case,
    /// Of the ranks' hosts.
    names: Vec<u32>,
    seed: u64,
    random: u64,
    /// The rank that is lost, and how.
    loss: Option<(usize, Loss)>,
    trace: Arc<Recent>,
}

type Results = [Result<(), Failure>; 2];

impl Run {
    fn new(case: Case, seed: u64, loss: Option<(usize, Loss)>) -> Run {
        // With other moments of a loss go other placements.
        let mut placements = placements_for(case.size, case.operation.needs());
        let names = placements.swap_remove(seed as usize % placements.len());
        Run {
            case,
            names,
            seed,
            random: seed,
            loss,
            trace: Recent::new(LINES * case.size),
        }
    }

    /// By the upper bits of a linear congruence (Knuth's constants).
    fn below(&mut self, bound: usize) -> usize {
        let next = self.random.wrapping_mul(6364136223846793005);
        self.random = next.wrapping_add(1442695040888963407);
        (self.random >> 33) as usize % bound
    }

    /// Few packets at once, or many, or links that are made first.
    fn network(&self) -> Arc<Network> {
        match self.seed % 3 {
            0 => Network::new(self.seed, 64, LIMIT),
            1 => Network::new(self.seed, 2, LIMIT),
            _ => Network::on_demand(self.seed, 64, LIMIT),
        }
    }

    fn plan(&self, rank: usize, sound: &[usize]) -> Arc<Plan> {
        let seed = self.seed * 100 + rank as u64;
        let step = match self.loss {
            Some((_, Loss::ByOne { other, step })) if other == rank => step,
            Some((lost, Loss::ByAll { share })) if lost != rank => sound[rank] * share / 1000,
            _ => return Plan::sound(seed),
        };
        let lost = self.loss.map(|(lost, _)| lost as u32).unwrap();
        Plan::with(seed, step, Fault::Lose(lost))
    }

    /// Each rank's results, unless it died, and how long it took; `sound` where something goes wrong.
    fn results(&mut self, rounds: &Rounds<'_>, sound: &Sound) -> (Vec<Option<Results>>, Sound) {
        let size = self.case.size;
        let network = self.network();
        let plans: Vec<_> = (0..size)
            .map(|rank| self.plan(rank, &sound.steps))
            .collect();
        let new = |rank: usize| {
            let loopback = network.fabric(rank as u32, size as u32);
            let faulty = Faulty::new(loopback, plans[rank].clone());
            let trace = Trace::new(rank as u32, describe_packet, self.trace.clone());
            let fabric = Tracer::new(faulty, trace);
            let engine = Engine::new(fabric, rank as u32, size as u32, Pace::SHARED, 1);
            Rank {
                engine,
                rank,
                size,
                hosts: Hosts::new(rank, self.names.iter().copied()),
            }
        };
        let ranks: Vec<Rank> = (0..size).map(new).collect();
        let mut futures: Vec<Pin<Box<dyn Future<Output = Results>>>> = Vec::new();
        for rank in &ranks {
            futures.push(Box::pin(rounds.run(rank)));
        }
        let mut context = Context::from_waker(Waker::noop());
        let mut results = vec![None; size];
        let mut alive: Vec<usize> = (0..size).collect();
        let mut turns = 0;
        while alive.iter().any(|&rank| results[rank].is_none()) {
            if let Some((dying, Loss::Dies { turn })) = self.loss
                && turn == turns
            {
                network.kill(dying as u32);
                alive.retain(|&rank| rank != dying);
                results[dying] = None;
            }
            turns += 1;
            if turns > 5000 + 20 * sound.turns {
                let reports: Vec<_> = ranks.iter().map(|rank| rank.engine.report()).collect();
                panic!(
                    "{self}: some wait for ever\n{results:?}\n{}",
                    reports.concat()
                );
            }
            let rank = alive[self.below(alive.len())];
            ranks[rank].engine.progress();
            if results[rank].is_none()
                && let Poll::Ready(result) = futures[rank].as_mut().poll(&mut context)
            {
                results[rank] = Some(result);
            }
        }
        let steps = plans.iter().map(|plan| plan.steps()).collect();
        (results, Sound { turns, steps })
    }

    /// The number of errors and of results, each of which is right, and how long it took.
    fn counts(mut self, sound: &Sound) -> ([usize; 2], Sound) {
        let case = self.case;
        let rounds = Rounds::of(&case);
        let (results, took) = self.results(&rounds, sound);
        let mut counts = [0, 0];
        for (rank, results) in results.into_iter().enumerate() {
            for (round, result) in results.into_iter().flatten().enumerate() {
                counts[usize::from(result.is_ok())] += 1;
                match result {
                    Ok(()) => rounds.check(rank, round, &(self.seed, self.loss)),
                    Err(Failure::PeerLost) => {}
                    Err(Failure::Operation(number)) => assert_eq!(number, LOST.get(), "{self}"),
                    Err(failure) => panic!("{self}: {failure:?}"),
                }
            }
        }
        (counts, took)
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (case, seed, loss) = (&self.case, self.seed, self.loss);
        write!(f, "{case:?}, seed {seed}, loss {loss:?}")
    }
}

/// Ranks, and integers of a block: short messages, and long ones.
const SIZES: [(usize, usize); 4] = [(2, 3), (3, 400), (5, 3), (6, 150)];
/// Moments of each way to be lost.
const SAMPLES: usize = 4;

/// The errors and results of all ways to be lost in one algorithm.
fn lose(operation: Operation) -> [usize; 2] {
    let mut counts = [0, 0];
    for (index, (size, count)) in SIZES.into_iter().enumerate() {
        for sample in 0..SAMPLES {
            let seed = (index * SAMPLES + sample + 1) as u64;
            let case = Case {
                operation,
                size,
                count,
                root: sample % size,
                tries: |_| false,
            };
            let nothing = Sound {
                turns: 0,
                steps: vec![0; size],
            };
            let ([errors, results], sound) = Run::new(case, seed, None).counts(&nothing);
            assert_eq!([errors, results], [0, 2 * size], "{case:?}, seed {seed}");
            let lost = (sample * 5 + 1) % size;
            let other = (lost + 1 + sample % (size - 1)) % size;
            // Spread over the run, its last part left out: there nothing is to be lost any more.
            let share = 900 * sample / SAMPLES + 7 * index;
            let ways = [
                Loss::Dies {
                    turn: sound.turns * share / 1000,
                },
                Loss::ByOne {
                    other,
                    step: sound.steps[other] * share / 1000,
                },
                Loss::ByAll { share },
            ];
            for loss in ways {
                let run = Run::new(case, seed, Some((lost, loss)));
                let ([errors, results], _) = run.counts(&sound);
                counts = [counts[0] + errors, counts[1] + results];
            }
        }
    }
    counts
}

#[test]
fn ranks_that_lose_one_another_have_the_whole_result_or_an_error() {
    let on_board = [Needs::Board, Needs::Everything];
    for operation in all() {
        if on_board.contains(&operation.needs()) {
            continue;
        }
        let counts = lose(operation);
        assert!(
            counts.iter().all(|&count| count > 20),
            "{operation:?}: {counts:?}"
        );
    }
}
