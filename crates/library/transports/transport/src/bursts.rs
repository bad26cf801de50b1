//! Whether the packets of a burst may wait for their lane's next turn.
//!
//! Packets that are sent to one peer outside of turns, one right after the other, cost a system call or a doorbell each; in the lane's next
//! turn they would leave together. But nothing leaves between the calls of a program, and one that computes after its sends calls nobody for
//! long. So a burst waits only where the program is used to call again at once:
//! 1. The first packets to a peer after a turn leave at once, always.
//! 2. A lane *trusts* its program once so many bursts in a row were followed by a turn soon. Then the others of a burst wait, as long as
//!    it goes on, and none for longer than that: those of a long burst leave in so many parts.
//! 3. A turn that comes late ends the trust, unless a peer has no room, in which case what is left waits for turns anyway; it is not late
//!    within twice the time that the burst took, as receives for as many messages may be posted in between. Then twice as many bursts have to be good for the next. So a program that computes
//!    after its bursts has few of them delayed, however often it sends them, and the first is none of those.

use std::time::{Duration, Instant};

/// Packets to one peer that leave at once, a system call each.
const AT_ONCE: u32 = 2;
/// Packets that come faster than this are a burst.
const GAP: Duration = Duration::from_micros(30);
/// What waits is to leave within so long.
const SOON: Duration = Duration::from_micros(100);
/// Good bursts that are needed for trust, at first and at most.
const FIRST_NEEDED: u32 = 4;
const MOST_NEEDED: u32 = 1024;
/// After so many in a row what was before is forgotten.
const FORGETS: u32 = 4 * MOST_NEEDED;

/// What a lane knows of its program.
pub struct Habit {
    /// The lane's turn.
    turn: u32,
    /// When a packet of a burst was first and last sent, or told to wait, since the last turn.
    last: Option<(Instant, Instant)>,
    /// Good bursts in a row.
    good: u32,
    needed: u32,
}

/// The packets that were sent to one peer since its lane's last turn.
#[derive(Default)]
pub struct Burst {
    turn: u32,
    sent: u32,
    /// Since when some wait.
    waits: Option<Instant>,
}

impl Default for Habit {
    fn default() -> Habit {
        Habit {
            turn: 0,
            last: None,
            good: 0,
            needed: FIRST_NEEDED,
        }
    }
}

impl Habit {
    /// The lane's turn, by number.
    #[inline]
    pub fn number(&self) -> u32 {
        self.turn
    }

    fn is_trusted(&self) -> bool {
        self.good >= self.needed
    }

    /// A turn begins.
    #[inline]
    pub fn turn(&mut self, now: impl FnOnce() -> Instant) {
        self.turn = self.turn.wrapping_add(1);
        if let Some((first, last)) = self.last.take() {
            let soon = SOON.max(2 * last.saturating_duration_since(first));
            self.judge(now().saturating_duration_since(last) < soon);
        }
    }

    fn goes_on(&mut self, now: Instant) {
        let first = self.last.map_or(now, |(first, _)| first);
        self.last = Some((first, now));
    }

    /// What is sent finds no room, and leaves in turns whatever the program does: so may the others of the burst. Nothing follows from when the
    /// next turn comes.
    #[inline]
    pub fn has_no_room(&mut self) {
        if self.last.take().is_some() {
            self.judge(true);
        }
    }

    fn judge(&mut self, is_good: bool) {
        if !is_good {
            self.good = 0;
            self.needed = (2 * self.needed).min(MOST_NEEDED);
        } else if self.good < FORGETS {
            self.good += 1;
        } else {
            self.needed = FIRST_NEEDED;
        }
    }
}

impl Burst {
    fn enter(&mut self, habit: &Habit) {
        if self.turn != habit.turn {
            *self = Burst {
                turn: habit.turn,
                ..Burst::default()
            };
        }
    }

    /// A packet leaves at once.
    #[inline]
    pub fn sent(&mut self, habit: &mut Habit, now: impl FnOnce() -> Instant) {
        self.enter(habit);
        self.sent += 1;
        if self.sent >= AT_ONCE {
            habit.goes_on(now());
        }
    }

