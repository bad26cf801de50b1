//! The agent: one thread of each process, asleep while nothing is to be done. It executes what posters deferred, answers the
//! messages of peers, watches for their deaths, lets newcomers into the fabric, and drives the protocol between hosts.
//!
//! # Protocol
//! 1. What other threads leave for it stands in its queue (`agent_queue`).
//! 2. The agent does all its work on objects holding `state`. A thread that destroys an object first takes it out of the tables, then
//!    takes `state` once ([`Agent::quiesce`]): from then on the agent does not know the object.
//! 3. Threads that poll in vain do the agent's work between hosts, holding `state` ([`Agent::help`]): where pollers have all the
//!    cores, the agent would come late. While they do, the agent leaves the port's descriptors to them, and looks after it every
//!    [`HELPED_NS`]; a helper that finds an earlier time wakes it. When the agent finds that packets have waited there, because a
//!    program polls now its completions and now its memory, it watches the descriptors itself for the next [`DESERTED_NS`].

use std::cell::Cell;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use weft_kernel::Interest;
use weft_verbs_abi::*;

use super::agent_message::AgentMessage;
use super::between_hosts::ports::{Ports, Turn};
use super::clock::{self, earliest};
use super::leaving;
use super::process::Process;
use super::proxied_step;
use super::queue_pair::QueuePair;
use super::tables::Tables;
use super::turns::take_short_turns;
use super::work;
use crate::fabric::notify::AgentDoorbell;
use crate::fabric::proxy::{self, MessageKind, ProxyWork};
use crate::fabric::{Number, Peer};

pub struct Agent {
    process: &'static Process,
    tables: &'static Tables,
    state: Mutex<AgentState>,
    /// When somebody last helped.
    helped_ns: AtomicU64,
    /// When something had come from another host, or was awaited, last.
    heard_ns: AtomicU64,
}

/// What the agent works on.
pub struct AgentState {
    active: Vec<&'static QueuePair>,
    pub ports: Ports,
    /// The agent left the port to helpers when it last slept.
    is_left: bool,
    trust: Trust,
}

/// Whether helpers that are there may be left alone with the port.
#[derive(Default)]
struct Trust {
    /// How much speaks against it.
    suspicion: u32,
    /// Until then they are not.
    deserted_until: u64,
}

impl Trust {
    fn is_there(&self, now: u64) -> bool {
        now >= self.deserted_until
    }

    /// Whether they had left packets waiting when the agent looked after them.
    fn judge(&mut self, is_deserted: bool, now: u64) {
        self.suspicion = match is_deserted {
            true => self.suspicion + DESERTION,
            false => self.suspicion.saturating_sub(1),
        };
        if self.suspicion >= UNRELIABLE {
            self.deserted_until = now + DESERTED_NS;
            // When that is over, once is enough.
            self.suspicion = UNRELIABLE - DESERTION;
        }
    }
}

/// A peer whose death is waited for.
struct Watch {
    peer: Arc<Peer>,
    pidfd: Option<OwnedFd>,
}

/// A helper is taken to be there this long after it last was.
const HELPED_NS: u64 = 200_000;

/// A helper that is there looks at the port more often than this.
const ABSENT_NS: u64 = 100_000;

/// What packets that were left waiting add to the suspicion; a look that finds none takes 1 away. Where it reaches so much, helpers are not relied
/// on: a helper that another program, or another guest of the machine, keeps from its core for a moment is found absent now and then, too.
const DESERTION: u32 = 2;
const UNRELIABLE: u32 = 6;

/// How long helpers are not relied on that have left packets waiting again and again.
const DESERTED_NS: u64 = 20_000_000;

/// Every so manieth poll in vain helps.
const HELP_EVERY: u32 = 8;

/// Nobody helps once nothing has come from other hosts for so long, and nothing is awaited: a look costs two system calls. The agent
/// then waits for what comes.
const QUIET_NS: u64 = 20_000_000;

/// How often peers are looked after that have no descriptor to wait on.
const LOOK_NS: u64 = 250_000_000;

impl Agent {
    pub fn new(process: &'static Process, tables: &'static Tables) -> Agent {
        Agent {
            process,
            tables,
            state: Mutex::new(AgentState {
                active: Vec::new(),
                ports: Ports::new(process, tables),
                is_left: false,
                trust: Trust::default(),
            }),
            helped_ns: AtomicU64::new(0),
            heard_ns: AtomicU64::new(0),
        }
    }

