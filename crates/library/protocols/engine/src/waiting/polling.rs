//! Programs that poll: they test or probe again and again, and call nothing that waits.
//!
//! Where others want the core, such a program keeps it, for a time slice of milliseconds, from the very rank whose message it polls
//! for. So after some polls that found nothing a thread makes way. Among ranks of the job that share cores it yields: they do so too,
//! and it is soon back. Where strangers want the core it naps, as a thread that yields to those who do not is put off for longer than
//! it has run. Where nothing is known of others it yields seldom, to find out, if at all ([`Crowd`](crate::waiting::Crowd)).

/// Polls in vain between two yields to ranks of the job.
const SHARED: u32 = 8;
/// The same between two naps: a few tens of microseconds of polling, as long as a nap.
const CROWDED: u32 = 64;
/// The same between two yields where nothing is known of others, and between two looks whether operations have waited
/// for long.
const SELDOM: u32 = 256;

/// Who else wants a thread's core, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    Unknown,
    /// Ranks of the job.
    Ranks,
    Strangers,
}

/// What a thread does that has polled in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterPoll {
    Keep,
    Yield,
    Nap,
}

/// The polls in vain of a thread.
#[derive(Clone, Copy, Default)]
pub(crate) struct Polls {
    /// Since it made way.
    kept: u32,
    /// While operations are under way, since it looked whether they have waited for long.
    beside: u32,
}

/// Counts one. Whether it is the last of so many, from which counting starts anew.
fn is_due(count: &mut u32, every: u32) -> bool {
    *count += 1;
    let is_due = *count >= every;
    if is_due {
        *count = 0;
    }
    is_due
}

impl Polls {
    pub const NONE: Polls = Polls { kept: 0, beside: 0 };

    /// One more.
    pub fn count(&mut self, others: Others) -> AfterPoll {
        let (every, way) = match others {
            Others::Unknown => (SELDOM, AfterPoll::Yield),
            Others::Ranks => (SHARED, AfterPoll::Yield),
            Others::Strangers => (CROWDED, AfterPoll::Nap),
        };
        match is_due(&mut self.kept, every) {
            true => way,
            false => AfterPoll::Keep,
        }
    }

    /// One more, while operations are under way: whether to look if they have waited for long.
    pub fn count_beside(&mut self) -> bool {
        is_due(&mut self.beside, SELDOM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_makes_way_once_in_so_many_polls() {
        let cases = [
            (Others::Unknown, SELDOM, AfterPoll::Yield),
            (Others::Ranks, SHARED, AfterPoll::Yield),
            (Others::Strangers, CROWDED, AfterPoll::Nap),
        ];
        for (others, every, way) in cases {
            let mut polls = Polls::NONE;
            for poll in 1..=3 * every {
                let due = if poll % every == 0 {
                    way
                } else {
                    AfterPoll::Keep
                };
                assert_eq!(polls.count(others), due, "{others:?}, poll {poll}");
            }
        }
    }

    #[test]
    fn one_that_learns_of_others_makes_way_at_once() {
        let mut polls = Polls::NONE;
        (1..SELDOM).for_each(|_| assert_eq!(polls.count(Others::Unknown), AfterPoll::Keep));
        assert_eq!(polls.count(Others::Ranks), AfterPoll::Yield);
    }
}
