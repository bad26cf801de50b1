//! Which of a communicator's ranks are on which host: the same on all of them.
//!
//! Hosts are numbered in the order of their first ranks, and a host's ranks by their *position* among them. Where each
//! host's ranks follow each other, or ranks are dealt out to the hosts in turn, which is how launchers place them, a host costs a
//! word and a rank nothing.

use std::collections::BTreeMap;
use std::ops::Range;

/// The map of a communicator that spans several hosts, as one of its ranks sees it.
#[derive(Debug)]
pub struct Hosts {
    /// Where each host's ranks begin in the order of the hosts, and last where all end.
    starts: Box<[u32]>,
    order: Order,
    most_ranks: usize,
    fewest_ranks: usize,
    /// This rank's host.
    own: usize,
}

/// How the order of the hosts differs from that of the ranks.
#[derive(Debug)]
enum Order {
    /// Not at all.
    Ranks,
    /// So many ranks go to each host in turn, and again from the first.
    Dealt(usize),
    Scattered(Scattered),
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
    pub fn new(rank: usize, names: impl Iterator<Item = u32> + Clone) -> Option<Hosts> {
        let mut numbers = BTreeMap::new();
        for name in names.clone() {
            let next = numbers.len();
            numbers.entry(name).or_insert(next);
        }
        let count = numbers.len();
        if count < 2 {
            return None;
        }
        let hosts = names.map(|name| numbers[&name]);
        let mut sizes = vec![0u32; count];
        hosts.clone().for_each(|host| sizes[host] += 1);
        let mut starts = vec![0u32];
        for size in &sizes {
            starts.push(starts[starts.len() - 1] + size);
        }
        Some(Hosts {
            order: Order::new(&starts, hosts.clone()),
            starts: starts.into(),
            most_ranks: *sizes.iter().max()? as usize,
            fewest_ranks: *sizes.iter().min()? as usize,
            own: hosts.clone().nth(rank)?,
        })
    }

    /// The same map as another rank sees it.
    pub fn seen_by(self, rank: usize) -> Hosts {
        Hosts {
            own: self.host_of(rank),
            ..self
        }
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
        matches!(self.order, Order::Ranks)
    }

    pub fn rank_at(&self, host: usize, position: usize) -> usize {
        match &self.order {
            Order::Dealt(run) => {
                let round = position / run;
                (round * self.count() + host) * run + position % run
            }
            Order::Ranks => self.starts[host] as usize + position,
            Order::Scattered(scattered) => {
                scattered.ranks[self.starts[host] as usize + position] as usize
            }
        }
    }

    /// The number of a rank's host.
    pub fn host_of(&self, rank: usize) -> usize {
        match &self.order {
            Order::Dealt(run) => rank / run % self.count(),
            Order::Ranks => self.host_at(rank),
            Order::Scattered(scattered) => self.host_at(scattered.places[rank] as usize),
        }
    }

    /// A rank's number among those of its host.
    pub fn position(&self, rank: usize) -> usize {
        match &self.order {
            Order::Dealt(run) => rank / (run * self.count()) * run + rank % run,
            Order::Ranks => rank - self.starts[self.host_at(rank)] as usize,
            Order::Scattered(scattered) => {
                let place = scattered.places[rank] as usize;
                place - self.starts[self.host_at(place)] as usize
            }
        }
    }

    /// A host's places in the order of the hosts.
    pub(crate) fn places_on(&self, host: usize) -> Range<usize> {
        self.starts[host] as usize..self.starts[host + 1] as usize
    }

    /// The rank at a place in the order of the hosts.
    pub(crate) fn rank_in(&self, place: usize) -> usize {
        match &self.order {
            Order::Ranks => place,
            Order::Dealt(_) => {
                let host = self.host_at(place);
                self.rank_at(host, place - self.starts[host] as usize)
            }
            Order::Scattered(scattered) => scattered.ranks[place] as usize,
        }
    }

    /// The host to which a place in the order of the hosts belongs.
    fn host_at(&self, place: usize) -> usize {
        let place = place as u32;
        self.starts.partition_point(|start| *start <= place) - 1
    }
}

impl Order {
    /// `hosts` has the number of each rank's host, in the order of the ranks.
    fn new(starts: &[u32], hosts: impl Iterator<Item = usize> + Clone) -> Order {
        // Hosts are numbered in the order of their first ranks.
        if hosts.clone().is_sorted() {
            return Order::Ranks;
        }
        let (count, run) = (
            starts.len() - 1,
            hosts.clone().take_while(|host| *host == 0).count(),
        );
        let mut placed = hosts.clone().enumerate();
        match placed.all(|(rank, host)| rank / run % count == host) {
            true => Order::Dealt(run),
            false => Order::Scattered(Scattered::new(starts, hosts)),
        }
    }
}

impl Scattered {
    fn new(starts: &[u32], hosts: impl Iterator<Item = usize>) -> Scattered {
        let mut next = starts.to_vec();
        let ranks = starts[starts.len() - 1] as usize;
        let mut order = vec![0; ranks];
        let mut places = vec![0; ranks];
        for (rank, host) in hosts.enumerate() {
            order[next[host] as usize] = rank as u32;
            places[rank] = next[host];
            next[host] += 1;
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
            &[4, 4, 8, 8, 6, 6, 4, 4, 8],
            &[3, 1, 2, 3, 1, 2, 3],
            &[3, 1, 2, 3, 1, 3],
            &[3, 3, 1, 3],
        ] {
            let plain = plain(names);
            for rank in 0..names.len() {
                let hosts = Hosts::new(rank, names.iter().copied()).unwrap();
                assert_eq!(hosts.count(), plain.len());
                assert_eq!(hosts.own(), hosts.host_of(rank));
                let first = Hosts::new(0, names.iter().copied()).unwrap();
                assert_eq!(first.seen_by(rank).own(), hosts.own());
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
                let in_order = (0..names.len()).map(|place| hosts.rank_in(place));
                assert!(in_order.eq(plain.concat()));
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
        assert!(hosts.is_contiguous());
        assert_eq!((hosts.host_of(6400), hosts.position(6463)), (100, 63));
    }

    #[test]
    fn ranks_that_are_dealt_out_cost_nothing() {
        for run in [1, 4] {
            let names = (0..100_000).map(|rank| rank / run % 1563);
            let hosts = Hosts::new(99_999, names).unwrap();
            assert!(matches!(hosts.order, Order::Dealt(length) if length == run as usize));
        }
        let uneven = Hosts::new(0, [0, 1, 0, 0].into_iter()).unwrap();
        assert!(matches!(uneven.order, Order::Scattered(_)));
    }
}