    /// Starts the thread. Without one there would be no retries, no long transfers and no events: better no process.
    pub fn start(&'static self) {
        leaving::before_the_end(|| self.try_leave());
        std::thread::Builder::new()
            .name("softrdma".to_owned())
            .spawn(move || with_signals_blocked(|| self.run()))
            .expect("softrdma: no thread for the agent");
    }

    /// For a thread that polled in vain and holds nothing: now and then does what there is to do between hosts.
    #[cold]
    pub fn help(&self) {
        thread_local!(static POLLS: Cell<u32> = const { Cell::new(0) });
        let polls = POLLS.get().wrapping_add(1);
        POLLS.set(polls);
        if !polls.is_multiple_of(HELP_EVERY) {
            return;
        }
        let now = clock::monotonic_ns();
        if self.is_quiet(now) {
            return;
        }
        let Ok(mut state) = self.state.try_lock() else {
            return;
        };
        self.helped_ns.store(now, Ordering::Relaxed);
        let comes_again = state.trust.is_there(now);
        let due = self.look(&mut state, now, Turn::Helper { comes_again });
        drop(state);
        // The peer's answer may have to be given on this core. A program that polls yields here without end, so some of the yields sleep.
        weft_sync::yield_now();
        if let Some(due) = due {
            self.process.agent().wake_by(due);
        }
    }

    /// Does what there is to do between hosts; when something is due next.
    fn look(&self, state: &mut AgentState, now: u64, turn: Turn) -> Option<u64> {
        let due = state.ports.poll(now, turn);
        if due.is_some() || state.ports.has_received() {
            self.heard_ns.store(now, Ordering::Relaxed);
        }
        due
    }

    /// Whether nothing has come from other hosts, nor was awaited, for long.
    fn is_quiet(&self, now: u64) -> bool {
        now.saturating_sub(self.heard_ns.load(Ordering::Relaxed)) > QUIET_NS
    }

    /// For how long nobody has helped.
    fn unhelped_ns(&self, now: u64) -> u64 {
        now.saturating_sub(self.helped_ns.load(Ordering::Relaxed))
    }

    pub fn state(&self) -> MutexGuard<'_, AgentState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the agent is done with what it is at.
    pub fn quiesce(&self) {
        drop(self.state());
    }

    /// The process is about to end: from now on it executes no packets for other processes. False if somebody has the state.
    pub fn try_leave(&self) -> bool {
        let state = self.state.try_lock();
        state.map(|mut state| state.ports.leave()).is_ok()
    }

    /// Forgets a queue pair, which is no more in the tables.
    pub fn forget(&self, qp: &QueuePair) {
        let mut state = self.state();
        state.active.retain(|other| !std::ptr::eq(*other, qp));
        state.ports.forget(qp);
    }

    fn run(&'static self) {
        take_short_turns();
        let doorbell = AgentDoorbell::create(self.process.own_segment());
        let mut watches = Vec::new();
        let mut heard = Heard::ALL;
        loop {
            let rest = run_once(self, doorbell.as_ref().ok(), &mut watches, heard);
            heard = sleep(self, doorbell.as_ref().ok(), &watches, &rest);
        }
    }
}

/// Signals are the application's threads' business.
fn with_signals_blocked(work: impl FnOnce()) {
    // SAFETY: an initialised set, for this thread.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
    }
    work();
}

/// What the agent sleeps for.
struct Rest {
    /// When to wake at the latest.
    due: Option<u64>,
    /// Somebody else watches the port.
    is_helped: bool,
}

/// What the agent was woken by. Where nothing was heard no system call looks: what comes later is heard when it next sleeps.
#[derive(Clone, Copy)]
struct Heard {
    wake: bool,
    name: bool,
    doorbell: bool,
    relay: bool,
    /// A peer that is watched has ended.
    end: bool,
}

impl Heard {
    const ALL: Heard = Heard {
        wake: true,
        name: true,
        doorbell: true,
        relay: true,
        end: true,
    };
}

