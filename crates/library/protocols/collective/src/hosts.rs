//! Which of a communicator's ranks are on which host: the same on all of them.
//!
//! Hosts are numbered in the order of their first ranks, and a host's ranks by their *position* among them. Where each
//! host's ranks follow each other, which is how launchers place them, a host costs a word and a rank nothing.

use std::collections::BTreeMap;
use std::ops::Range;

/// The map of a communicator that spans several hosts, as one of its ranks sees it.
#[derive(Debug)]
pub struct Hosts {
    /// Where each host's ranks begin in the order of the hosts, and last where all end.
    starts: Box<[u32]>,
    /// None where the order of the hosts is that of the ranks.
    scattered: Option<Scattered>,
    most_ranks: usize,
    fewest_ranks: usize,
    /// This rank's host.
    own: usize,
}

/// The ranks in the order of the hosts, and each rank's place in it.
#[derive(Debug)]
struct Scattered {
    ranks: Box<[u32]>,
    places: Box<[u32]>,
}

impl Hosts {
    /// None if all are on one host. `names` has one for each rank, in their order; names are alike on all ranks for which ranks
    /// share one, and need not be otherwise.
    pub fn new(rank: usize, names: impl Iterator<Item = u32>) -> Option<Hosts> {
        let (runs, ranks) = runs(names);
        let mut numbers = BTreeMap::new();
        for (name, _) in &runs {
            let next = numbers.len();
            numbers.entry(*name).or_insert(next);
        }
        if numbers.len() < 2 {
            return None;
        }
        let mut sizes = vec![0; numbers.len()];
        for (name, run) in &runs {
            sizes[numbers[name]] += run.len();
        }
        let mut starts = vec![0u32];
        for size in &sizes {
            starts.push(starts[starts.len() - 1] + *size as u32);
        }
        let runs: Vec<_> = runs
            .into_iter()
            .map(|(name, run)| (numbers[&name], run))
            .collect();
        let own = runs.iter().find(|(_, run)| run.contains(&rank))?.0;
        let is_scattered = runs.len() > sizes.len();
        Some(Hosts {
            scattered: is_scattered.then(|| Scattered::new(&starts, &runs, ranks)),
            starts: starts.into(),
            most_ranks: sizes.iter().copied().max()?,
            fewest_ranks: sizes.iter().copied().min()?,
            own,
        })
    }

    /// How many hosts there are: at least two.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of this rank's host.
    pub fn own(&self) -> usize {
        self.own
    }

    /// How many ranks a host has.
    pub fn ranks_on(&self, host: usize) -> usize {
        self.places_on(host).len()
    }

    /// The most that a host has.
    pub fn most_ranks(&self) -> usize {
        self.most_ranks
    }

    /// The fewest that a host has.
    pub fn fewest_ranks(&self) -> usize {
        self.fewest_ranks
    }

    /// Whether all hosts have as many ranks.
    pub fn is_even(&self) -> bool {
        self.fewest_ranks == self.most_ranks
    }

    /// Whether each host's ranks follow each other, and the order of the hosts is that of the ranks.
    pub fn is_contiguous(&self) -> bool {
        self.scattered.is_none()
    }

    pub fn rank_at(&self, host: usize, position: usize) -> usize {
        self.rank_in(self.starts[host] as usize + position)
    }

    /// The number of a rank's host.
    pub fn host_of(&self, rank: usize) -> usize {
        let place = self.place_of(rank) as u32;
        self.starts.partition_point(|start| *start <= place) - 1
    }

    /// A rank's number among those of its host.
    pub fn position(&self, rank: usize) -> usize {
        self.place_of(rank) - self.starts[self.host_of(rank)] as usize
    }

    /// A host's places in the order of the hosts.
    pub(crate) fn places_on(&self, host: usize) -> Range<usize> {
        self.starts[host] as usize..self.starts[host + 1] as usize
    }

