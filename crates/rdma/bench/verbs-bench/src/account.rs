//! What a process has of the device and what it did with it, as the device in software counts it.

use std::io;
use std::ops::{AddAssign, Sub};

use serde::{Deserialize, Serialize};
use weft_softrdma::stat::{self, Figures, LockFigures};

/// How often a kind of lock was taken, and how often of those it was first found taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    pub takes: u64,
    pub contentions: u64,
}

/// What was posted and how the device was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    pub posts: u64,
    pub requests: u64,
    pub doorbells: u64,
    pub blueflame_writes: u64,
    pub send_lock: Lock,
    pub uuar_lock: Lock,
    pub cq_lock: Lock,
}

/// What is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    pub contexts: u64,
    pub uars: u64,
    pub uuars: u64,
    pub used_uuars: u64,
    pub qps: u64,
    pub cqs: u64,
    pub pds: u64,
    pub mrs: u64,
    /// By Table I of the paper.
    pub bytes: u64,
}

/// Both, of one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    pub resources: Resources,
    pub counters: Counters,
}

impl Account {
    /// Of process `pid` on the fabric called `fabric`.
    pub fn of(fabric: &str, pid: u32) -> io::Result<Account> {
        let process = stat::process(fabric, pid)?.ok_or(io::ErrorKind::NotFound)?;
        let mut sum = Figures::default();
        for context in process.contexts {
            sum += context.figures;
        }
        Ok(Account::from(sum))
    }
}

impl From<LockFigures> for Lock {
    fn from(figures: LockFigures) -> Lock {
        Lock {
            takes: figures.takes,
            contentions: figures.contentions,
        }
    }
}

impl From<Figures> for Account {
    fn from(figures: Figures) -> Account {
        Account {
            resources: Resources {
                contexts: figures.contexts,
                uars: figures.uars(),
                uuars: figures.uuars(),
                used_uuars: figures.used_uuars,
                qps: figures.qps,
                cqs: figures.cqs,
                pds: figures.pds,
                mrs: figures.mrs,
                bytes: figures.bytes(),
            },
            counters: Counters {
                posts: figures.posts,
                requests: figures.requests,
                doorbells: figures.doorbells,
                blueflame_writes: figures.blueflame_writes,
                send_lock: figures.send_lock.into(),
                uuar_lock: figures.uuar_lock.into(),
                cq_lock: figures.cq_lock.into(),
            },
        }
    }
}

impl Counters {
    /// All kinds of locks together.
    pub fn locks(&self) -> Lock {
        let mut sum = self.send_lock;
        sum += self.uuar_lock;
        sum += self.cq_lock;
        sum
    }
}

impl Sub for Lock {
    type Output = Lock;
    fn sub(self, before: Lock) -> Lock {
        Lock {
            takes: self.takes - before.takes,
            contentions: self.contentions - before.contentions,
        }
    }
}

/// What happened between two accounts of one process.
impl Sub for Counters {
    type Output = Counters;
    fn sub(self, before: Counters) -> Counters {
        Counters {
            posts: self.posts - before.posts,
            requests: self.requests - before.requests,
            doorbells: self.doorbells - before.doorbells,
            blueflame_writes: self.blueflame_writes - before.blueflame_writes,
            send_lock: self.send_lock - before.send_lock,
            uuar_lock: self.uuar_lock - before.uuar_lock,
            cq_lock: self.cq_lock - before.cq_lock,
        }
    }
}

impl AddAssign for Lock {
    fn add_assign(&mut self, other: Lock) {
        self.takes += other.takes;
        self.contentions += other.contentions;
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        self.posts += other.posts;
        self.requests += other.requests;
        self.doorbells += other.doorbells;
        self.blueflame_writes += other.blueflame_writes;
        self.send_lock += other.send_lock;
        self.uuar_lock += other.uuar_lock;
        self.cq_lock += other.cq_lock;
    }
}

impl AddAssign for Resources {
    fn add_assign(&mut self, other: Resources) {
        self.contexts += other.contexts;
        self.uars += other.uars;
        self.uuars += other.uuars;
        self.used_uuars += other.used_uuars;
        self.qps += other.qps;
        self.cqs += other.cqs;
        self.pds += other.pds;
        self.mrs += other.mrs;
        self.bytes += other.bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_has_sums_of_the_device_and_differences_of_a_round() {
        let figures = Figures {
            static_uars: 8,
            dynamic_uars: 2,
            doorbells: 7,
            cq_lock: LockFigures {
                takes: 5,
                contentions: 2,
            },
            ..Figures::default()
        };
        let before = Account::from(figures);
        assert_eq!(before.resources.uars, 10);
        let after = Account::from(Figures {
            doorbells: 10,
            cq_lock: LockFigures {
                takes: 9,
                contentions: 3,
            },
            ..figures
        });
        let round = after.counters - before.counters;
        assert_eq!(round.doorbells, 3);
        let expected = Lock {
            takes: 4,
            contentions: 1,
        };
        assert_eq!((round.cq_lock, round.locks()), (expected, expected));
    }
}