/// Does what there is to do, and says how to sleep then.
fn run_once(
    agent: &'static Agent,
    doorbell: Option<&AgentDoorbell>,
    watches: &mut Vec<Watch>,
    heard: Heard,
) -> Rest {
    let process = agent.process;
    let queue = process.agent();
    if heard.wake {
        queue.drain_wake();
    }
    // Where helpers are, it looks after them soon anyway: the times that they set meanwhile wake nobody.
    let begun = clock::monotonic_ns();
    let again = (agent.unhelped_ns(begun) < HELPED_NS).then_some(begun + HELPED_NS);
    queue.take_wake(again);
    if let Some(doorbell) = doorbell {
        if heard.doorbell {
            doorbell.take_rings(process.own_segment());
        }
        // A sender that died before it rang is heard here, too.
        process.own_segment().segment().mailbox().clear_doorbell();
    }
    if heard.name
        && let Err(error) = process.fabric.attend_name()
    {
        eprintln!("softrdma: {error}");
    }
    let mut state = agent.state();
    let is_answered = read_messages(agent);
    for peer in queue.watched().drain(..) {
        add_watch(process, watches, peer);
    }
    let look = look_after(agent, &mut state, watches, heard.end);
    take_inbox(agent, &mut state);
    if is_answered {
        state
            .active
            .iter()
            .for_each(|qp| qp.backlog.hurry_answered());
    }
    let now = clock::monotonic_ns();
    let unhelped_ns = agent.unhelped_ns(now);
    let turn = Turn::Agent {
        relayed: heard.relay,
    };
    let mut due = earliest(look, agent.look(&mut state, now, turn));
    if state.is_left {
        let is_deserted = unhelped_ns > ABSENT_NS && state.ports.has_received();
        state.trust.judge(is_deserted, now);
    }
    state.active.retain(|qp| {
        let next = work::run(qp, now);
        due = earliest(due, next);
        next.is_some()
    });
    let is_helped = unhelped_ns < HELPED_NS && state.trust.is_there(now);
    state.is_left = is_helped;
    if is_helped {
        due = earliest(due, Some(now + HELPED_NS));
    }
    due = earliest(due, again);
    queue.set_due(due);
    Rest { due, is_helped }
}

/// Takes up the queue pairs that were left for the agent.
fn take_inbox(agent: &Agent, state: &mut AgentState) {
    let inbox = std::mem::take(&mut *agent.process.agent().inbox());
    for qp in inbox
        .into_iter()
        .flat_map(|number| agent.tables.handles(number))
    {
        if !state.active.iter().any(|other| std::ptr::eq(*other, qp)) {
            state.active.push(qp);
        }
    }
}

fn add_watch(process: &Process, watches: &mut Vec<Watch>, peer: Arc<Peer>) {
    let known = |watch: &Watch| Arc::ptr_eq(&watch.peer, &peer);
    if !peer.is_own() && !watches.iter().any(known) {
        let pidfd = peer.pidfd(process.fabric.processes());
        watches.push(Watch { peer, pidfd });
    }
}

/// Looks which peers are dead, those with a descriptor only if one of these was heard; when to look again.
fn look_after(
    agent: &Agent,
    state: &mut AgentState,
    watches: &mut Vec<Watch>,
    is_heard: bool,
) -> Option<u64> {
    if watches.is_empty() {
        return None;
    }
    let process = agent.process;
    let processes = process.fabric.processes();
    let before = watches.len();
    watches.retain(|watch| {
        let looks = |pidfd| is_heard && weft_kernel::is_ready(pidfd, Interest::Reading, 0);
        let ready = watch.pidfd.as_ref().is_none_or(looks);
        !(ready && watch.peer.look(processes))
    });
    if watches.len() < before {
        let inbox = process.agent().inbox().clone();
        let waiting = inbox
            .into_iter()
            .flat_map(|number| agent.tables.handles(number));
        for qp in state.active.iter().copied().chain(waiting) {
            // The others' time-outs are not over.
            if qp.peer_is_dead() {
                qp.backlog.hurry();
            }
        }
        process.fabric.tidy();
    }
    // One that nobody else holds on to needs no watch.
    watches.retain(|watch| Arc::strong_count(&watch.peer) > 1);
    let unseen = watches.iter().any(|watch| watch.pidfd.is_none());
    unseen.then(|| clock::monotonic_ns() + LOOK_NS)
}

fn interest(fd: RawFd) -> libc::pollfd {
    libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    }
}

