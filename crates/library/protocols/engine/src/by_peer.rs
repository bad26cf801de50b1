//! A table by peer that costs what is used of it: a lane of a job of 10^5 processes talks to few of them.

use weft_transport::Peer;

/// Peers of a page: eight bytes stand for so many that nothing was entered for.
const PAGE: usize = 64;

type Page<T> = Box<[T; PAGE]>;

/// What is known of peers, in pages that are made when something is entered.
pub(crate) struct ByPeer<T> {
    pages: Vec<Option<Page<T>>>,
}

impl<T> Default for ByPeer<T> {
    fn default() -> ByPeer<T> {
        ByPeer { pages: Vec::new() }
    }
}

impl<T: Default> ByPeer<T> {
    /// What may have been entered for `peer`.
    #[inline]
    pub fn get(&self, peer: Peer) -> Option<&T> {
        let page = self.pages.get(peer as usize / PAGE)?.as_ref()?;
        Some(&page[peer as usize % PAGE])
    }

    /// As [`get`](Self::get).
    #[inline]
    pub fn get_mut(&mut self, peer: Peer) -> Option<&mut T> {
        let page = self.pages.get_mut(peer as usize / PAGE)?.as_mut()?;
        Some(&mut page[peer as usize % PAGE])
    }

    /// The entry of `peer`, which is made if there is none.
    #[inline]
    pub fn entry(&mut self, peer: Peer) -> &mut T {
        let page = peer as usize / PAGE;
        if !matches!(self.pages.get(page), Some(Some(_))) {
            self.make(page);
        }
        self.get_mut(peer).expect("its page was made")
    }

    #[cold]
    fn make(&mut self, page: usize) {
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        // One by one, on no stack: a page may be as long as a small thread's.
        let entries: Box<[T]> = (0..PAGE).map(|_| T::default()).collect();
        self.pages[page] = entries.try_into().ok();
    }

    /// All that may have been entered, by ascending peer.
    pub fn iter(&self) -> impl Iterator<Item = (Peer, &T)> {
        let pages = self.pages.iter().enumerate();
        let made = pages.filter_map(|(number, page)| Some((number, page.as_deref()?)));
        made.flat_map(|(number, page)| {
            let first = number * PAGE;
            let entries = page.iter().enumerate();
            entries.map(move |(at, entry)| ((first + at) as Peer, entry))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn keeps_what_was_entered() {
        let mut table = ByPeer::<u32>::default();
        let mut oracle = BTreeMap::new();
        for step in 0..200u32 {
            let peer = step.wrapping_mul(2_654_435_761) % 100_000;
            *table.entry(peer) += step;
            *oracle.entry(peer).or_insert(0) += step;
            assert_eq!(table.get(peer), oracle.get(&peer));
        }
        let entered: Vec<_> = table.iter().filter(|(_, entry)| **entry != 0).collect();
        let expected = oracle.iter().filter(|(_, entry)| **entry != 0);
        assert_eq!(
            entered,
            expected.map(|(&peer, e)| (peer, e)).collect::<Vec<_>>()
        );
    }

    #[test]
    fn peers_for_whom_nothing_is_entered_cost_little() {
        let mut table = ByPeer::<[u64; 3]>::default();
        assert_eq!(table.pages.capacity(), 0);
        table.entry(99_999)[0] = 1;
        let made = table.pages.iter().flatten().count();
        assert_eq!((made, table.pages.len()), (1, 100_000usize.div_ceil(PAGE)));
        assert!(table.get(5).is_none() && table.get(200_000).is_none());
    }
}