    /// Whether the next packet had better wait for the next turn.
    #[inline]
    pub fn waits(&mut self, habit: &mut Habit, now: impl FnOnce() -> Instant) -> bool {
        self.enter(habit);
        if self.sent < AT_ONCE || !habit.is_trusted() {
            return false;
        }
        let now = now();
        let is_within = |since: Instant, bound| now.saturating_duration_since(since) < bound;
        if !habit.last.is_some_and(|(_, last)| is_within(last, GAP)) {
            return false;
        }
        habit.goes_on(now);
        let waits = is_within(*self.waits.get_or_insert(now), SOON);
        if !waits {
            // With this one all leave, and those that follow wait anew.
            self.waits = None;
        }
        waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lane, a peer, and a clock that is set.
    struct Program {
        habit: Habit,
        burst: Burst,
        now: Instant,
    }

    impl Program {
        fn new() -> Program {
            Program {
                habit: Habit::default(),
                burst: Burst::default(),
                now: Instant::now(),
            }
        }

        /// Whether a packet that is sent after a pause leaves at once.
        fn sends(&mut self, pause: Duration) -> bool {
            self.now += pause;
            let leaves = !self.burst.waits(&mut self.habit, || self.now);
            if leaves {
                self.burst.sent(&mut self.habit, || self.now);
            }
            leaves
        }

        /// Packets, of so many sent one after the other, that leave before the turn, which comes after a pause.
        fn sends_and_turns(&mut self, packets: u32, pause: Duration) -> u32 {
            let left = (0..packets).filter(|_| self.sends(GAP / 100)).count();
            self.now += pause;
            self.habit.turn(|| self.now);
            left as u32
        }
    }

    #[test]
    fn a_burst_waits_once_turns_have_followed_at_once() {
        let mut program = Program::new();
        for _ in 0..FIRST_NEEDED {
            assert_eq!(program.sends_and_turns(64, GAP), 64);
        }
        for _ in 0..100 {
            assert_eq!(program.sends_and_turns(64, GAP), AT_ONCE);
        }
    }

    #[test]
    fn a_program_that_computes_after_its_bursts_has_them_sent() {
        let mut program = Program::new();
        for _ in 0..100 {
            assert_eq!(program.sends_and_turns(64, 2 * SOON), 64);
        }
        for _ in 0..MOST_NEEDED {
            assert_eq!(program.sends_and_turns(64, GAP), 64);
        }
        assert_eq!(program.sends_and_turns(64, GAP), AT_ONCE);
    }

    /// Whatever a program does, few of its bursts wait for long: each doubles what the next needs.
    #[test]
    fn delays_get_rarer() {
        let mut program = Program::new();
        let mut delayed = 0;
        for _ in 0..10_000 {
            // It computes whenever the lane has come to trust it.
            let trusted = program.habit.is_trusted();
            let left = program.sends_and_turns(10, if trusted { 2 * SOON } else { GAP });
            delayed += u32::from(left < 10);
        }
        assert!((2..20).contains(&delayed), "{delayed}");
    }

    #[test]
    fn a_long_good_time_is_a_new_beginning() {
        let mut program = Program::new();
        (0..20).for_each(|_| _ = program.sends_and_turns(10, 2 * SOON));
        (0..=FORGETS).for_each(|_| _ = program.sends_and_turns(10, GAP));
        program.sends_and_turns(10, 2 * SOON);
        (0..2 * FIRST_NEEDED).for_each(|_| _ = program.sends_and_turns(10, GAP));
        assert_eq!(program.sends_and_turns(10, GAP), AT_ONCE);
    }

    #[test]
    fn what_waits_leaves_soon_while_the_program_goes_on_sending() {
        let mut program = Program::new();
        (0..FIRST_NEEDED).for_each(|_| _ = program.sends_and_turns(10, GAP));
        let (mut last, mut left) = (program.now, 0);
        for _ in 0..100 {
            if program.sends(GAP / 2) {
                assert!(program.now - last <= SOON + GAP);
                (last, left) = (program.now, left + 1);
            }
        }
        assert!(left < 20, "{left} of 100 by themselves");
        // After a pause one leaves at once too.
        program.habit.turn(|| program.now);
        (0..5).for_each(|_| _ = program.sends(GAP / 100));
        assert!(!program.sends(GAP / 2) && program.sends(GAP));
    }

    #[test]
    fn a_burst_without_end_leaves_in_parts() {
        let mut program = Program::new();
        (0..FIRST_NEEDED).for_each(|_| _ = program.sends_and_turns(10, GAP));
        let parts = (10_000 * GAP / 100).div_duration_f32(SOON) as u32;
        let left = program.sends_and_turns(10_000, GAP);
        assert!((parts / 2..parts * 2).contains(&left), "{left}, {parts}");
    }

    #[test]
    fn a_turn_that_comes_late_as_there_is_no_room_ends_no_trust() {
        let mut program = Program::new();
        (0..FIRST_NEEDED).for_each(|_| _ = program.sends_and_turns(10, GAP));
        for _ in 0..10 {
            program.sends(GAP);
            program.sends(GAP / 100);
            program.habit.has_no_room();
            program.now += 10 * SOON;
            program.habit.turn(|| program.now);
        }
        assert_eq!(program.sends_and_turns(10, GAP), AT_ONCE);
    }

    #[test]
    fn bursts_that_find_no_room_may_wait() {
        let mut program = Program::new();
        for _ in 0..FIRST_NEEDED {
            for _ in 0..10 {
                assert!(program.sends(GAP / 100));
            }
            program.habit.has_no_room();
            program.now += 10 * SOON;
            program.habit.turn(|| program.now);
        }
        assert_eq!(program.sends_and_turns(64, GAP), AT_ONCE);
    }

    #[test]
    fn as_many_receives_as_sends_may_be_posted_before_the_turn() {
        let mut program = Program::new();
        (0..FIRST_NEEDED).for_each(|_| _ = program.sends_and_turns(10, GAP));
        let length = 10_000 * GAP / 100;
        for (pause, left) in [(length, AT_ONCE), (length, AT_ONCE), (3 * length, 10)] {
            program.sends_and_turns(10_000, pause);
            assert_eq!(program.sends_and_turns(10, GAP), left);
        }
    }
}