/// Sleeps until something happens or the time has come.
fn sleep(agent: &Agent, doorbell: Option<&AgentDoorbell>, watches: &[Watch], rest: &Rest) -> Heard {
    /// Stands in for a descriptor that is not there (poll(2)).
    const NONE: RawFd = -1;
    let process = agent.process;
    let doorbell = doorbell.map_or(NONE, |doorbell| doorbell.as_fd().as_raw_fd());
    let mut interests = vec![
        interest(process.agent().descriptor()),
        interest(process.fabric.name_service()),
        interest(doorbell),
    ];
    let ports_at = interests.len();
    if !rest.is_helped {
        interests.extend(agent.state().ports.descriptors().map(interest));
    }
    let pidfds_at = interests.len();
    let pidfds = watches.iter().filter_map(|watch| watch.pidfd.as_ref());
    interests.extend(pidfds.map(|pidfd| interest(pidfd.as_raw_fd())));
    let timeout = rest.due.map(|due| {
        let left = Duration::from_nanos(due.saturating_sub(clock::monotonic_ns()));
        libc::timespec {
            tv_sec: left.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(left.subsec_nanos() as i32),
        }
    });
    let timeout = timeout
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the entries are writable, the time is readable.
    let result = unsafe {
        libc::ppoll(
            interests.as_mut_ptr(),
            interests.len() as libc::nfds_t,
            timeout,
            std::ptr::null(),
        )
    };
    // A signal or an error is a reason to look everywhere.
    if result < 0 {
        return Heard::ALL;
    }
    let said = |at: usize| interests[at].revents != 0;
    Heard {
        wake: said(0),
        name: said(1),
        doorbell: said(2),
        // The second of the port's; unknown where the agent left them to helpers, or had none yet.
        relay: pidfds_at == ports_at || said(ports_at + 1),
        end: interests[pidfds_at..].iter().any(|one| one.revents != 0),
    }
}

/// Takes the messages that are there; whether one says that a proxied step was answered.
fn read_messages(agent: &Agent) -> bool {
    let process = agent.process;
    let mut is_answered = false;
    while let Some(words) = process.own_segment().segment().mailbox().take() {
        let work = |asked: &ProxyWork<'_>| proxied_step::execute(process, asked);
        match proxy::receive(process.fabric, &words, work) {
            MessageKind::Answered => is_answered = true,
            MessageKind::Asked => {}
            MessageKind::Other => {
                if let Some(agent_message) = AgentMessage::from_words(&words) {
                    answer(agent.tables, agent_message);
                }
            }
        }
    }
    is_answered
}

/// A peer has told something of an object. The message may be older than the object's end, or nonsense.
fn answer(tables: &Tables, agent_message: AgentMessage) {
    match agent_message {
        AgentMessage::Failed { number, error } => {
            for qp in tables.handles(number) {
                if qp.record().state.load(Ordering::Acquire) == IBV_QPS_ERR {
                    qp.after_failure(error.event());
                }
            }
        }
        AgentMessage::Established { number } => raise(tables, number, IBV_EVENT_COMM_EST),
        AgentMessage::SrqLimit { index } => {
            if let Some(srq) = tables.srqs.at(index) {
                srq.raise(IBV_EVENT_SRQ_LIMIT_REACHED);
            }
        }
        AgentMessage::CqOverrun { id } => {
            if let Some(cq) = tables.cqs.at(id.index).filter(|cq| cq.id == id) {
                cq.events.raise(IBV_EVENT_CQ_ERR);
            }
        }
    }
}

fn raise(tables: &Tables, number: Number, event: ibv_event_type) {
    for qp in tables.handles(number) {
        qp.raise(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_that_leave_packets_again_and_again_are_not_relied_on_for_a_while() {
        let mut trust = Trust::default();
        let mut now = 0;
        let mut looks = |trust: &mut Trust, packets_wait: &[bool]| {
            for &packets_wait in packets_wait {
                now += HELPED_NS;
                trust.judge(packets_wait, now);
            }
            now
        };
        // One that somebody keeps from its core now and then.
        for _ in 0..100 {
            let now = looks(&mut trust, &[true, false, false]);
            assert!(trust.is_there(now));
        }
        // One that waits in memory: its packets come before every second look.
        let now = looks(
            &mut trust,
            &[true, false, true, false, true, false, true, false, true],
        );
        assert!(!trust.is_there(now) && !trust.is_there(now + DESERTED_NS - 1));
        assert!(trust.is_there(now + DESERTED_NS));
        // It is known then.
        let now = looks(&mut trust, &[true]);
        assert!(!trust.is_there(now));
        let now = looks(&mut trust, &[false; UNRELIABLE as usize]) + DESERTED_NS;
        trust.judge(true, now);
        assert!(trust.is_there(now));
    }
}
