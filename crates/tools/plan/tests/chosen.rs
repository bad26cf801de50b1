//! What the library chooses by its built-in prices, beside what is best on the simulated host: also among more ranks than any
//! table has.

use weft_plan::{Collective, OneHost};
use weft_sim::Host;

/// A collective on a host: among so many ranks, of so many bytes.
type Point = (&'static str, Collective, usize, u64);

/// The part of the best algorithm's time that the chosen one takes.
fn loss((name, collective, ranks, bytes): Point) -> f64 {
    let host = Host::named(name).unwrap();
    let plan = OneHost::new(collective, ranks, bytes).unwrap();
    let chosen = plan.chosen(&host);
    let times = plan.algorithms().into_iter();
    let times: Vec<_> = times
        .map(|(number, name)| (name, plan.simulate(&host, number, 1).ns))
        .collect();
    let least = times
        .iter()
        .map(|(_, ns)| *ns)
        .fold(f64::INFINITY, f64::min);
    let (_, ns) = times.iter().find(|(name, _)| *name == chosen).unwrap();
    println!(
        "{name} {collective} {ranks} x {bytes}: {chosen} {:.2}",
        ns / least
    );
    ns / least
}

#[test]
fn what_is_chosen_is_the_simulated_best_or_near_it() {
    use Collective::{Allreduce, Alltoall, Barrier};
    for point in [
        ("xeon-16", Allreduce, 4, 512),
        ("xeon-16", Allreduce, 8, 4 << 10),
        ("xeon-16", Allreduce, 16, 8),
        ("xeon-16", Allreduce, 16, 512),
        ("xeon-16", Allreduce, 16, 4 << 10),
        ("xeon-16", Allreduce, 16, 64 << 10),
        ("xeon-16", Alltoall, 16, 512),
        ("xeon-16", Alltoall, 16, 64 << 10),
        ("two-sockets-128", Allreduce, 32, 512),
        ("two-sockets-128", Alltoall, 32, 8),
        ("two-sockets-128", Alltoall, 32, 512),
        ("two-sockets-128", Barrier, 128, 0),
    ] {
        assert!(loss(point) < 1.2, "{point:?}");
    }
}
