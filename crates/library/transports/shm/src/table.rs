//! What a lane has for each rank of its host, found by rank in as few instructions as the ranks allow.

use weft_transport::Peer;

use crate::host::Host;

/// Something for some ranks of a host.
pub struct Table<T> {
    first: Peer,
    /// A place for each rank where they follow each other, which is so in nearly every job; else none.
    run: Places<T>,
    /// A place for each rank, by its position, where they do not; else none.
    others: Places<T>,
    host: Host,
}

type Places<T> = Box<[Option<Box<T>>]>;

impl<T> Table<T> {
    pub fn new(host: &Host) -> Table<T> {
        let (first, in_run, others) = match host {
            Host::Run(run) => (run.start, host.ranks(), 0),
            Host::Dealt { .. } | Host::Scattered(_) => (0, 0, host.ranks()),
        };
        Table {
            first,
            run: (0..in_run).map(|_| None).collect(),
            others: (0..others).map(|_| None).collect(),
            host: host.clone(),
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
            None => find_mut(&self.host, &mut self.others, peer),
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
        let position = self.host.position(peer)?;
        self.others.get(position as usize)?.as_deref()
    }

    /// The place of a rank of the host.
    fn slot(&mut self, peer: Peer) -> Option<&mut Option<Box<T>>> {
        let position = self.host.position(peer)? as usize;
        let places = if self.run.is_empty() {
            &mut self.others
        } else {
            &mut self.run
        };
        places.get_mut(position)
    }

    /// `peer` is on the host.
    pub fn insert(&mut self, peer: Peer, entry: T) {
        let slot = self.slot(peer).expect("a rank of this host");
        *slot = Some(Box::new(entry));
    }

    pub fn take(&mut self, peer: Peer) -> Option<T> {
        self.slot(peer)?.take().map(|entry| *entry)
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let all = self.run.iter().chain(&self.others);
        all.flatten().map(Box::as_ref)
    }
}

#[cold]
fn find_mut<'a, T>(host: &Host, others: &'a mut Places<T>, peer: Peer) -> Option<&'a mut T> {
    let position = host.position(peer)?;
    others.get_mut(position as usize)?.as_deref_mut()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Against a map.
    #[test]
    fn entries_are_found_by_rank() {
        let lists: [&[Peer]; 6] = [
            &[1, 4, 7],
            &[2, 100_002, 200_002],
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
                    let in_run = map.get(&peer).filter(|_| table.others.is_empty());
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
