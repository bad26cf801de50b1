//! Which host each rank of a job runs on.

use std::collections::HashMap;
use std::hash::Hash;

/// The hosts of a job, numbered in order of their first ranks: the same on all ranks. A job whose ranks are dealt out in some
/// regular way takes few words, whatever its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts {
    /// By ascending first rank, the first of which is 0.
    runs: Vec<Run>,
    size: u32,
    count: u32,
}

/// Ranks from `first` up to the next run's: as many as `per_host` are on `host`, as many on the next one, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    first: u32,
    host: u32,
    /// Not zero.
    per_host: u32,
}

impl Run {
    fn host_of(&self, rank: u32) -> u32 {
        self.host + (rank - self.first) / self.per_host
    }

    /// The ranks on `host` before `end`, where the run ends.
    fn ranks(&self, host: u32, end: u32) -> std::ops::Range<u32> {
        let before = host
            .checked_sub(self.host)
            .and_then(|hosts| hosts.checked_mul(self.per_host))
            .and_then(|ranks| self.first.checked_add(ranks));
        let first = before.unwrap_or(end).min(end);
        first..first.saturating_add(self.per_host).min(end)
    }
}

impl Hosts {
    /// All ranks on one host.
    pub fn one(size: u32) -> Hosts {
        let run = Run {
            first: 0,
            host: 0,
            per_host: size.max(1),
        };
        Hosts {
            runs: vec![run],
            size,
            count: 1,
        }
    }

    /// From what names each rank's host, in order of rank.
    pub fn named<K: Hash + Eq>(names: impl IntoIterator<Item = K>) -> Hosts {
        let mut numbers = HashMap::new();
        let hosts = names.into_iter().map(|name| {
            let next = numbers.len() as u32;
            *numbers.entry(name).or_insert(next)
        });
        let (mut runs, mut size) = (Vec::new(), 0);
        for host in hosts {
            add(&mut runs, size, host);
            size += 1;
        }
        if let Some(last) = runs.last_mut() {
            last.per_host = last.per_host.min(size - last.first);
        }
        Hosts {
            runs,
            size,
            count: numbers.len() as u32,
        }
    }

    /// How many hosts there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The number of the host of `rank`, which is one of the job's.
    pub fn of(&self, rank: u32) -> u32 {
        debug_assert!(rank < self.size);
        let behind = self.runs.partition_point(|run| run.first <= rank);
        self.runs[behind - 1].host_of(rank)
    }

    /// The ranks on a host, ascending.
    pub fn ranks(&self, host: u32) -> impl Iterator<Item = u32> + '_ {
        let ends = self.runs.iter().skip(1).map(|run| run.first);
        let ends = ends.chain([self.size]);
        let runs = self.runs.iter().zip(ends);
        runs.flat_map(move |(run, end)| run.ranks(host, end))
    }

    /// How many ranks each host has, in order.
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.count as usize];
        for rank in 0..self.size {
            sizes[self.of(rank) as usize] += 1;
        }
        sizes
    }

    /// The first rank of each host, in order.
    pub fn firsts(&self) -> Vec<u32> {
        let mut firsts = Vec::with_capacity(self.count as usize);
        for rank in 0..self.size {
            // Numbered in order of their first ranks.
            if self.of(rank) == firsts.len() as u32 {
                firsts.push(rank);
            }
        }
        firsts
    }
}

/// Adds a rank on `host` behind the others, to the last run if it goes on like that.
fn add(runs: &mut Vec<Run>, rank: u32, host: u32) {
    if let Some(last) = runs.last_mut() {
        if last.per_host == u32::MAX && host == last.host + 1 {
            // So many were on the first host.
            last.per_host = rank - last.first;
        }
        if last.host_of(rank) == host {
            return;
        }
        last.per_host = last.per_host.min(rank - last.first);
    }
    runs.push(Run {
        first: rank,
        host,
        per_host: u32::MAX,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The numbers of hosts in order of first rank, naively.
    fn numbered(names: &[u8]) -> Vec<u32> {
        let mut seen = Vec::new();
        let number = |name: &u8| {
            let known = seen.iter().position(|other| other == name);
            known.unwrap_or_else(|| {
                seen.push(*name);
                seen.len() - 1
            }) as u32
        };
        names.iter().map(number).collect()
    }

    fn check(names: &[u8]) -> Hosts {
        let hosts = Hosts::named(names);
        let oracle = numbered(names);
        let of: Vec<u32> = (0..names.len() as u32).map(|rank| hosts.of(rank)).collect();
        assert_eq!(of, oracle);
        let count = oracle.iter().max().map_or(0, |last| last + 1);
        assert_eq!(hosts.count(), count);
        for host in 0..count {
            let ranks: Vec<u32> = hosts.ranks(host).collect();
            let expected: Vec<u32> = (0..names.len() as u32)
                .filter(|&rank| oracle[rank as usize] == host)
                .collect();
            assert_eq!(ranks, expected, "host {host} of {names:?}");
            assert_eq!(hosts.sizes()[host as usize] as usize, expected.len());
            assert_eq!(hosts.firsts()[host as usize], expected[0]);
        }
        assert_eq!(hosts.ranks(count).next(), None);
        hosts
    }

    proptest! {
        #[test]
        fn is_what_a_list_says(names in prop::collection::vec(0u8..5, 1..40)) {
            check(&names);
        }

        #[test]
        fn of_blocks_is_what_a_list_says(
            blocks in prop::collection::vec((0u8..7, 1usize..5), 1..8),
            times in 1usize..4,
        ) {
            let names = blocks.into_iter().flat_map(|(name, ranks)| vec![name; ranks]);
            check(&names.collect::<Vec<_>>().repeat(times));
        }
    }

    #[test]
    fn large_jobs_take_few_words() {
        const SIZE: u32 = 100_000;
        let blocks = Hosts::named((0..SIZE).map(|rank| rank / 96));
        assert_eq!((blocks.runs.len(), blocks.count()), (1, 1042));
        let dealt = Hosts::named((0..SIZE).map(|rank| rank % 1000));
        assert_eq!((dealt.runs.len(), dealt.count()), (100, 1000));
        assert!(dealt.ranks(999).eq((0..100).map(|pass| pass * 1000 + 999)));
        assert_eq!(Hosts::one(SIZE), Hosts::named((0..SIZE).map(|_| "here")));
    }

    #[test]
    fn numbers_do_not_overflow() {
        let hosts = Hosts::one(u32::MAX);
        assert_eq!(hosts.of(u32::MAX - 1), 0);
        assert_eq!(hosts.ranks(1).next(), None);
        assert_eq!(hosts.ranks(u32::MAX).next(), None);
    }
}