    /// The rank at a place in the order of the hosts.
    pub(crate) fn rank_in(&self, place: usize) -> usize {
        match &self.scattered {
            None => place,
            Some(scattered) => scattered.ranks[place] as usize,
        }
    }

    fn place_of(&self, rank: usize) -> usize {
        match &self.scattered {
            None => rank,
            Some(scattered) => scattered.places[rank] as usize,
        }
    }
}

/// Ranks that follow each other on one host, and how many ranks there are.
fn runs(names: impl Iterator<Item = u32>) -> (Vec<(u32, Range<usize>)>, usize) {
    let mut runs: Vec<(u32, Range<usize>)> = Vec::new();
    let mut ranks = 0;
    for name in names {
        match runs.last_mut() {
            Some((last, run)) if *last == name => run.end += 1,
            _ => runs.push((name, ranks..ranks + 1)),
        }
        ranks += 1;
    }
    (runs, ranks)
}

impl Scattered {
    fn new(starts: &[u32], runs: &[(usize, Range<usize>)], ranks: usize) -> Scattered {
        let mut next = starts.to_vec();
        let mut order = vec![0; ranks];
        let mut places = vec![0; ranks];
        for (host, run) in runs {
            for rank in run.clone() {
                order[next[*host] as usize] = rank as u32;
                places[rank] = next[*host];
                next[*host] += 1;
            }
        }
        Scattered {
            ranks: order.into(),
            places: places.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranks of each host, by a look at all of them.
    fn plain(names: &[u32]) -> Vec<Vec<usize>> {
        let mut hosts: Vec<(u32, Vec<usize>)> = Vec::new();
        for (rank, name) in names.iter().enumerate() {
            match hosts.iter_mut().find(|(other, _)| other == name) {
                Some((_, ranks)) => ranks.push(rank),
                None => hosts.push((*name, vec![rank])),
            }
        }
        hosts.into_iter().map(|(_, ranks)| ranks).collect()
    }

    #[test]
    fn every_rank_is_where_a_plain_look_finds_it() {
        for names in [
            &[7, 7, 3, 3][..],
            &[1, 0, 1, 0, 1],
            &[5, 6, 6, 7, 7, 7, 7, 7],
            &[2, 2, 9, 2, 9, 4],
            &[1, 2],
        ] {
            let plain = plain(names);
            for rank in 0..names.len() {
                let hosts = Hosts::new(rank, names.iter().copied()).unwrap();
                assert_eq!(hosts.count(), plain.len());
                assert_eq!(hosts.own(), hosts.host_of(rank));
                for (host, ranks) in plain.iter().enumerate() {
                    assert_eq!(hosts.ranks_on(host), ranks.len());
                    for (position, &rank) in ranks.iter().enumerate() {
                        assert_eq!(hosts.rank_at(host, position), rank);
                        assert_eq!(
                            (hosts.host_of(rank), hosts.position(rank)),
                            (host, position)
                        );
                    }
                }
                let sizes = plain.iter().map(Vec::len);
                assert_eq!(hosts.most_ranks(), sizes.clone().max().unwrap());
                assert_eq!(hosts.fewest_ranks(), sizes.clone().min().unwrap());
                assert_eq!(hosts.is_even(), sizes.clone().min() == sizes.max());
                assert_eq!(hosts.is_contiguous(), plain.concat().is_sorted());
            }
        }
    }

    #[test]
    fn one_host_is_none() {
        assert!(Hosts::new(0, [4; 5].into_iter()).is_none());
        assert!(Hosts::new(0, [4].into_iter()).is_none());
    }

    #[test]
    fn ranks_that_follow_each_other_cost_nothing() {
        let names = (0..100_000).map(|rank| rank / 64);
        let hosts = Hosts::new(99_999, names).unwrap();
        assert_eq!(hosts.starts.len(), 100_000usize.div_ceil(64) + 1);
        assert!(hosts.is_contiguous() && hosts.scattered.is_none());
        assert_eq!((hosts.host_of(6400), hosts.position(6463)), (100, 63));
    }
}
