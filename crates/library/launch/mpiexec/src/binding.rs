//! Which CPUs each rank runs on.

use crate::arguments::Bind;
use std::collections::BTreeMap;
use std::fs;

/// The CPUs (hardware threads) of one core that this process may use.
pub type Core = Vec<u32>;

/// The cores under the CPUs of an affinity mask, packages kept together.
pub fn cores(cpus: &[u32]) -> Vec<Core> {
    let mut cores: BTreeMap<(u64, u64), Core> = BTreeMap::new();
    for &cpu in cpus {
        let number = |name: &str| {
            let text =
                fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/topology/{name}"));
            text.ok().and_then(|text| text.trim().parse().ok())
        };
        // A machine that tells nothing of its cores has as many as CPUs.
        let core = number("physical_package_id")
            .zip(number("core_id"))
            .unwrap_or((u64::MAX, u64::from(cpu)));
        cores.entry(core).or_default().push(cpu);
    }
    cores.into_values().collect()
}

/// The CPUs of each rank, or `None` where ranks keep mpiexec's own.
///
/// Ranks share the cores out evenly, each an unbroken run: a rank with threads needs more than one core, and a job that
/// leaves cores over must not crowd onto the first ones. With more ranks than cores, they are dealt out to the cores in turn, each to one: where that
/// gives each core as many, it is better than what the scheduler does, which may leave ranks that wait for each other on one core while
/// another idles. Where some core would have more ranks than others, only `Bind::Core` binds: the scheduler lets them take turns.
pub fn assign(bind: Bind, ranks: u32, cores: &[Core]) -> Option<Vec<Vec<u32>>> {
    let (ranks, count) = (ranks as usize, cores.len());
    let fits = ranks <= count;
    let is_even = count > 0 && ranks.is_multiple_of(count);
    if bind == Bind::None || count == 0 || (bind == Bind::Auto && !fits && !is_even) {
        return None;
    }
    let share = |rank: usize| {
        if fits {
            cores[rank * count / ranks..(rank + 1) * count / ranks].concat()
        } else {
            cores[rank % count].clone()
        }
    };
    Some((0..ranks).map(share).collect())
}

/// `0-3,8`
pub fn show_cpus(cpus: &[u32]) -> String {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [only] => only.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    runs.collect::<Vec<String>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranks_that_fit_get_all_cores_and_share_none(count in 1usize..40, ranks in 1u32..40) {
            let cores: Vec<Core> = (0..count as u32).map(|core| vec![2 * core, 2 * core + 1]).collect();
            let (assigned, fits) = (assign(Bind::Auto, ranks, &cores), ranks as usize <= count);
            prop_assert_eq!(assigned.is_some(), fits || (ranks as usize).is_multiple_of(count));
            if let Some(shares) = assigned && fits {
                prop_assert_eq!(shares.concat(), cores.concat());
                let sizes: Vec<usize> = shares.iter().map(Vec::len).collect();
                prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 2);
            }
            let forced = assign(Bind::Core, ranks, &cores).unwrap();
            prop_assert!(forced.len() == ranks as usize && forced.iter().all(|cpus| !cpus.is_empty()));
            prop_assert_eq!(assign(Bind::None, ranks, &cores), None);
        }
    }

    #[test]
    fn more_ranks_than_cores_are_dealt_out_where_each_core_has_as_many() {
        let cores: Vec<Core> = vec![vec![0, 1], vec![2, 3]];
        assert_eq!(assign(Bind::Auto, 3, &cores), None);
        let dealt = assign(Bind::Auto, 4, &cores).unwrap();
        assert_eq!(
            dealt,
            [&cores[0], &cores[1], &cores[0], &cores[1]].map(Clone::clone)
        );
    }

    #[test]
    fn shows_runs_of_cpus() {
        assert_eq!(show_cpus(&[0, 1, 2, 3, 8]), "0-3,8");
        assert_eq!(show_cpus(&[5]), "5");
        assert_eq!(show_cpus(&[3, 1, 0]), "0-1,3");
    }
}
