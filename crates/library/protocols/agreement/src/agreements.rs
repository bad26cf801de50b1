//! All agreements of one group of members, as one of them sees them.

use std::collections::{BTreeMap, BTreeSet};

use crate::instance::Instance;
use crate::message::{Body, Contribution, Decision, Member, Message};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Agreements {
    me: Member,
    members: u32,
    failed: BTreeSet<Member>,
    /// The number of the next agreement that this member enters.
    next: u64,
    /// Those that are under way, and those whose decision others may ask for, by number.
    instances: BTreeMap<u64, Instance>,
    /// All members have taken the decisions of those before it.
    floor: u64,
    outgoing: Vec<(Member, Message)>,
}

/// Agreements beyond the next that others may be ahead of this member: each entered one of theirs needs a call of this
/// one's program, so that more is nonsense.
const AHEAD: u64 = 1 << 12;

impl Agreements {
    /// Among so many members, of which this is one.
    pub fn new(me: Member, members: u32) -> Agreements {
        Agreements {
            me,
            members,
            failed: BTreeSet::new(),
            next: 0,
            instances: BTreeMap::new(),
            floor: 0,
            outgoing: Vec::new(),
        }
    }

    /// The members that are known to have failed.
    pub fn failed(&self) -> &BTreeSet<Member> {
        &self.failed
    }

    /// This member enters its next agreement, whose number is returned.
    pub fn enter(&mut self, own: Contribution) -> u64 {
        let number = self.next;
        self.next += 1;
        self.instances.entry(number).or_default().own = Some(own);
        self.contribute(number);
        number
    }

    /// The decision of an agreement that this member has entered, once there is one. It is taken so.
    pub fn take(&mut self, number: u64) -> Option<Decision> {
        let instance = self.instances.get_mut(&number)?;
        let decision = instance.decision.clone()?;
        instance.is_taken = true;
        self.forget();
        Some(decision)
    }

    pub fn is_decided(&self, number: u64) -> bool {
        let instance = self.instances.get(&number);
        instance.is_some_and(|instance| instance.decision.is_some())
    }

    /// How many agreements are kept: those under way, and decisions that others may ask for.
    pub fn kept(&self) -> usize {
        self.instances.len()
    }

    /// A message has come.
    pub fn heard(&mut self, from: Member, message: Message) {
        let Message { number, body } = message;
        let is_possible = number < self.next.saturating_add(AHEAD) && from < self.members;
        // Of an agreement that is over for all nobody asks.
        if !is_possible || from == self.me || number < self.floor {
            return;
        }
        match body {
            Body::Contribution { own, failed, floor } => {
                self.add_failed(&failed);
                let instance = self.instances.entry(number).or_default();
                instance.contributed.insert(from, (own, floor));
                match instance.decision.is_some() {
                    true => self.tell(number, from),
                    false => self.decide_if_complete(number),
                }
            }
            Body::Query { failed } => {
                self.add_failed(&failed);
                if self.is_decided(number) {
                    self.tell(number, from);
                }
            }
            // Rule 4.
            Body::Decision(_) if self.failed.contains(&from) => {}
            Body::Decision(decision) => self.adopt(number, decision),
        }
    }

    /// A member has failed.
    pub fn fail(&mut self, who: Member) {
        self.add_failed(&[who]);
    }

    /// What is to be sent, in order.
    pub fn take_outgoing(&mut self) -> Vec<(Member, Message)> {
        std::mem::take(&mut self.outgoing)
    }

    /// The members from which something is awaited: whose failure this member has to hear of.
    pub fn awaited(&self) -> BTreeSet<Member> {
        let waiting = self.instances.values().filter(|instance| instance.waits());
        let coordinator = self.coordinator();
        let awaited = waiting.flat_map(|instance| match coordinator == self.me {
            true => self.missing(instance).collect(),
            false => vec![coordinator],
        });
        awaited.collect()
    }

    fn coordinator(&self) -> Member {
        let mut members = 0..self.members;
        let living = members.find(|member| !self.failed.contains(member));
        living.unwrap_or(self.me)
    }

