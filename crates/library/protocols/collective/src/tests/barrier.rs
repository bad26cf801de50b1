//! Barriers by the board, behind an operation that a rank has led.

use super::case::{Case, Operation};
use super::deaths::run_with_death;
use super::world::World;
use crate::{Channel, Outcome, PointToPoint, Short, barrier, flat};
use std::cell::{Cell, RefCell};

const SHARED: barrier::Algorithm = barrier::Algorithm::Flat(flat::barrier::Algorithm::Shared);

fn led_world(size: usize, seed: u64) -> World {
    let mut world = World::new(size, seed);
    world.leader = Some(seed as usize % size);
    world
}

#[test]
fn the_leader_is_the_first_to_leave() {
    for size in 2..=7 {
        for seed in 0..64 {
            let world = led_world(size, seed);
            let entered = [const { Cell::new(0) }; 3];
            let left = RefCell::new(Vec::new());
            let results = world.run_ranks(async |rank| {
                for (round, entered) in entered.iter().enumerate() {
                    entered.set(entered.get() + 1);
                    let outcome = Outcome::default();
                    let channel = Channel::new(rank, round as u32, &outcome);
                    let tries = (rank.rank() + round + seed as usize).is_multiple_of(2);
                    let short = Short::new(rank.arena().unwrap().board(), channel.tag(), 1);
                    if !tries || !short.barrier_behind(world.leader.unwrap()) {
                        barrier::run(&channel, SHARED).await?;
                    }
                    assert_eq!(entered.get(), size);
                    left.borrow_mut().push((round, rank.rank()));
                }
                Ok::<_, <super::world::Rank<'_> as PointToPoint>::Error>(())
            });
            assert!(results.iter().all(Result::is_ok), "{results:?}");
            for round in 0..entered.len() {
                let first = left.borrow().iter().copied().find(|one| one.0 == round);
                assert_eq!(first, world.leader.map(|leader| (round, leader)), "{seed}");
            }
        }
    }
}

#[test]
fn a_barrier_that_is_led_survives_a_death() {
    let mut counts = [0, 0];
    for size in 2..=6 {
        for seed in 0..64 {
            let case = Case {
                operation: Operation::Barrier(SHARED),
                size,
                count: 1,
                root: 0,
                tries: [|_| false, |_| true, |rank| rank % 2 == 0][seed as usize % 3],
            };
            let (dying, after) = (seed as usize / size % size, seed as usize % (size * 8));
            let [errors, results] =
                run_with_death(&case, led_world(size, seed), seed, [dying, after]);
            counts = [counts[0] + errors, counts[1] + results];
        }
    }
    assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
}
