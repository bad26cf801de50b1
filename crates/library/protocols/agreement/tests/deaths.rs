//! Agreements among members that die at any step: what is told arrives in order between two members, at any time; of what
//! a dead one has told each other one hears any part before it knows of the death, and nothing after.

mod network;

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use network::{Event, Network};

/// Every order of events, each state once. How many there are.
fn explore(members: u32, agreements: u64, deaths: u32) -> usize {
    let mut seen = HashSet::new();
    let mut stack = vec![Network::new(members, agreements, deaths)];
    while let Some(network) = stack.pop() {
        let mut hasher = DefaultHasher::new();
        network.hash(&mut hasher);
        if !seen.insert(hasher.finish()) {
            continue;
        }
        let events = network.events();
        network.check_safety();
        // Whoever does not die in the end is to have all decisions.
        if events.iter().all(|event| matches!(event, Event::Die(_))) {
            network.check_end();
        }
        for event in events {
            let mut next = network.clone();
            next.happen(event);
            stack.push(next);
        }
    }
    seen.len()
}

#[test]
fn every_order_of_three() {
    let states = [0, 1, 2].map(|deaths| explore(3, 1, deaths));
    assert!(
        states[0] > 20 && states[1] > 250 && states[2] > 400,
        "{states:?}"
    );
}

#[test]
fn every_order_of_two_agreements() {
    let states = [explore(2, 3, 1), explore(3, 2, 2)];
    assert!(states[0] > 50 && states[1] > 900, "{states:?}");
}

#[test]
fn every_order_of_four() {
    let states = explore(4, 1, 3);
    assert!(states > 14_000, "{states}");
}

#[test]
#[ignore = "minutes"]
fn every_order_of_five() {
    println!("{} states", explore(5, 1, 4));
}

/// A seed's run: random events, deaths now and then.
fn run(seed: u64, most: u32) {
    let mut random = network::Random(seed);
    let members = 2 + random.below(u64::from(most) - 1) as u32;
    let agreements = 1 + random.below(4);
    let deaths = random.below(u64::from(members)) as u32;
    let mut network = Network::new(members, agreements, deaths);
    let rarity = 1 + random.below(4 * u64::from(members));
    loop {
        let event = network.random_event(&mut random, rarity);
        let Some(event) = event else {
            break;
        };
        network.happen(event);
        network.check_safety();
    }
    network.check_end();
}

#[test]
fn random_orders_of_up_to_nine() {
    (0..2000).for_each(|seed| run(seed, 9));
}

#[test]
fn random_orders_of_up_to_sixty_four() {
    (0..30).for_each(|seed| run(seed, 64));
}

#[test]
#[ignore = "minutes"]
fn a_million_random_orders() {
    (0..1_000_000).for_each(|seed| run(seed, 8));
    (0..3000).for_each(|seed| run(seed, 64));
}

#[test]
fn decisions_that_all_have_taken_are_forgotten() {
    let mut network = Network::new(4, 200, 0);
    let mut random = network::Random(7);
    while let Some(event) = network.random_event(&mut random, u64::MAX) {
        network.happen(event);
    }
    network.check_end();
    let kept: BTreeSet<usize> = network.kept().collect();
    assert!(kept.iter().all(|&kept| kept <= 3), "{kept:?}");
}
