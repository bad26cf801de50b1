//! The queue against a list of all that was asked for, looked through from its beginning.

use proptest::prelude::*;
use weft_sync::LockKind;

use crate::far::{AlreadyAsked, Grant, LockQueue};

/// In the order in which they came; an origin has the lock if nobody before it excludes it.
#[derive(Default)]
struct Oracle(Vec<(Grant, LockKind)>);

impl Oracle {
    fn granted(&self) -> Vec<Grant> {
        let shared = |kind: &LockKind| *kind == LockKind::Shared;
        let first = self.0.iter().take_while(|(_, kind)| shared(kind)).count();
        let exclusive = usize::from(first == 0 && !self.0.is_empty());
        self.0[..first + exclusive]
            .iter()
            .map(|(who, _)| *who)
            .collect()
    }

    fn request(&mut self, who: Grant, kind: LockKind) -> Result<bool, AlreadyAsked> {
        if self.0.iter().any(|(other, _)| other.origin == who.origin) {
            return Err(AlreadyAsked);
        }
        self.0.push((who, kind));
        Ok(self.granted().contains(&who))
    }

    fn release(&mut self, origin: u32) -> Vec<Grant> {
        let before = self.granted();
        let holds = before.iter().any(|who| who.origin == origin);
        self.0.retain(|(who, _)| who.origin != origin || !holds);
        let mut now = self.granted();
        now.retain(|who| !before.contains(who));
        now
    }
}

proptest! {
    #[test]
    fn first_come_first_served(steps in prop::collection::vec((0..6u32, 0..4u8), 0..100)) {
        let (mut queue, mut oracle) = (LockQueue::default(), Oracle::default());
        for (reply, (origin, step)) in (0..).zip(steps) {
            let who = Grant { origin, reply };
            match step {
                0 => prop_assert_eq!(queue.request(who, LockKind::Shared), oracle.request(who, LockKind::Shared)),
                1 => prop_assert_eq!(
                    queue.request(who, LockKind::Exclusive),
                    oracle.request(who, LockKind::Exclusive)
                ),
                _ => prop_assert_eq!(queue.release(origin), oracle.release(origin)),
            }
            let granted = oracle.granted();
            let mut holders: Vec<_> = granted.iter().map(|who| who.origin).collect();
            holders.sort_unstable();
            prop_assert_eq!(queue.holders().collect::<Vec<_>>(), holders);
            prop_assert_eq!(queue.has_waiting(), oracle.0.len() > granted.len());
        }
        let waiting = oracle.0[oracle.granted().len()..].iter().map(|(who, _)| *who);
        prop_assert_eq!(queue.refuse(), waiting.collect::<Vec<_>>());
        prop_assert!(!queue.has_waiting());
    }
}