    /// Living members that have not contributed.
    fn missing<'a>(&'a self, instance: &'a Instance) -> impl Iterator<Item = Member> + 'a {
        let has_part = |member: &Member| {
            *member == self.me
                || self.failed.contains(member)
                || instance.contributed.contains_key(member)
        };
        (0..self.members).filter(move |member| !has_part(member))
    }

    /// The first agreement whose decision this member's program has not taken.
    fn own_floor(&self) -> u64 {
        let untaken = |(_, instance): &(&u64, &Instance)| !instance.is_taken;
        let first = self.instances.iter().find(untaken);
        first.map_or(self.next, |(&number, _)| number)
    }

    fn failed_list(&self) -> Vec<Member> {
        self.failed.iter().copied().collect()
    }

    /// Rule 1, or 3: to whoever is the coordinator now.
    fn contribute(&mut self, number: u64) {
        let Some(own) = self.instances[&number].own.clone() else {
            return;
        };
        let floor = self.own_floor();
        let coordinator = self.coordinator();
        if coordinator == self.me {
            let instance = self.instances.get_mut(&number).expect("it was entered");
            instance.contributed.insert(self.me, (own, floor));
            return self.decide_if_complete(number);
        }
        let failed = self.failed_list();
        let body = Body::Contribution { own, failed, floor };
        self.outgoing.push((coordinator, Message { number, body }));
    }

    /// Rule 2.
    fn decide_if_complete(&mut self, number: u64) {
        let instance = &self.instances[&number];
        let is_ready = instance.waits() && self.coordinator() == self.me;
        if is_ready && self.missing(instance).next().is_none() {
            let decision = instance.decide(&self.failed);
            self.adopt(number, decision);
        }
    }

    /// There is a decision, which a coordinator tells all.
    fn adopt(&mut self, number: u64, decision: Decision) {
        let (floor, failed) = (decision.floor, decision.failed.clone());
        let instance = self.instances.entry(number).or_default();
        if instance.decision.is_some() {
            return;
        }
        instance.decision = Some(decision);
        if self.coordinator() == self.me {
            let living: Vec<Member> = self.living().collect();
            living
                .into_iter()
                .for_each(|member| self.tell(number, member));
        }
        self.floor = self.floor.max(floor);
        self.forget();
        // Rule 4.
        self.add_failed(&failed);
    }

    fn living(&self) -> impl Iterator<Item = Member> + '_ {
        (0..self.members).filter(|member| !self.failed.contains(member))
    }

    fn tell(&mut self, number: u64, to: Member) {
        if to == self.me {
            return;
        }
        if let Some(decision) = self.instances[&number].decision.clone() {
            let body = Body::Decision(decision);
            self.outgoing.push((to, Message { number, body }));
        }
    }

    /// Rules 3 and 4.
    fn add_failed(&mut self, new: &[Member]) {
        let before = self.coordinator();
        let count = self.failed.len();
        // This member lives, whatever it is told.
        let others = new
            .iter()
            .filter(|&&one| one != self.me && one < self.members);
        self.failed.extend(others);
        if self.failed.len() == count {
            return;
        }
        let waiting = self
            .instances
            .iter()
            .filter(|(_, instance)| instance.waits());
        let waiting: Vec<u64> = waiting.map(|(&number, _)| number).collect();
        let is_new_coordinator = self.coordinator() != before;
        for number in waiting {
            if is_new_coordinator {
                self.query_if_coordinator(number);
                self.contribute(number);
            } else {
                self.decide_if_complete(number);
            }
        }
    }

    fn query_if_coordinator(&mut self, number: u64) {
        if self.coordinator() != self.me {
            return;
        }
        let failed = self.failed_list();
        let others: Vec<Member> = self.living().filter(|&other| other != self.me).collect();
        for to in others {
            let failed = failed.clone();
            let body = Body::Query { failed };
            self.outgoing.push((to, Message { number, body }));
        }
    }

    /// Rule 5.
    fn forget(&mut self) {
        let floor = self.floor;
        self.instances
            .retain(|&number, instance| number >= floor || !instance.is_taken);
    }
}
