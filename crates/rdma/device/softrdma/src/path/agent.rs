//! The agent: one thread of each process, asleep while nothing is to be done. It executes what posters put off, answers the
//! letters of peers, watches for their deaths, lets newcomers into the fabric, and drives the protocol between hosts.
//!
//! # Protocol
//! 1. `inbox` has the queue pairs whose backlog became non-empty; the poster adds, and writes to `wake`.
//! 2. The agent does all its work on objects holding `desk`. Who destroys an object first takes it out of the tables, then
//!    takes `desk` once ([`Agent::settle`]): from then on the agent does not know the object.
//! 3. Threads that poll in vain do the agent's work between hosts, holding `desk` ([`Agent::help`]): where pollers have all the
//!    cores, the agent would come late. While they do, the agent leaves the port's descriptors to them, and looks after it every
//!    [`HELPED_NS`]. `due` is when the agent wakes at the latest, written holding `desk`; a helper that finds an earlier time wakes it.

use std::cell::Cell;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use weft_verbs_abi::*;

use super::between_hosts::Ports;
use super::clock;
use super::errand;
use super::letter::Letter;
use super::process::Process;
use super::work;
use crate::fabric::notify::Bell;
use crate::fabric::relay::{self, Asked, Heard};
use crate::fabric::{Number, Peer};
use crate::verbs::{Element, Qp};

pub struct Agent {
    wake: OwnedFd,
    woken: AtomicBool,
    inbox: Mutex<Vec<&'static Qp>>,
    watched: Mutex<Vec<Arc<Peer>>>,
    desk: Mutex<Desk>,
    due: AtomicU64,
    /// When somebody last helped.
    helped_ns: AtomicU64,
}

/// What the agent works on.
pub struct Desk {
    active: Vec<&'static Qp>,
    pub ports: Ports,
}

/// A peer whose death is waited for.
struct Watch {
    peer: Arc<Peer>,
    pidfd: Option<OwnedFd>,
}

/// A time that does not come.
const NEVER: u64 = u64::MAX;

/// A helper is taken to be there this long after it last was.
const HELPED_NS: u64 = 200_000;

/// Every so manieth poll in vain helps.
const HELP_EVERY: u32 = 8;

/// How often peers are looked after that have no descriptor to wait on.
const LOOK_NS: u64 = 250_000_000;

impl Agent {
    /// Starts the thread. Without one there would be no retries, no long transfers and no events: better no process.
    pub fn start(process: &'static Process) -> Agent {
        // SAFETY: takes numbers only; the descriptor is fresh.
        let wake = unsafe {
            let fd = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
            assert!(fd >= 0, "softrdma: no descriptor for the agent");
            OwnedFd::from_raw_fd(fd)
        };
        std::thread::Builder::new()
            .name("softrdma".to_owned())
            .spawn(move || with_signals_blocked(|| run(process)))
            .expect("softrdma: no thread for the agent");
        Agent {
            wake,
            woken: AtomicBool::new(false),
            inbox: Mutex::default(),
            watched: Mutex::default(),
            desk: Mutex::new(Desk {
                active: Vec::new(),
                ports: Ports::new(process),
            }),
            due: AtomicU64::new(NEVER),
            helped_ns: AtomicU64::new(0),
        }
    }

    /// Called by who polled in vain and holds nothing: now and then does what there is to do between hosts.
    #[cold]
    pub fn help(&self) {
        thread_local!(static POLLS: Cell<u32> = const { Cell::new(0) });
        let polls = POLLS.get().wrapping_add(1);
        POLLS.set(polls);
        if !polls.is_multiple_of(HELP_EVERY) {
            return;
        }
        let Ok(mut desk) = self.desk.try_lock() else {
            return;
        };
        let now = clock::monotonic_ns();
        self.helped_ns.store(now, Ordering::Relaxed);
        let due = desk.ports.turn(now);
        drop(desk);
        // The peer's answer may have to be given on this core.
        std::thread::yield_now();
        if due.is_some_and(|due| due < self.due.load(Ordering::Relaxed)) {
            self.wake();
        }
    }

    fn is_helped(&self, now: u64) -> bool {
        now.saturating_sub(self.helped_ns.load(Ordering::Relaxed)) < HELPED_NS
    }

    /// Works on the queue pair's backlog.
    pub fn attend(&self, qp: &'static Qp) {
        lock(&self.inbox).push(qp);
        self.wake();
    }

