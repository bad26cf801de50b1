//! The words of an active message in memory that two processes share: what a process asks of a target, and how that stands.
//!
//! 1. A process takes `lock`. One that takes it over from a dead holder first takes the dead one's message back, or waits for its
//!    end if it runs ([`clear`](ActiveMessage::clear)).
//! 2. It writes what it asks, and the bytes that go with it, and hands both over ([`Handoff`]).
//! 3. Once it has the answer it takes the bytes that came back, clears the message and releases the lock.
//!
//! What a message says may come from a hostile peer.

use crate::OwnedLock;
use crate::handoff::{Answer, Handoff};
use crate::primitive::{AtomicU32, AtomicU64, Ordering};

/// The words of a message; all zeros is none.
#[derive(Default)]
#[repr(C)]
pub struct ActiveMessage {
    pub lock: OwnedLock,
    handoff: Handoff,
    /// Not 0: into the target's memory.
    writes: AtomicU32,
    address: AtomicU64,
    bytes: AtomicU64,
}

/// What is asked of the target: to copy so many bytes from or to an address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    pub writes: bool,
    pub address: u64,
    pub bytes: u64,
}

impl ActiveMessage {
    /// For the holder of a lock that was taken over, and for one whose message is over: true once no message is in the way.
    pub fn clear(&self) -> bool {
        self.handoff.clear()
    }

    pub fn ask(&self, ask: Ask) {
        self.writes.store(u32::from(ask.writes), Ordering::Relaxed);
        self.address.store(ask.address, Ordering::Relaxed);
        self.bytes.store(ask.bytes, Ordering::Relaxed);
        self.handoff.ask();
    }

    pub fn answer(&self) -> Answer {
        self.handoff.answer()
    }

    /// The target's part: does what is asked by `act`, which says whether it did. False if nothing is asked.
    pub fn run(&self, act: impl FnOnce(Ask) -> bool) -> bool {
        self.handoff.run(|| {
            act(Ask {
                writes: self.writes.load(Ordering::Relaxed) != 0,
                address: self.address.load(Ordering::Relaxed),
                bytes: self.bytes.load(Ordering::Relaxed),
            })
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn asked_run_answered() {
        let message = ActiveMessage::default();
        assert!(!message.run(|_| unreachable!("nothing is asked")));
        for does in [true, false] {
            let ask = Ask {
                writes: does,
                address: 5,
                bytes: 7,
            };
            message.ask(ask);
            assert_eq!(message.answer(), Answer::Pending);
            assert!(message.run(|asked| asked == ask && does));
            let wanted = if does { Answer::Done } else { Answer::Refused };
            assert_eq!(message.answer(), wanted);
            assert!(message.clear());
        }
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::primitive::{Plain, bounded, yield_now};
    use loom::sync::Arc;
    use loom::thread;

    struct Shared {
        message: ActiveMessage,
        bytes: Plain,
    }

    fn shared() -> Arc<Shared> {
        Arc::new(Shared {
            message: ActiveMessage::default(),
            bytes: Plain::new(0),
        })
    }

    fn ask(shared: &Shared, value: u64) {
        shared.bytes.write(value);
        shared.message.ask(Ask {
            writes: true,
            address: value,
            bytes: 8,
        });
    }

    fn double(shared: &Shared) -> bool {
        shared.message.run(|ask| {
            let value = shared.bytes.read();
            assert_eq!(ask.address, value);
            shared.bytes.write(2 * value);
            true
        })
    }

    /// The bytes belong to one side at a time, there and back.
    #[test]
    fn bytes_go_there_and_back() {
        bounded(|| {
            let shared = shared();
            let target = {
                let shared = shared.clone();
                thread::spawn(move || {
                    while !double(&shared) {
                        yield_now();
                    }
                })
            };
            ask(&shared, 21);
            while shared.message.answer() == Answer::Pending {
                yield_now();
            }
            assert_eq!(shared.bytes.read(), 42);
            assert!(shared.message.clear());
            target.join().unwrap();
        });
    }

    /// A process has died after it asked: the one that follows it never meets its message in the bytes.
    #[test]
    fn the_message_of_the_dead_is_out_of_the_way() {
        bounded(|| {
            let shared = shared();
            ask(&shared, 3);
            let target = {
                let shared = shared.clone();
                thread::spawn(move || double(&shared))
            };
            while !shared.message.clear() {
                yield_now();
            }
            shared.bytes.write(5);
            target.join().unwrap();
            assert_eq!(shared.bytes.read(), 5);
        });
    }
}
