//! Which host each rank runs on.
//!
//! The rule: ranks fill the hosts in the order of the list, as many on each as it has slots; when every slot is filled, it
//! begins again from the first host. By [`Order::Nodes`] each host in turn gets one rank until its slots are filled. No
//! host ever gets more than its `max_slots`.

use super::host::Host;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Slots,
    Nodes,
}

/// Places one rank after the other.
pub struct Placer<'a> {
    hosts: &'a [Host],
    order: Order,
    placed: Vec<u32>,
    /// The host whose turn it is.
    at: usize,
    /// How often all slots have been filled, the time at hand included.
    round: u32,
}

impl Placer<'_> {
    /// `hosts` holds at least one.
    pub fn new(hosts: &[Host], order: Order) -> Placer<'_> {
        Placer {
            hosts,
            order,
            placed: vec![0; hosts.len()],
            at: 0,
            round: 1,
        }
    }

    /// The index of the host of the next rank; `None` when every host has as many as it may.
    pub fn next(&mut self) -> Option<usize> {
        // One pass over the rest of this round, and one over the next; a host with room in neither has reached its maximum.
        for _ in 0..2 {
            for _ in 0..self.hosts.len() {
                let at = self.at;
                if self.has_room(at) {
                    self.placed[at] += 1;
                    if self.order == Order::Nodes || !self.has_room(at) {
                        self.advance();
                    }
                    return Some(at);
                }
                self.advance();
            }
            self.round = self.round.saturating_add(1);
        }
        None
    }

    fn advance(&mut self) {
        self.at = (self.at + 1) % self.hosts.len();
        // Where hosts are filled one after the other, coming back to the first begins a round.
        if self.order == Order::Slots && self.at == 0 {
            self.round = self.round.saturating_add(1);
        }
    }

    fn has_room(&self, at: usize) -> bool {
        let host = &self.hosts[at];
        let slots = host.slots().saturating_mul(self.round);
        self.placed[at] < slots.min(host.max_slots.unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hosts(slots: &[u32]) -> Vec<Host> {
        let host = |&slots: &u32| Host::new("h", Some(slots)).unwrap();
        slots.iter().map(host).collect()
    }

    fn place(hosts: &[Host], order: Order, ranks: usize) -> Vec<usize> {
        let mut placer = Placer::new(hosts, order);
        std::iter::from_fn(|| placer.next()).take(ranks).collect()
    }

    #[test]
    fn fills_slots_and_begins_again() {
        assert_eq!(
            place(&hosts(&[2, 1]), Order::Slots, 7),
            [0, 0, 1, 0, 0, 1, 0]
        );
        assert_eq!(place(&hosts(&[1, 1, 1]), Order::Slots, 4), [0, 1, 2, 0]);
        assert_eq!(place(&hosts(&[4]), Order::Slots, 6), [0; 6]);
        assert_eq!(
            place(&hosts(&[2, 4]), Order::Nodes, 8),
            [0, 1, 0, 1, 1, 1, 0, 1]
        );
    }

    #[test]
    fn keeps_to_the_maximum() {
        let mut limited = hosts(&[2, 1]);
        limited[0].max_slots = Some(3);
        assert_eq!(place(&limited, Order::Slots, 7), [0, 0, 1, 0, 1, 1, 1]);
        limited[1].max_slots = Some(1);
        for order in [Order::Slots, Order::Nodes] {
            assert_eq!(place(&limited, order, 100).len(), 4);
        }
        // A maximum below the slots.
        limited[0].max_slots = Some(1);
        assert_eq!(place(&limited, Order::Slots, 9), [0, 1]);
    }

    proptest! {
        /// Whole rounds give each host as many as it has slots, in any order.
        #[test]
        fn rounds_are_fair(slots in prop::collection::vec(1u32..5, 1..6), rounds in 1usize..4, by_node: bool) {
            let order = if by_node { Order::Nodes } else { Order::Slots };
            let total: u32 = slots.iter().sum();
            let placed = place(&hosts(&slots), order, total as usize * rounds);
            for (at, slots) in slots.iter().enumerate() {
                prop_assert_eq!(placed.iter().filter(|host| **host == at).count(), *slots as usize * rounds);
            }
        }
    }
}
