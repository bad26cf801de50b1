//! The origin's part in short accesses: it asks the target, and waits a moment for the answer
//! ([`short_access`](crate::short_access)).

use std::time::{Duration, Instant};

use weft_sync::atomic::Ordering;
use weft_sync::{Answer, pause};
use weft_transport::Fabric;

use crate::control::CALLERS;
use crate::link::Link;
use crate::short_access::{Access, ShortAccess, What};
use crate::target::Fault;
use crate::window::Window;

/// How long an origin waits for the target to begin.
const PATIENCE: Duration = Duration::from_micros(2);
/// Pauses before each look at the answer.
const PAUSES: u32 = 4;
/// Looks at the answer between two at the time and at what others ask of this process.
const LOOKS: u32 = 8;

impl Window {
    /// Has the target make an access, if it is at hand: `fill` writes the data that go there, `take` reads those that came back.
    /// False if it did not make it, and will not.
    pub(crate) fn ask(
        &self,
        (rank, link): (u32, &Link),
        access: Access,
        fill: impl FnOnce(*mut u8),
        take: impl FnOnce(*const u8),
    ) -> Result<bool, Fault> {
        // Another thread of this process asks.
        let Some(mut attention) = link.attention.try_lock() else {
            return Ok(false);
        };
        if !access.what.takes(access.bytes) || !attention.is_worth_asking() {
            return Ok(false);
        }
        let caller = &link.control.header().callers.0[self.me as usize % CALLERS];
        if link.process.is_sleeping() {
            if attention.found_asleep() {
                caller.store(self.me + 1, Ordering::Release);
                link.process.call();
            }
            return Ok(false);
        }
        let short = link.control.short_access(self.me);
        if !matches!(access.what, What::Get) {
            short.prefetch(access.bytes);
        }
        fill(short.data());
        let watched = short.watched.load(Ordering::Relaxed) != 0;
        short.ask(access);
        if !watched {
            caller.store(self.me + 1, Ordering::Release);
            link.process.call();
        }
        match self.await_answer(rank, short)? {
            Answer::Done => {
                take(short.data());
                attention.answered();
                Ok(true)
            }
            Answer::Pending => {
                attention.missed();
                Ok(false)
            }
            Answer::Refused => Ok(false),
        }
    }

    /// Waits for the answer; pending if it was withdrawn.
    fn await_answer(&self, rank: u32, short: &ShortAccess) -> Result<Answer, Fault> {
        let mut begin = None;
        loop {
            for _ in 0..LOOKS {
                // A look takes the line from the target, which is about to write it.
                (0..PAUSES).for_each(|_| std::hint::spin_loop());
                match short.handoff.answer() {
                    Answer::Pending => {}
                    answer => return Ok(answer),
                }
            }
            if self.shm.signalled() >> weft_shm::SERVICES & 1 != 0 {
                self.shm.serve();
            }
            if begin.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
                if short.handoff.withdraw() {
                    return Ok(Answer::Pending);
                }
                return self.await_end(rank, short);
            }
        }
    }

    /// Waits for a target that has begun, and may have lost its core.
    #[cold]
    fn await_end(&self, rank: u32, short: &ShortAccess) -> Result<Answer, Fault> {
        let mut lives = self.watch(rank);
        let mut round = 0;
        loop {
            match short.handoff.answer() {
                Answer::Pending if lives() => pause(round),
                Answer::Pending => return Err(self.gone(rank)),
                answer => return Ok(answer),
            }
            round = round.saturating_add(1);
        }
    }
}
