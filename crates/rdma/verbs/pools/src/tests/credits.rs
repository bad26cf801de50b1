//! Credits against receive queues in which every buffer and every message is counted.

use std::collections::VecDeque;

use proptest::prelude::*;

use crate::{Credits, Kind, Pool, Violation};

#[derive(Clone, Copy, Debug)]
enum Message {
    Data { credits: u32 },
    Credits { credits: u32 },
}

/// One side, its receive queue as the adapter has it, and what is under way to it.
struct Side {
    credits: Credits,
    posted: u32,
    arriving: VecDeque<Message>,
}

impl Side {
    fn new(pool: &Pool) -> Side {
        Side {
            credits: Credits::new(pool),
            posted: pool.count + pool.reserve(),
            arriving: VecDeque::new(),
        }
    }

    /// The adapter takes a buffer for the message, or the receiver was not ready.
    fn receive(&mut self) -> bool {
        let Some(message) = self.arriving.pop_front() else {
            return false;
        };
        assert!(self.posted > 0, "{message:?}: receiver not ready");
        self.posted -= 1;
        match message {
            Message::Data { credits } => self.credits.data_arrived(credits).unwrap(),
            Message::Credits { credits } => {
                self.posted += 1;
                self.credits.credits_arrived(credits).unwrap();
            }
        }
        true
    }

    /// Posts buffers again: all that are needed, or, where memory is short, one.
    fn repost(&mut self, is_short: bool) -> bool {
        let needed = self.credits.buffers_needed();
        let posted = if is_short { needed.min(1) } else { needed };
        self.posted += posted;
        self.credits.buffers_posted(posted);
        posted > 0
    }
}

struct Pair {
    pool: Pool,
    sides: [Side; 2],
}

impl Pair {
    fn new(pool: Pool) -> Pair {
        Pair {
            pool,
            sides: [Side::new(&pool), Side::new(&pool)],
        }
    }

    fn send(&mut self, from: usize) -> bool {
        let credits = self.sides[from].credits.spend();
        let message = credits.map(|credits| Message::Data { credits });
        self.sides[1 - from].arriving.extend(message);
        message.is_some()
    }

    fn send_credits(&mut self, from: usize) -> bool {
        let credits = self.sides[from].credits.message_due();
        let message = credits.map(|credits| Message::Credits { credits });
        self.sides[1 - from].arriving.extend(message);
        message.is_some()
    }

    fn step(&mut self, action: u8) -> bool {
        let side = usize::from(action & 1);
        let done = match action >> 1 {
            0 => self.send(side),
            1 => self.sides[side].receive(),
            2 => self.sides[side].repost(false),
            3 => self.sides[side].repost(true),
            _ => self.send_credits(side),
        };
        self.check();
        done
    }

    /// The invariant above the code, and that each message under way has its buffer.
    fn check(&self) {
        for (sender, receiver) in [(0, 1), (1, 0)] {
            let arriving = &self.sides[receiver].arriving;
            let data = arriving
                .iter()
                .filter(|m| matches!(m, Message::Data { .. }));
            let back = self.sides[sender].arriving.iter().map(|message| {
                let (Message::Data { credits } | Message::Credits { credits }) = *message;
                credits
            });
            let posted = self.sides[receiver].posted - self.pool.reserve();
            let used = self.pool.count - posted;
            let sum = self.sides[sender].credits.held()
                + data.count() as u32
                + used
                + self.sides[receiver].credits.owed()
                + back.sum::<u32>();
            assert_eq!(sum, self.pool.count);
            assert!(arriving.len() as u32 <= self.sides[receiver].posted);
        }
    }
}

fn pool() -> impl Strategy<Value = Pool> {
    (1u32..12)
        .prop_flat_map(|count| (Just(count), 0..count))
        .prop_flat_map(|(count, low)| (Just((count, low)), 1..=low + 1))
        .prop_map(|((count, low), credits)| Pool {
            kind: Kind::PerPeer,
            bytes: 64,
            count,
            low,
            credits,
        })
}

proptest! {
    #[test]
    fn every_message_finds_a_buffer(
        pool in pool(),
        actions in prop::collection::vec(0u8..10, 0..400),
    ) {
        let mut pair = Pair::new(pool);
        for action in actions {
            pair.step(action);
        }
    }

    /// Whatever has happened, and though one side only ever receives.
    #[test]
    fn no_sender_waits_for_ever(
        pool in pool(),
        actions in prop::collection::vec(0u8..10, 0..100),
        sender in 0usize..2,
    ) {
        let mut pair = Pair::new(pool);
        for action in actions {
            pair.step(action);
        }
        for _ in 0..3 * pool.count {
            while (2..10).any(|action| action >> 1 != 3 && pair.step(action)) {}
            prop_assert!(pair.send(sender));
        }
    }
}

#[test]
fn a_peer_that_gives_too_many_credits_is_found_out() {
    let pool = Pool {
        kind: Kind::PerPeer,
        bytes: 64,
        count: 4,
        low: 2,
        credits: 1,
    };
    let mut credits = Credits::new(&pool);
    let violation = Violation::TooManyCredits {
        held: 4,
        given: 1,
        count: 4,
    };
    assert_eq!(credits.credits_arrived(1), Err(violation));
    assert_eq!(credits.spend(), Some(0));
    assert_eq!(credits.credits_arrived(1), Ok(()));
    assert!(credits.data_arrived(u32::MAX).is_err());
    assert_eq!(
        violation.to_string(),
        "1 credits given beside 4, of a pool of 4 buffers"
    );
}

#[test]
fn a_peer_that_sends_without_a_credit_is_found_out() {
    let pool = Pool {
        kind: Kind::PerPeer,
        bytes: 64,
        count: 2,
        low: 1,
        credits: 2,
    };
    let mut credits = Credits::new(&pool);
    assert_eq!(credits.data_arrived(0), Ok(()));
    // Posted again, but the peer does not know.
    credits.buffers_posted(credits.buffers_needed());
    assert_eq!(credits.data_arrived(0), Ok(()));
    assert_eq!(credits.data_arrived(0), Err(Violation::NoCredit));
}
