//! What is known of the other processes: which are in a communicator, and which are lost.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use weft_transport::{Lost, Peer};

/// Whose messages may come in a context.
pub trait Members: Send + Sync {
    fn contains(&self, context: u32, peer: Peer) -> bool;

    /// The process of this number among them, from 0 on; none behind the last.
    fn member(&self, context: u32, number: u32) -> Option<Peer>;

    /// How many there are, and this process's own number among them, or in its own group where that is another one. Asked
    /// whenever a wait for any of them begins: it takes no look at each.
    fn count_and_own(&self, context: u32) -> (u32, u32);

    /// Whether receives from any source in a context do without a process of it, which is lost.
    fn is_acknowledged(&self, _context: u32, _peer: Peer) -> bool {
        false
    }

    /// Whether the communicator of a context is revoked.
    fn is_revoked(&self, _context: u32) -> bool {
        false
    }

    /// Whether any is.
    fn is_any_revoked(&self) -> bool {
        false
    }
}

/// Every process of a job.
pub(crate) struct Everyone {
    pub me: Peer,
    pub size: u32,
}

impl Members for Everyone {
    fn contains(&self, _: u32, peer: Peer) -> bool {
        peer < self.size
    }

    fn member(&self, _: u32, number: u32) -> Option<Peer> {
        (number < self.size).then_some(number)
    }

    fn count_and_own(&self, _: u32) -> (u32, u32) {
        (self.size, self.me)
    }
}

/// Peers whose loss the user was told of, each once, for all lanes of the process. While the process leaves its job nobody is told: the
/// others leave too, and one that has ended has done what it had to. One that dies before it leaves is the launcher's to tell.
#[derive(Default)]
pub(crate) struct Reported {
    peers: Mutex<BTreeSet<Peer>>,
    /// Written by the thread that leaves or joins, before it tells the launcher; read where a peer is lost.
    is_leaving: AtomicBool,
}

impl Reported {
    pub fn report(&self, me: Peer, peer: Peer, why: &Lost) {
        if !self.is_leaving.load(Ordering::Acquire) && self.peers.lock().insert(peer) {
            // In one write, so that lines of several processes do not mix.
            let line = format!("weft: rank {me}: {why}\n");
            eprint!("{line}");
        }
    }

    pub fn set_leaving(&self, is_leaving: bool) {
        self.is_leaving.store(is_leaving, Ordering::Release);
    }

    #[cfg(test)]
    pub fn has_told(&self, peer: Peer) -> bool {
        self.peers.lock().contains(&peer)
    }
}

/// A lane's state between two calls of [`State::watch_awaited`](crate::state::State::watch_awaited).
#[derive(Default)]
pub(crate) struct Watched {
    pub idle_turns: u32,
    next: Option<Instant>,
    /// Contexts in which a message from any source was probed for in vain since then.
    pub probed: Vec<u32>,
    /// Of contexts in which one is awaited, the member that is watched next.
    pub next_members: Vec<(u32, u32)>,
}

/// Time between two looks at what waits for others, at least.
const WATCH_EVERY: Duration = Duration::from_millis(100);
/// The looks of a lane take one in so many parts of the time: each goes through all that waits, be that a million
/// receives.
const SHARE: u32 = 32;
/// The longest time between two, where one took long because the thread had no core.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

impl Watched {
    /// Whether it is time to look.
    pub fn is_due(&mut self, now: Instant) -> bool {
        now >= *self.next.get_or_insert(now + WATCH_EVERY)
    }

    /// A look is over.
    pub fn looked(&mut self, begun: Instant, now: Instant) {
        let pause = SHARE * now.saturating_duration_since(begun);
        self.next = Some(now + pause.clamp(WATCH_EVERY, LONGEST_PAUSE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks within a minute, of which each takes so long, of a thread that asks every millisecond.
    fn looks(each: Duration) -> u32 {
        let (mut watched, begun) = (Watched::default(), Instant::now());
        let (mut now, mut looks) = (begun, 0);
        while now < begun + Duration::from_secs(60) {
            now += Duration::from_millis(1);
            if watched.is_due(now) {
                watched.looked(now, now + each);
                now += each;
                looks += 1;
            }
        }
        looks
    }

    #[test]
    fn looking_takes_a_small_share_of_the_time() {
        assert!((590..600).contains(&looks(Duration::from_micros(50))));
        for each_ms in [4, 50, 200] {
            // The last one begins within the minute.
            let others = looks(Duration::from_millis(each_ms)) - 1;
            let share = others * each_ms as u32;
            assert!(
                share <= 60_000 / SHARE,
                "{each_ms} ms each: {share} ms in all"
            );
        }
        // However long one took that had no core, the next comes.
        assert!(looks(Duration::from_secs(5)) >= 3);
    }
}
