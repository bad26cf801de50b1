//! What a lane has for each rank of its host, found by rank in as few instructions as the ranks allow.

use std::collections::BTreeMap;

use weft_transport::Peer;

use crate::host::Host;

/// Something for some ranks of a host.
pub struct Table<T> {
    first: Peer,
    /// A place for each rank where they follow each other, which is so in nearly every job; else none.
    run: Box<[Option<Box<T>>]>,
    /// Of ranks that do not.
    scattered: BTreeMap<Peer, Box<T>>,
}

impl<T> Table<T> {
    pub fn new(host: &Host) -> Table<T> {
        let (first, ranks) = match host {
            Host::Run(run) => (run.start, host.ranks()),
            Host::Scattered(_) => (0, 0),
        };
        Table {
            first,
            run: (0..ranks).map(|_| None).collect(),
            scattered: BTreeMap::new(),
        }
    }

    #[inline(always)]
    fn place(&self, peer: Peer) -> usize {
        peer.wrapping_sub(self.first) as usize
    }

    #[inline(always)]
    pub fn get(&self, peer: Peer) -> Option<&T> {
        match self.run.get(self.place(peer)) {
            Some(place) => place.as_deref(),
            None => self.find(peer),
        }
    }

    #[inline(always)]
    pub fn get_mut(&mut self, peer: Peer) -> Option<&mut T> {
        match self.run.get_mut(self.place(peer)) {
            Some(place) => place.as_deref_mut(),
            None => find_mut(&mut self.scattered, peer),
        }
    }

    /// As [`get_mut`](Self::get_mut), of ranks that follow each other.
    #[inline(always)]
    pub fn get_mut_in_run(&mut self, peer: Peer) -> Option<&mut T> {
        let at = self.place(peer);
        self.run.get_mut(at)?.as_deref_mut()
    }

    #[cold]
    fn find(&self, peer: Peer) -> Option<&T> {
        self.scattered.get(&peer).map(Box::as_ref)
    }

    /// `peer` is on the host.
    pub fn insert(&mut self, peer: Peer, entry: T) {
        let (at, entry) = (self.place(peer), Box::new(entry));
        match self.run.get_mut(at) {
            Some(place) => *place = Some(entry),
            None => drop(self.scattered.insert(peer, entry)),
        }
    }

    pub fn take(&mut self, peer: Peer) -> Option<T> {
        let at = self.place(peer);
        let taken = match self.run.get_mut(at) {
            Some(place) => place.take(),
            None => self.scattered.remove(&peer),
        };
        taken.map(|entry| *entry)
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let run = self.run.iter().flatten();
        run.chain(self.scattered.values()).map(Box::as_ref)
    }
}

#[cold]
fn find_mut<T>(scattered: &mut BTreeMap<Peer, Box<T>>, peer: Peer) -> Option<&mut T> {
    scattered.get_mut(&peer).map(Box::as_mut)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a map.
    #[test]
    fn entries_are_found_by_rank() {
        let lists: [&[Peer]; 4] = [
            &[0, 1, 2],
            &[64, 65, 66],
            &[3, 17, 100_004],
            &[0, Peer::MAX],
        ];
        for ranks in lists {
            let host = Host::new(ranks).unwrap();
            let (mut table, mut map) = (Table::new(&host), BTreeMap::new());
            let same = |table: &mut Table<u32>, map: &BTreeMap<Peer, u32>| {
                for peer in ranks.iter().copied().chain([4, 63, 67, 100_005]) {
                    assert_eq!(table.get(peer), map.get(&peer), "{ranks:?} {peer}");
                    assert_eq!(table.get_mut(peer).as_deref(), map.get(&peer));
                    let in_run = map.get(&peer).filter(|_| table.scattered.is_empty());
                    assert_eq!(table.get_mut_in_run(peer).as_deref(), in_run);
                }
                assert!(table.iter().eq(map.values()));
            };
            for (entry, &peer) in ranks.iter().enumerate() {
                table.insert(peer, entry as u32);
                map.insert(peer, entry as u32);
                same(&mut table, &map);
            }
            assert_eq!(table.take(ranks[1]), map.remove(&ranks[1]));
            assert_eq!(table.take(ranks[1]), None);
            assert_eq!(table.take(5), None);
            same(&mut table, &map);
        }
    }
}