    /// Wakes the thread to look at everything it has.
    pub fn wake(&self) {
        if self.woken.swap(true, Ordering::SeqCst) {
            return;
        }
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight readable bytes.
        unsafe { libc::write(self.wake.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    fn hear(&self) {
        let mut count = [0u8; 8];
        // SAFETY: eight writable bytes; the descriptor does not block.
        unsafe {
            libc::read(
                self.wake.as_raw_fd(),
                count.as_mut_ptr().cast(),
                count.len(),
            )
        };
        self.woken.store(false, Ordering::SeqCst);
    }

    /// Notices when the peer's process ends.
    pub fn watch(&self, peer: Arc<Peer>) {
        lock(&self.watched).push(peer);
        self.wake();
    }

    pub fn desk(&self) -> MutexGuard<'_, Desk> {
        lock(&self.desk)
    }

    /// Waits until the agent is done with what it is at.
    pub fn settle(&self) {
        drop(self.desk());
    }

    /// Forgets a queue pair, which is no more in the tables.
    pub fn forget(&self, qp: &Qp) {
        lock(&self.inbox).retain(|other| !std::ptr::eq(*other, qp));
        let mut desk = self.desk();
        desk.active.retain(|other| !std::ptr::eq(*other, qp));
        desk.ports.forget(qp);
    }

    pub fn set_link(&self, up: bool) {
        self.desk().ports.set_link(up);
        self.wake();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

fn run(process: &'static Process) {
    let agent = process.agent();
    let bell = Bell::create(process.home());
    let mut watches = Vec::new();
    loop {
        let rest = turn(process, agent, bell.as_ref().ok(), &mut watches);
        sleep(process, agent, bell.as_ref().ok(), &watches, &rest);
    }
}

/// What the agent sleeps for.
struct Rest {
    /// When to wake at the latest.
    due: Option<u64>,
    /// Somebody else watches the port.
    is_helped: bool,
}

/// Does what there is to do, and says how to sleep then.
fn turn(
    process: &'static Process,
    agent: &Agent,
    bell: Option<&Bell>,
    watches: &mut Vec<Watch>,
) -> Rest {
    agent.hear();
    if let Some(bell) = bell {
        bell.hear(process.home());
    }
    if let Err(error) = process.fabric.attend_door() {
        eprintln!("softrdma: {error}");
    }
    let mut desk = agent.desk();
    let is_answered = read_letters(process);
    for peer in lock(&agent.watched).drain(..) {
        add_watch(process, watches, peer);
    }
    let look = look_after(process, agent, &mut desk, watches);
    for qp in lock(&agent.inbox).drain(..) {
        if !desk.active.iter().any(|other| std::ptr::eq(*other, qp)) {
            desk.active.push(qp);
        }
    }
    if is_answered {
        desk.active
            .iter()
            .for_each(|qp| qp.backlog.hurry_answered());
    }
    let now = clock::monotonic_ns();
    let mut due = earliest(look, desk.ports.turn(now));
    desk.active.retain(|qp| {
        let next = work::turn(qp, now);
        due = earliest(due, next);
        next.is_some()
    });
    let is_helped = agent.is_helped(now);
    if is_helped {
        due = earliest(due, Some(now + HELPED_NS));
    }
    agent.due.store(due.unwrap_or(NEVER), Ordering::Relaxed);
    Rest { due, is_helped }
}

/// The earlier of two times, if there are any.
pub fn earliest(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn add_watch(process: &Process, watches: &mut Vec<Watch>, peer: Arc<Peer>) {
    let known = |watch: &Watch| Arc::ptr_eq(&watch.peer, &peer);
    if !peer.is_own() && !watches.iter().any(known) {
        let pidfd = peer.pidfd(process.fabric.processes());
        watches.push(Watch { peer, pidfd });
    }
}

/// Looks which peers are dead; when to look again.
fn look_after(
    process: &Process,
    agent: &Agent,
    desk: &mut Desk,
    watches: &mut Vec<Watch>,
) -> Option<u64> {
    if watches.is_empty() {
        return None;
    }
    let processes = process.fabric.processes();
    let before = watches.len();
    watches.retain(|watch| {
        let ready = watch.pidfd.as_ref().is_none_or(is_readable);
        !(ready && watch.peer.look(processes))
    });
    if watches.len() < before {
        for qp in desk.active.iter().chain(lock(&agent.inbox).iter()) {
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

fn is_readable(descriptor: &OwnedFd) -> bool {
    let mut poll = interest(descriptor.as_raw_fd());
    // SAFETY: one entry.
    unsafe { libc::poll(&mut poll, 1, 0) == 1 }
}

fn interest(fd: RawFd) -> libc::pollfd {
    libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    }
}

/// Sleeps until something happens or the time has come.
fn sleep(process: &Process, agent: &Agent, bell: Option<&Bell>, watches: &[Watch], rest: &Rest) {
    let mut interests = vec![
        interest(agent.wake.as_raw_fd()),
        interest(process.fabric.door()),
    ];
    interests.extend(bell.map(|bell| interest(bell.as_fd().as_raw_fd())));
    if !rest.is_helped {
        interests.extend(agent.desk().ports.descriptors().map(interest));
    }
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
    // SAFETY: the entries and the time are readable; a signal or an error is a reason to look, too.
    unsafe {
        libc::ppoll(
            interests.as_mut_ptr(),
            interests.len() as libc::nfds_t,
            timeout,
            std::ptr::null(),
        )
    };
}

/// Takes the letters that are there; whether one says that an errand was answered.
fn read_letters(process: &'static Process) -> bool {
    let mut is_answered = false;
    while let Some(words) = process.home().segment().mailbox().take() {
        let work = |asked: &Asked<'_>| errand::execute(process, asked);
        match relay::hear(process.fabric, &words, work) {
            Heard::Answered => is_answered = true,
            Heard::Asked => {}
            Heard::Other => {
                if let Some(letter) = Letter::from_words(&words) {
                    answer(process, letter);
                }
            }
        }
    }
    is_answered
}

/// A peer has told something of an object. The letter may be older than the object's end, or nonsense.
fn answer(process: &'static Process, letter: Letter) {
    match letter {
        Letter::Failed { number, trouble } => {
            for qp in process.handles(number) {
                if qp.record().state.load(Ordering::Acquire) == IBV_QPS_ERR {
                    qp.after_failure(trouble.event());
                }
            }
        }
        Letter::Established { number } => raise(process, number, IBV_EVENT_COMM_EST),
        Letter::SrqLimit { index } => {
            if let Some(srq) = process.srqs.at(index) {
                srq.raise_limit();
            }
        }
        Letter::CqOverrun { id } => {
            if let Some(cq) = process.cqs.at(id.index).filter(|cq| cq.id == id) {
                cq.context
                    .events
                    .raise(IBV_EVENT_CQ_ERR, Element::Cq(cq.as_abi()));
            }
        }
    }
}

fn raise(process: &Process, number: Number, event: ibv_event_type) {
    for qp in process.handles(number) {
        qp.raise(event);
    }
}
