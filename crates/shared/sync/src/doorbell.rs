//! A process's doorbell: how others tell it that there is something to look at, and how it sleeps until then. The words
//! lie in memory that the processes share.
//!
//! Each *lane* of a process has a bit for every other process (its *notifiers*), in words; a *summary*, of which each bit
//! stands for some of those words; and one bit in the process's `signalled`.
//!
//! Notifying and listening (all operations SeqCst where not said otherwise):
//! 1. A notifier sets its bit, then the word's bit in the summary, then the lane's bit in `signalled`, then reads `sleeping`;
//!    if that is set it counts the doorbell up and wakes the sleeper.
//! 2. The owner, when it sees its lane in `signalled`, clears in the opposite order (`signalled`, summary, words) and then
//!    looks at what the notifiers have published. A bit that is set behind it leaves a later bit of the chain set, so the next
//!    turn finds it.
//! 3. A notifier whose bit is still set need not set it again: the owner has the clearing of that bit, and so the look at what
//!    was published, still before it.
//!
//! Sleeping:
//! 4. Before a sleep the owner sets `sleeping` and reads the doorbell's count ([`Doorbell::prepare`]), then looks at `signalled`
//!    and at everything else that it waits for, then sleeps unless the count has changed: by 1 and 4 one of the two sees the
//!    other.
//! 5. One thread of the owner sleeps at a time. It takes `sleeping` back when it wakes ([`Doorbell::stay_awake`]).
//!
//! Sleeping on descriptors: a process that waits for networks too sleeps in poll(2), where no futex wakes it. It has a [`Pipe`],
//! which those who wake it have opened before, and all its sleeps are of this kind.
//! 6. What it sets in `sleeping` says so: whoever finds that, having counted the doorbell up, writes a byte to the pipe. A full
//!    pipe has bytes for the sleeper already.
//! 7. A byte stays until it is read, so one that comes before the owner polls ends that sleep too. That the owner reads the
//!    count before it polls only spares it the system call.
//! 8. When it wakes it takes `sleeping` back and then reads the bytes. All of them are from those who counted before the next
//!    sleep's ticket, so none that the next sleep needs is lost. A byte that comes later, from one who had found `sleeping`
//!    set, ends the next sleep for no reason.
//!
//! Everything here may be written by a hostile process: bits may name nobody.

use std::os::fd::RawFd;
use std::time::Duration;

use crate::Stamp;
use crate::primitive::{AtomicU32, AtomicU64, Ordering, Pipe, SleepWord, latest, latest64};

// How the owner sleeps, in `sleeping`.
const AWAKE: u32 = 0;
/// On the count (futex(2)).
const ON_COUNT: u32 = 1;
const ON_PIPE: u32 = 2;

/// The words by which the owner sleeps.
#[repr(C, align(64))]
pub struct Doorbell {
    /// Written by notifiers (count up), read by the sleeper.
    count: SleepWord,
    /// Whether and how the owner sleeps. Written by it, read by notifiers.
    sleeping: AtomicU32,
    /// When a sleeper was rung, by the first that did. A measurement of wakes, and no part of the protocol.
    rung_at: Stamp,
}

/// A bit for each lane with something in its summary, and bits beyond the lanes' for other calls. Written by notifiers and the
/// owner; on its own line, as the owner reads it every turn.
#[repr(C, align(64))]
pub struct Signalled(AtomicU64);

impl Doorbell {
    /// Ends the owner's sleep, or keeps it from beginning. `pipe` is the owner's, if it has one.
    pub fn wake(&self, pipe: Option<&Pipe>) {
        self.count.fetch_add(1, Ordering::SeqCst);
        let sleeping = latest(&self.sleeping);
        if sleeping != AWAKE {
            self.rung_at.leave();
        }
        match (sleeping, pipe) {
            (AWAKE, _) => {}
            (ON_PIPE, Some(pipe)) => pipe.ring(),
            // Also where a process says that it sleeps on a pipe that it does not have.
            _ => self.count.wake_shared(),
        }
    }

    /// As [`wake`](Self::wake), after something was published that an owner which does not sleep will see (rule 1).
    #[inline]
    pub fn wake_sleeper(&self, pipe: Option<&Pipe>) {
        if latest(&self.sleeping) != AWAKE {
            self.wake(pipe);
        }
    }

    /// Begins a [`sleep`](Self::sleep) (rule 4): the doorbell's count.
    pub fn prepare(&self) -> u32 {
        self.prepare_by(ON_COUNT)
    }

    /// Begins a [`sleep_on`](Self::sleep_on).
    pub fn prepare_on_pipe(&self) -> u32 {
        self.prepare_by(ON_PIPE)
    }

