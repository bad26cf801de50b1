//! Which processes a target looks at in each turn, as they ask for short accesses ([`short_access`](crate::short_access), rule 3).

use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;
use weft_sync::atomic::Ordering;

use crate::control::Control;
use crate::short_access::ShortAccess;

/// Turns without an access of a process until it is not watched any more.
const WATCHED_TURNS: u32 = 2000;
/// Looks of a target after an access, for the next one of the same process: about as long as that takes to come.
const LINGER: u32 = 16;
/// Accesses of a process that are made before the lanes and the others have their turn.
const AT_ONCE: u32 = 16;
/// Processes that are watched at once.
const WATCHED: usize = 8;

/// Whom a target watches, and for how many turns without an access.
#[derive(Default)]
pub struct Watched {
    any: AtomicBool,
    ranks: Mutex<Vec<(u32, u32)>>,
}

impl Watched {
    /// A turn: `make` makes the access that is asked for there, if any. Whether any was, and whether somebody is still watched.
    pub fn turn(
        &self,
        control: &Control,
        called: bool,
        mut make: impl FnMut(&ShortAccess) -> bool,
    ) -> (bool, bool) {
        if !called && !self.any.load(Ordering::Relaxed) {
            return (false, false);
        }
        let mut ranks = self.ranks.lock();
        let mut moved = false;
        if called {
            for rank in callers(control) {
                let is_new = !ranks.iter().any(|&(watched, _)| watched == rank);
                if is_new && ranks.len() < WATCHED {
                    control
                        .short_access(rank)
                        .watched
                        .store(1, Ordering::Relaxed);
                    ranks.push((rank, 0));
                } else if is_new {
                    moved |= make(control.short_access(rank));
                }
            }
        }
        ranks.retain_mut(|(rank, idle)| {
            let short = control.short_access(*rank);
            let made = make_some(short, &mut make);
            moved |= made;
            *idle = if made { 0 } else { *idle + 1 };
            let stays = *idle < WATCHED_TURNS;
            if !stays {
                short.watched.store(0, Ordering::Relaxed);
            }
            stays
        });
        self.any.store(!ranks.is_empty(), Ordering::Relaxed);
        (moved, !ranks.is_empty())
    }
}

/// Makes the access that is asked for there, if any, and those that follow at once, as after one there is often another. Whether
/// there was any.
fn make_some(short: &ShortAccess, make: &mut impl FnMut(&ShortAccess) -> bool) -> bool {
    let made = make(short);
    let mut left = if made { AT_ONCE } else { 0 };
    let mut looks = LINGER;
    while left > 0 && looks > 0 {
        std::hint::spin_loop();
        looks -= 1;
        if make(short) {
            (left, looks) = (left - 1, LINGER);
        }
    }
    made
}

/// Takes the ranks that call.
fn callers(control: &Control) -> impl Iterator<Item = u32> {
    let size = control.shape().size;
    let callers = control.header().callers.0.iter();
    callers
        .filter(|caller| caller.load(Ordering::Relaxed) != 0)
        .filter_map(|caller| caller.swap(0, Ordering::Acquire).checked_sub(1))
        .filter(move |&rank| rank < size)
}
