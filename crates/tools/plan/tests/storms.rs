//! One late rank, among more ranks than cores and among many: those that wait for it sleep, and are woken. A storm is an
//! operation in which sleepers and their wakers lose more time by wakes than all ranks together work.

use weft_plan::{Collective, OneHost};
use weft_sim::{Act, Disturbance, Host, run};

const OPERATIONS: u32 = 10;
const LATE: Disturbance = Disturbance {
    rank: 0,
    operation: 4,
    ns: 2e6,
};
/// In the operation behind, all wait for the late rank; from here on nobody is behind any more.
const CAUGHT_UP: usize = LATE.operation + 2;

/// By the algorithm that the library chooses.
fn acts(host: &Host, ranks: usize, collective: Collective) -> Vec<Vec<Act>> {
    let plan = OneHost::new(collective, ranks, 8).unwrap();
    let chosen = plan.chosen(host);
    let mut algorithms = plan.algorithms().into_iter();
    let (number, _) = algorithms.find(|(_, name)| *name == chosen).unwrap();
    plan.record(number, OPERATIONS)
}

/// The most that wakes took in an operation, of the time that was worked in it; and what they took in all.
fn most_waking(host: &Host, acts: &[Vec<Act>], seed: u64, late: Option<Disturbance>) -> (f64, f64) {
    let outcome = run(host, acts, seed, late);
    let worked = outcome.worked_ns.iter();
    let ratios = worked
        .zip(&outcome.waking_ns)
        .map(|(worked, waking)| waking / worked);
    let from = if late.is_some() { CAUGHT_UP } else { 0 };
    let most = ratios.skip(from).fold(0.0, f64::max);
    (most, outcome.waking_ns.iter().sum())
}

#[test]
fn no_storm_begins_and_none_stays() {
    for (name, ranks) in [("xeon-16", 32), ("xeon-16", 64), ("two-sockets-128", 128)] {
        let host = Host::named(name).unwrap();
        for collective in [
            Collective::Barrier,
            Collective::Bcast,
            Collective::Allreduce,
            Collective::Alltoall,
        ] {
            let acts = acts(&host, ranks, collective);
            for seed in 0..4 {
                let what = format!("{collective} of {ranks}, seed {seed}");
                let (most, _) = most_waking(&host, &acts, seed, None);
                assert!(most < 1.0, "{what}: {most}");
                let (most, waking_ns) = most_waking(&host, &acts, seed, Some(LATE));
                assert!(waking_ns > 0.0, "{what}: nobody sleeps");
                assert!(most < 1.0, "{what}, behind a late rank: {most}");
            }
        }
    }
}