    fn prepare_by(&self, way: u32) -> u32 {
        self.rung_at.clear();
        self.sleeping.swap(way, Ordering::SeqCst);
        self.count.load(Ordering::SeqCst)
    }

    /// Sleeps until the doorbell counts past `ticket`, at most `timeout`.
    pub fn sleep(&self, ticket: u32, timeout: Duration) {
        self.count.wait_shared(ticket, timeout);
        self.stay_awake();
    }

    /// As [`sleep`](Self::sleep), on the owner's pipe: also until one of `others` is readable. True if one is.
    pub fn sleep_on(&self, pipe: &Pipe, ticket: u32, timeout: Duration, others: &[RawFd]) -> bool {
        if latest(&self.count) != ticket {
            self.stay_awake();
            return false;
        }
        let found = pipe.wait(timeout, others);
        self.stay_awake();
        if found.rung {
            pipe.drain();
        }
        found.other
    }

    /// When the owner's last sleep was ended by a ring, in nanoseconds of [`now_ns`](crate::now_ns), if the one that rang has said so.
    pub fn rung_at(&self) -> Option<u64> {
        self.rung_at.left()
    }

    /// Whether the owner sleeps or is about to.
    #[inline]
    pub fn is_sleeping(&self) -> bool {
        latest(&self.sleeping) != AWAKE
    }

    /// Ends what `prepare` began.
    #[inline]
    pub fn stay_awake(&self) {
        if self.sleeping.load(Ordering::Relaxed) != AWAKE {
            self.sleeping.store(AWAKE, Ordering::SeqCst);
        }
    }
}

impl Signalled {
    /// Every lane's bit.
    #[inline]
    pub fn all(&self) -> u64 {
        latest64(&self.0)
    }

    pub fn set(&self, bit: u32) {
        self.0.fetch_or(1 << bit, Ordering::SeqCst);
    }

    /// Whether the bit was set; clears it.
    pub fn take(&self, bit: u32) -> bool {
        self.0.fetch_and(!(1 << bit), Ordering::SeqCst) >> bit & 1 != 0
    }
}

/// The bits of one lane's notifiers.
pub struct Notifiers<'a> {
    pub signalled: &'a Signalled,
    pub lane: u32,
    pub summary: &'a AtomicU64,
    pub words: &'a [AtomicU64],
}

