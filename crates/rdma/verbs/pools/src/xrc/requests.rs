//! Requests under way: their serials, and when they are sent again.

use std::collections::BTreeSet;

use super::adapter::Process;
use super::message::{Body, Message, Request};

/// When a request that has no answer is sent again. Times are in nanoseconds of any clock that does not go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// From the first time to the second; from then on twice as long each time.
    pub first_ns: u64,
    /// But no longer than that.
    pub most_ns: u64,
    /// So often a request is sent in all.
    pub tries: u32,
}

impl Timing {
    /// Some 25 seconds in all.
    pub const DEFAULT: Timing = Timing {
        first_ns: 20_000_000,
        most_ns: 2_000_000_000,
        tries: 18,
    };

    /// From the last of so many times to the next one, or to giving up.
    fn pause(&self, tries: u32) -> u64 {
        let doublings = (tries - 1).min(63);
        self.first_ns
            .saturating_mul(1 << doublings)
            .min(self.most_ns)
    }
}

/// A request without an answer so far.
#[derive(Debug)]
pub struct Pending {
    pub serial: u64,
    pub request: Request,
    tries: u32,
    /// When it is sent again or given up.
    next_ns: u64,
}

/// All requests of a process. At most one for each peer is under way.
pub struct Requests {
    me: Process,
    timing: Timing,
    last_serial: u64,
    timers: BTreeSet<(u64, Process)>,
    outbox: Vec<(Process, Vec<u8>)>,
}

impl Requests {
    pub fn new(me: Process, timing: Timing) -> Requests {
        Requests {
            me,
            timing,
            last_serial: 0,
            timers: BTreeSet::new(),
            outbox: Vec::new(),
        }
    }

    pub fn ask(&mut self, to: Process, request: Request, now_ns: u64) -> Pending {
        self.last_serial += 1;
        let mut pending = Pending {
            serial: self.last_serial,
            request,
            tries: 0,
            next_ns: 0,
        };
        self.send_again(to, &mut pending, now_ns);
        pending
    }

    /// Sends a request whose time has come, unless it was sent often enough: then false.
    pub fn try_again(&mut self, to: Process, pending: &mut Pending, now_ns: u64) -> bool {
        debug_assert!(pending.next_ns <= now_ns, "another request's time has come");
        let may = pending.tries < self.timing.tries;
        if may {
            self.send_again(to, pending, now_ns);
        }
        may
    }

    fn send_again(&mut self, to: Process, pending: &mut Pending, now_ns: u64) {
        pending.tries += 1;
        pending.next_ns = now_ns.saturating_add(self.timing.pause(pending.tries));
        self.timers.insert((pending.next_ns, to));
        self.send(to, pending.serial, Body::Request(pending.request));
    }

    pub fn send(&mut self, to: Process, serial: u64, body: Body) {
        let message = Message {
            from: self.me,
            to,
            serial,
            body,
        };
        self.outbox.push((to, message.write()));
    }

    /// The request is answered, or has become useless.
    pub fn end(&mut self, to: Process, pending: &Pending) {
        self.timers.remove(&(pending.next_ns, to));
    }

    /// A peer whose request's time has come. It is told once.
    pub fn due(&mut self, now_ns: u64) -> Option<Process> {
        let (next_ns, peer) = *self.timers.first()?;
        (next_ns <= now_ns).then(|| {
            self.timers.pop_first();
            peer
        })
    }

    pub fn deadline_ns(&self) -> Option<u64> {
        self.timers.first().map(|(next_ns, _)| *next_ns)
    }

    pub fn take_outbox(&mut self) -> Vec<(Process, Vec<u8>)> {
        std::mem::take(&mut self.outbox)
    }
}
