//! The invariants of a table, checked by walking all of it.

use std::collections::HashSet;

use super::*;
use crate::pending::Pending;

impl Table {
    /// Every cell that must stand in this table does so once, in order of age, in the right bucket.
    pub(crate) fn audit<T, const N: usize>(
        &self,
        cells: &Arena<T, N>,
        kind: Wildcards,
        pending: &Pending,
    ) {
        let expected: HashSet<u32> = cells
            .iter()
            .filter(|(_, key, _)| N == 4 || key.kind() == kind)
            .map(|(cell, ..)| cell)
            .filter(|&cell| !pending.iter().any(|other| other == cell))
            .collect();
        let mut seen = HashSet::new();
        let mut keys = HashSet::new();
        let mut leaders = Vec::new();
        if self.lone != NIL {
            assert_eq!((self.groups, cells[self.lone].links(kind).chain), (1, NIL));
            leaders.push(self.lone);
        }
        for bucket in 0..self.buckets.count() {
            let mut cell = self.buckets.head(bucket);
            while cell != NIL {
                assert_eq!(self.lone, NIL, "a lone group is alone");
                assert_eq!(
                    self.buckets
                        .of_hash(cells[cell].key().project(kind).hash(kind)),
                    bucket
                );
                leaders.push(cell);
                cell = cells[cell].links(kind).chain;
            }
        }
        assert_eq!(leaders.len(), self.groups as usize);
        for leader in leaders {
            let key = cells[leader].key().project(kind);
            assert!(keys.insert(key), "one group a key");
            let (mut cell, mut stamp) = (leader, None);
            loop {
                let links = *cells[cell].links(kind);
                assert!(seen.insert(cell), "a cell stands in one place");
                assert_eq!(cells[cell].key().project(kind), key);
                assert_eq!(links.is_leader(), cell == leader);
                assert_eq!(cells[links.next].links(kind).prev, cell);
                assert!(stamp < cells[cell].stamp(), "oldest first");
                stamp = cells[cell].stamp();
                cell = links.next;
                if cell == leader {
                    break;
                }
            }
        }
        assert_eq!(seen, expected);
        assert!(
            self.groups < 2 || 2 * self.groups <= self.buckets.count() || self.buckets.count() == 0
        );
    }
}
