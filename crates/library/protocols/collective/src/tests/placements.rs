//! Worlds whose ranks are on one host or, in many ways, on several.

use super::world::World;
use crate::Hosts;
use crate::select::Needs;

/// The hosts of as many ranks: one; pairs, thirds and halves that follow each other; one, two and the rest; every second and every
/// third rank; one rank a host.
fn placements(size: usize) -> Vec<Vec<u32>> {
    let place = |host: &dyn Fn(usize) -> usize| (0..size).map(|rank| host(rank) as u32).collect();
    let mut all: Vec<Vec<u32>> = vec![
        place(&|_| 0),
        place(&|rank| rank / 2),
        place(&|rank| rank * 3 / size),
        place(&|rank| rank * 2 / size),
        place(&|rank| rank.min(3).div_ceil(2)),
        place(&|rank| rank % 2),
        place(&|rank| (rank + 1) % 3),
        place(&|rank| rank),
    ];
    all.sort();
    all.dedup();
    all
}

/// The placements in which an algorithm that asks this of the ranks can run.
pub fn placements_for(size: usize, needs: Needs) -> Vec<Vec<u32>> {
    let mut all = placements(size);
    all.retain(
        |names| match (needs, Hosts::new(0, names.iter().copied())) {
            (Needs::Nothing | Needs::Board | Needs::Everything, hosts) => hosts.is_none(),
            (_, None) => false,
            (Needs::Hosts, Some(_)) => true,
            (Needs::ContiguousHosts, Some(hosts)) => hosts.is_contiguous(),
            (Needs::EvenHosts, Some(hosts)) => hosts.is_even(),
            (Needs::EvenContiguousHosts, Some(hosts)) => hosts.is_even() && hosts.is_contiguous(),
        },
    );
    all
}

/// Worlds in which such an algorithm can run. On several hosts the ranks of each share memory or, as in nonblocking
/// operations, do not.
pub fn worlds(size: usize, seed: u64, needs: Needs) -> Vec<World> {
    let mut worlds = Vec::new();
    for names in placements_for(size, needs) {
        worlds.push(World::on_hosts(names.clone(), true, seed));
        if Hosts::new(0, names.iter().copied()).is_some() {
            worlds.push(World::on_hosts(names, false, seed + 1));
        }
    }
    worlds
}

/// Worlds of as many ranks on one host and on several.
pub fn all_worlds(size: usize, seed: u64) -> Vec<World> {
    let mut worlds = worlds(size, seed, Needs::Nothing);
    worlds.extend(self::worlds(size, seed, Needs::Hosts));
    worlds
}