impl Notifiers<'_> {
    /// Words behind each bit of the summary.
    fn words_per_bit(&self) -> usize {
        self.words.len().div_ceil(64)
    }

    /// Sets the bit of notifier `from` and all after it, unless it still stands (rules 1 and 3).
    pub fn set(&self, from: u32) {
        let (index, bit) = (from as usize / 64, 1 << (from % 64));
        let word = &self.words[index];
        if latest64(word) & bit == 0 {
            word.fetch_or(bit, Ordering::SeqCst);
            let group = index / self.words_per_bit();
            self.summary.fetch_or(1 << group, Ordering::SeqCst);
            self.signalled.set(self.lane);
        }
    }

    /// Clears the lane's bits (rule 2) and names the notifiers.
    pub fn take(&self, mut notified: impl FnMut(u32)) {
        self.signalled.take(self.lane);
        let mut groups = self.summary.swap(0, Ordering::SeqCst);
        while groups != 0 {
            let first = groups.trailing_zeros() as usize * self.words_per_bit();
            groups &= groups - 1;
            let words = self.words.iter().enumerate().skip(first);
            for (index, word) in words.take(self.words_per_bit()) {
                let mut bits = word.swap(0, Ordering::SeqCst);
                while bits != 0 {
                    notified(index as u32 * 64 + bits.trailing_zeros());
                    bits &= bits - 1;
                }
            }
        }
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::primitive::bounded;
    use loom::sync::Arc;

    /// One lane of a process, and what two notifiers have published for it, or a network and a thread of the process's own.
    struct Process {
        doorbell: Doorbell,
        pipe: Option<Pipe>,
        signalled: Signalled,
        summary: AtomicU64,
        words: Vec<AtomicU64>,
        published: Vec<AtomicU32>,
    }

    impl Process {
        /// A process that sleeps on the count or on a pipe.
        fn new(pipe: Option<Pipe>) -> Arc<Process> {
            Arc::new(Process {
                doorbell: Doorbell {
                    count: SleepWord::new(0),
                    sleeping: AtomicU32::new(AWAKE),
                    rung_at: Stamp::new(),
                },
                pipe,
                signalled: Signalled(AtomicU64::new(0)),
                summary: AtomicU64::new(0),
                words: vec![AtomicU64::new(0)],
                published: vec![AtomicU32::new(0), AtomicU32::new(0)],
            })
        }

        fn notifiers(&self) -> Notifiers<'_> {
            Notifiers {
                signalled: &self.signalled,
                lane: 0,
                summary: &self.summary,
                words: &self.words,
            }
        }

        /// Publishes `count` things, one after the other, and notifies of each.
        fn publish(&self, from: u32, count: u32) {
            for thing in 1..=count {
                self.published[from as usize].swap(thing, Ordering::SeqCst);
                self.notifiers().set(from);
                self.doorbell.wake_sleeper(self.pipe.as_ref());
            }
        }

        /// Something has come by the network.
        fn arrive(&self) {
            self.published[1].swap(1, Ordering::SeqCst);
            self.pipe.as_ref().unwrap().set_other(true);
        }

        /// Another thread of the process has something for the sleeper.
        fn submit(&self) {
            self.published[1].swap(1, Ordering::SeqCst);
            self.doorbell.wake(self.pipe.as_ref());
        }

        /// Sleeps unless there is something; takes what has come by the network.
        fn sleep(&self, nothing: impl FnOnce() -> bool) {
            let Some(pipe) = &self.pipe else {
                let ticket = self.doorbell.prepare();
                return match nothing() {
                    true => self.doorbell.sleep(ticket, Duration::MAX),
                    false => self.doorbell.stay_awake(),
                };
            };
            let ticket = self.doorbell.prepare_on_pipe();
            if !nothing() {
                self.doorbell.stay_awake();
            } else if self.doorbell.sleep_on(pipe, ticket, Duration::MAX, &[]) {
                pipe.set_other(false);
            }
        }

        /// Looks where it was notified and sleeps in between, until it has seen `counts`. A lost notification is a sleep
        /// without end, which loom reports.
        fn listen(&self, counts: [u32; 2]) {
            let mut seen = [0; 2];
            while seen != counts {
                self.sleep(|| self.signalled.all() == 0);
                self.notifiers().take(|from| {
                    seen[from as usize] = self.published[from as usize].load(Ordering::Acquire);
                });
            }
        }

        /// As `listen`, for one thing of a notifier and one that is looked at before each sleep.
        fn listen_and_look(&self) {
            let (mut notified, mut looked) = (0, 0);
            while (notified, looked) != (1, 1) {
                let submitted = || latest(&self.published[1]) > looked;
                self.sleep(|| self.signalled.all() == 0 && !submitted());
                looked = latest(&self.published[1]);
                self.notifiers().take(|_| {
                    notified = self.published[0].load(Ordering::Acquire);
                });
            }
        }
    }

    /// In threads of their own.
    fn spawn(
        process: &Arc<Process>,
        what: impl FnOnce(&Process) + 'static,
    ) -> loom::thread::JoinHandle<()> {
        let process = process.clone();
        loom::thread::spawn(move || what(&process))
    }

    fn one_notifier(pipe: fn() -> Option<Pipe>) {
        bounded(move || {
            let process = Process::new(pipe());
            let notifier = spawn(&process, |process| process.publish(0, 2));
            process.listen([2, 0]);
            notifier.join().unwrap();
        });
    }

    fn two_notifiers(pipe: fn() -> Option<Pipe>) {
        bounded(move || {
            let process = Process::new(pipe());
            let notifiers = [0, 1].map(|from| spawn(&process, move |one| one.publish(from, 1)));
            process.listen([1, 1]);
            for notifier in notifiers {
                notifier.join().unwrap();
            }
        });
    }

    fn notifier_and_other(pipe: fn() -> Option<Pipe>, other: fn(&Process)) {
        bounded(move || {
            let process = Process::new(pipe());
            let others = [
                spawn(&process, |one| one.publish(0, 1)),
                spawn(&process, other),
            ];
            process.listen_and_look();
            for other in others {
                other.join().unwrap();
            }
        });
    }

    #[test]
    fn a_sleeper_sees_everything_of_one_notifier() {
        one_notifier(|| None);
    }

    #[test]
    fn a_sleeper_sees_everything_of_two_notifiers() {
        two_notifiers(|| None);
    }

    #[test]
    fn a_sleeper_sees_a_notifier_and_a_thread_of_its_own() {
        notifier_and_other(|| None, Process::submit);
    }

    #[test]
    fn a_sleeper_on_a_pipe_sees_everything_of_one_notifier() {
        one_notifier(|| Some(Pipe::default()));
    }

    #[test]
    fn a_sleeper_on_a_pipe_sees_everything_of_two_notifiers() {
        two_notifiers(|| Some(Pipe::default()));
    }

    #[test]
    fn a_sleeper_on_a_pipe_sees_a_notifier_and_a_thread_of_its_own() {
        notifier_and_other(|| Some(Pipe::default()), Process::submit);
    }

    #[test]
    fn a_sleeper_on_a_pipe_sees_a_notifier_and_a_network() {
        notifier_and_other(|| Some(Pipe::default()), Process::arrive);
    }
}
