//! The agreements of all communicators of this process, by their numbers, which no two ever have.
//!
//! One lock has everything. Nothing is called under it that enters a lane's section: notices go to the outbox, requests
//! that are complete are completed once it is let go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use weft_agreement::{Agreements, Contribution, Decision, Member, Message};
use weft_engine::{Listener, Notice, RequestId, Status};
use weft_objects::comm::numbers::{Standing, contexts};
use weft_objects::comm::{Comm, members, number_of, share_known};
use weft_process::engine::engine;
use weft_transport::Peer;

use crate::content::Content;
use crate::members::Members;
use crate::{outbox, revoke};

/// Notices of a process about communicators that this one has not made yet: further ones are dropped. There is one or
/// two for each communicator that other processes were quicker to make.
const EARLY: usize = 1024;
/// Communicators that the program has freed, whose last decisions others may still ask for.
const FREED: usize = 64;

/// Whom the engine tells of notices and losses.
pub const LISTENER: Listener = Listener {
    notice: heard,
    lost,
};

/// One communicator's.
pub struct Agreeing {
    pub members: Members,
    pub machine: Agreements,
    /// The requests of agreements that this process waits for.
    waiting: BTreeMap<u64, RequestId>,
    /// Failures, in the order in which this process heard of them.
    pub failed: Vec<Member>,
    /// So many of them are acknowledged.
    pub acknowledged: usize,
    /// Members whose loss is told.
    watched: BTreeSet<Member>,
}

#[derive(Default)]
struct Registry {
    agreeing: BTreeMap<u32, Agreeing>,
    lost: BTreeSet<Peer>,
    early: Vec<Early>,
}

/// A message about a communicator that this process has not made yet.
struct Early {
    number: u32,
    from: Peer,
    bytes: Vec<u8>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    agreeing: BTreeMap::new(),
    lost: BTreeSet::new(),
    early: Vec::new(),
});

/// What is to be done once the lock is let go.
#[derive(Default)]
struct After {
    complete: Vec<RequestId>,
    watch: Vec<Peer>,
}

impl After {
    fn act(self) {
        outbox::send();
        for id in self.complete {
            engine().complete_external_with(id, Status::EMPTY);
        }
        self.watch.into_iter().for_each(|peer| engine().watch(peer));
    }
}

impl Agreeing {
    fn new(comm: &Comm, lost: &BTreeSet<Peer>) -> Agreeing {
        let members = Members::of(comm);
        let machine = Agreements::new(members.own(), members.count());
        let mut agreeing = Agreeing {
            members,
            machine,
            waiting: BTreeMap::new(),
            failed: Vec::new(),
            acknowledged: 0,
            watched: BTreeSet::new(),
        };
        lost.iter().for_each(|&peer| agreeing.fail(peer));
        agreeing
    }

    fn fail(&mut self, peer: Peer) {
        if let Some(member) = self.members.find(peer) {
            self.machine.fail(member);
        }
    }

    /// A process says this. Nothing in it is trusted.
    fn hear(&mut self, from: Peer, bytes: &[u8]) {
        let member = self.members.find(from);
        let message = Message::parse(bytes, self.members.count());
        if let (Some(member), Some(message)) = (member, message) {
            self.machine.heard(member, message);
        }
    }

    /// After any change: what is to be sent is given to the outbox.
    fn settle(&mut self, number: u32, after: &mut After) {
        let known = self.machine.failed();
        let new = known.iter().filter(|member| !self.failed.contains(member));
        let new: Vec<Member> = new.copied().collect();
        self.failed.extend(new);
        let outgoing = self.machine.take_outgoing();
        let notices = outgoing.into_iter().map(|(to, message)| {
            let content = Content::Agreement(message.to_bytes());
            content.notice(self.members.peer(to), number)
        });
        outbox::give(notices);
        let decided = |number: &u64| self.machine.is_decided(*number);
        let decided: Vec<u64> = self.waiting.keys().copied().filter(decided).collect();
        let requests = decided
            .iter()
            .filter_map(|number| self.waiting.remove(number));
        after.complete.extend(requests);
        for member in self.machine.awaited() {
            if self.watched.insert(member) {
                after.watch.push(self.members.peer(member));
            }
        }
    }
}

