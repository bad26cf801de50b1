//! The default: ranks share the cores out.

use std::ops::Range;

/// The CPUs (hardware threads) of one core.
type Core = Vec<u32>;

/// Each rank's share of the cores.
///
/// As many cores as ranks or more: each rank gets an unbroken run of them, and none is left over; a rank with threads needs more than one
/// core, and a job that leaves cores over must not crowd onto the first ones. Fewer: ranks are dealt out to the cores in turn, and those of a
/// core share its hardware threads out in the same way. They are bound too, also where some core then has a rank more than another: the
/// scheduler may leave ranks that wait for each other on one core while another idles, and the runtime of a program's threads (OpenMP's)
/// gives way in its barriers only where it sees fewer CPUs than threads. Unbound, it spins against the threads of other ranks.
pub fn share_out(ranks: u32, cores: &[Core]) -> Vec<Vec<u32>> {
    let (ranks, count) = (ranks as usize, cores.len());
    let share = |rank: usize| {
        if ranks <= count {
            return cores[run(rank, ranks, count)].concat();
        }
        let (core, turn) = (&cores[rank % count], rank / count);
        let on_core = (ranks - rank % count).div_ceil(count);
        match on_core <= core.len() {
            true => core[run(turn, on_core, core.len())].to_vec(),
            false => vec![core[turn % core.len()]],
        }
    };
    (0..ranks).map(share).collect()
}

/// The run of `count` things that is the share of one of `ranks`, which are no more.
fn run(rank: usize, ranks: usize, count: usize) -> Range<usize> {
    rank * count / ranks..(rank + 1) * count / ranks
}

#[cfg(test)]
mod tests {
    use super::super::list::show_runs;
    use super::*;
    use proptest::prelude::*;

    fn machine(cores: u32, threads: u32) -> Vec<Core> {
        let core = |core: u32| (core * threads..(core + 1) * threads).collect();
        (0..cores).map(core).collect()
    }

    proptest! {
        #[test]
        fn every_cpu_is_some_ranks_and_no_core_has_two_ranks_more_than_another(
            count in 1u32..40, threads in 1u32..5, ranks in 1u32..100,
        ) {
            let cores = machine(count, threads);
            let shares = share_out(ranks, &cores);
            prop_assert_eq!(shares.len(), ranks as usize);
            if ranks <= count {
                prop_assert_eq!(shares.concat(), cores.concat());
            }
            let ranks_on = |cpu: u32| shares.iter().filter(|share| share.contains(&cpu)).count();
            let on_cpus: Vec<usize> = cores.concat().into_iter().map(ranks_on).collect();
            prop_assert!(on_cpus.iter().all(|&ranks| ranks > 0));
            let on_core = |core: &Core| shares.iter().filter(|share| core.contains(&share[0])).count();
            let on_cores: Vec<usize> = cores.iter().map(on_core).collect();
            if ranks > count {
                prop_assert!(on_cores.iter().max().unwrap() - on_cores.iter().min().unwrap() <= 1);
                let is_in_one_core = |share: &Vec<u32>| cores.iter().any(|core| share.iter().all(|cpu| core.contains(cpu)));
                prop_assert!(shares.iter().all(is_in_one_core));
            } else {
                let sizes: Vec<usize> = shares.iter().map(|share| share.len() / threads as usize).collect();
                prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            }
        }
    }

    /// Cores, hardware threads of each, ranks, and each rank's CPUs.
    #[test]
    fn ranks_that_do_not_divide_the_cores_are_bound_too() {
        for (cores, threads, ranks, shares) in [
            (2, 1, 1, "0-1"),
            (2, 1, 2, "0 1"),
            (2, 1, 3, "0 1 0"),
            (2, 1, 4, "0 1 0 1"),
            (2, 1, 5, "0 1 0 1 0"),
            (1, 1, 3, "0 0 0"),
            (16, 1, 3, "0-4 5-9 10-15"),
            (4, 1, 5, "0 1 2 3 0"),
            (2, 2, 2, "0-1 2-3"),
            (2, 2, 3, "0 2-3 1"),
            (2, 2, 4, "0 2 1 3"),
            (2, 2, 5, "0 2 1 3 0"),
            (2, 4, 3, "0-1 4-7 2-3"),
        ] {
            let shown: Vec<String> = share_out(ranks, &machine(cores, threads))
                .iter()
                .map(|share| show_runs(share))
                .collect();
            assert_eq!(
                shown.join(" "),
                shares,
                "{ranks} ranks on {cores} cores of {threads}"
            );
        }
    }
}
