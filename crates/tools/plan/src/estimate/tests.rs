use super::*;
use crate::competitors::{self, Setting};
use crate::{Collective, Library, Shape};

const MACHINE: Machine = Machine {
    ranks_a_host: 1,
    between: Network::LOGGOPSIM,
    within: Network::LOGGOPSIM,
};

fn whole_ns(plan: &Plan<'_>) -> f64 {
    end_ns(&schedule(plan, &mut |_| {}), plan.on(&MACHINE), Fold::None)
}

/// The estimate of one host, if hosts do alike.
fn folded_ns(plan: &Plan<'_>) -> Option<f64> {
    let sample = plan.sample();
    let fold = plan.fold(&sample)?;
    let first = Schedule {
        ranks: sample[0].1.clone(),
    };
    Some(end_ns(&first, plan.on(&MACHINE), fold))
}

#[test]
fn one_host_takes_as_long_as_all_where_they_do_alike() {
    let mut folds = 0;
    for collective in Collective::ALL {
        for (hosts, ranks_a_host) in [(16, 1), (12, 1), (8, 4)] {
            let shape = Shape {
                hosts,
                ranks_a_host,
            };
            let library = Library::new(collective, shape, 4096, MACHINE, 0.1).unwrap();
            let plan = library.plan();
            if let Some(folded) = folded_ns(&plan) {
                assert_eq!(folded, whole_ns(&plan), "{collective} {hosts}");
                folds += 1;
            }
            let setting = Setting::new(hosts, 4096, &MACHINE, 0.1);
            for competitor in competitors::all(collective, setting) {
                let plan = competitor.plan();
                if let Some(folded) = folded_ns(&plan) {
                    assert_eq!(folded, whole_ns(&plan), "{}", competitor.name);
                    folds += 1;
                }
            }
        }
    }
    assert!(folds > 20, "{folds}");
}

#[test]
fn what_is_too_long_to_simulate_has_a_bound() {
    let setting = Setting::new(1 << 13, 1 << 16, &MACHINE, 0.0);
    let all = competitors::all(Collective::Bcast, setting);
    let of = |name: &str| all.iter().find(|one| one.name == name).unwrap().plan();
    let ring = of("scatter_ring");
    assert!(ring.operations() > MOST_OPERATIONS);
    let estimate = ring.estimate(&MACHINE, &mut |_| {});
    assert_eq!(estimate.exactness, Exactness::AtLeast);
    // The processor's part in as many exchanges as there are ranks.
    assert!(estimate.ns >= 8191.0 * 2.0 * 1500.0, "{}", estimate.ns);
    let tree = of("binomial").estimate(&MACHINE, &mut |_| {});
    assert_eq!(tree.exactness, Exactness::Whole);
    let alltoall = competitors::all(Collective::Alltoall, setting);
    let estimate = alltoall[0].plan().estimate(&MACHINE, &mut |_| {});
    assert_eq!(estimate.exactness, Exactness::OneHost);
}