impl Registry {
    /// The agreements of a communicator. Of new ones it is heard what came before they were made.
    fn of(&mut self, comm: &Comm) -> &mut Agreeing {
        let number = comm.number();
        if !self.agreeing.contains_key(&number) {
            self.forget_freed();
            let mut agreeing = Agreeing::new(comm, &self.lost);
            let early = self.early.extract_if(.., |early| early.number == number);
            early.for_each(|early| agreeing.hear(early.from, &early.bytes));
            self.agreeing.insert(number, agreeing);
        }
        self.agreeing.get_mut(&number).expect("it was just made")
    }

    fn forget_freed(&mut self) {
        let is_freed = |number: &u32| contexts().standing(*number) == Standing::Freed;
        let freed: Vec<u32> = self.agreeing.keys().copied().filter(is_freed).collect();
        let too_many = freed.len().saturating_sub(FREED);
        for number in &freed[..too_many] {
            self.agreeing.remove(number);
        }
    }
}

/// Looks at or changes a communicator's.
pub fn with<T>(comm: &Comm, act: impl FnOnce(&mut Agreeing) -> T) -> T {
    let mut after = After::default();
    let mut registry = REGISTRY.lock();
    let number = comm.number();
    let agreeing = registry.of(comm);
    // What is known already, of one that was just made.
    agreeing.settle(number, &mut after);
    let result = act(agreeing);
    agreeing.settle(number, &mut after);
    drop(registry);
    after.act();
    result
}

/// Enters an agreement: its number. The request is completed when it is decided.
pub fn enter(comm: &Comm, own: Contribution, request: RequestId) -> u64 {
    with(comm, |agreeing| {
        let entered = agreeing.machine.enter(own);
        agreeing.waiting.insert(entered, request);
        entered
    })
}

/// The decision of an agreement whose request is complete.
pub fn take(comm: &Comm, entered: u64) -> Option<Decision> {
    with(comm, |agreeing| agreeing.machine.take(entered))
}

/// The communicator of a number, or what its own group does by itself.
fn comm_of(number: u32) -> Option<Arc<Comm>> {
    let comm = share_known(members().handle(number)?).ok()?;
    let has_it = |comm: &Arc<Comm>| comm.number() == number;
    let local = comm.local_and_remote().map(|(local, _)| local.clone());
    local.filter(has_it).or(Some(comm))
}

/// A notice has come. Nothing in it is trusted.
fn heard(notice: Notice) {
    let number = number_of(notice.context);
    match Content::of(notice.bytes) {
        None => {}
        // Of one that the program has freed nothing is left to revoke.
        Some(Content::Revoked) if contexts().standing(number) == Standing::Freed => {}
        Some(Content::Revoked) => revoke::heard(number, || comm_of(number), notice.peer),
        Some(Content::Agreement(bytes)) => heard_message(number, notice.peer, bytes),
    }
}

fn heard_message(number: u32, from: Peer, bytes: Vec<u8>) {
    let mut after = After::default();
    let comm = comm_of(number);
    let mut registry = REGISTRY.lock();
    if let Some(comm) = &comm {
        registry.of(comm);
    }
    match registry.agreeing.get_mut(&number) {
        Some(agreeing) => {
            agreeing.hear(from, &bytes);
            agreeing.settle(number, &mut after);
        }
        None => registry.keep_early(Early {
            number,
            from,
            bytes,
        }),
    }
    drop(registry);
    after.act();
}

impl Registry {
    fn keep_early(&mut self, early: Early) {
        let of_peer = self.early.iter().filter(|other| other.from == early.from);
        if of_peer.count() < EARLY {
            self.early.push(early);
        }
    }
}

/// A peer is lost.
fn lost(peer: Peer) {
    let mut after = After::default();
    let mut registry = REGISTRY.lock();
    if registry.lost.insert(peer) {
        for (&number, agreeing) in &mut registry.agreeing {
            agreeing.fail(peer);
            agreeing.settle(number, &mut after);
        }
    }
    drop(registry);
    after.act();
}
