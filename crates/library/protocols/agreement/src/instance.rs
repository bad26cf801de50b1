//! One agreement, as one member sees it.

use std::collections::{BTreeMap, BTreeSet};

use crate::message::{Contribution, Decision, Member, Values};

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Instance {
    /// This member's own contribution, once it has entered.
    pub own: Option<Contribution>,
    /// What members have contributed to this one, and up to where each has taken its decisions.
    pub contributed: BTreeMap<Member, (Contribution, u64)>,
    pub decision: Option<Decision>,
    /// This member's program has the decision.
    pub is_taken: bool,
}

impl Instance {
    /// Whether this member waits for the decision.
    pub fn waits(&self) -> bool {
        self.own.is_some() && self.decision.is_none()
    }

    /// As the coordinator decides that has heard of all.
    pub fn decide(&self, failed: &BTreeSet<Member>) -> Decision {
        let mut values = Values::NEUTRAL;
        let mut floor = u64::MAX;
        let mut is_acknowledged = true;
        for (contribution, theirs) in self.contributed.values() {
            values.combine(&contribution.values);
            let acknowledged = &contribution.acknowledged;
            let all = failed
                .iter()
                .all(|one| acknowledged.binary_search(one).is_ok());
            is_acknowledged &= all;
            floor = floor.min(*theirs);
        }
        Decision {
            values,
            failed: failed.iter().copied().collect(),
            is_acknowledged,
            floor,
        }
    }
}
