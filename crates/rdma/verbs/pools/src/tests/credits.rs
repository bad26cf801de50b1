//! Credits against receive queues in which every buffer and every message is counted.

use std::collections::VecDeque;

use proptest::prelude::*;

use crate::{OwedCredits, Pool, PoolKind, SendCredits, Violation};

#[derive(Clone, Copy, Debug)]
enum Message {
    Data { credits: u32 },
    Credits { credits: u32 },
}

/// One side, its receive queue as the adapter has it, and what is under way to it.
struct Side {
    pool: Pool,
    send: SendCredits,
    owed: OwedCredits,
    /// For the other's messages of credits alone.
    reserve: u32,
    posted: u32,
    arriving: VecDeque<Message>,
}

impl Side {
    fn new(own: &Pool, peer: &Pool) -> Side {
        Side {
            pool: *own,
            send: SendCredits::new(peer),
            owed: OwedCredits::new(own),
            reserve: peer.reserve(),
            posted: own.count + peer.reserve(),
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
            Message::Data { credits } => {
                self.owed.data_arrived().unwrap();
                self.send.given(credits).unwrap();
            }
            Message::Credits { credits } => {
                self.posted += 1;
                self.send.given(credits).unwrap();
            }
        }
        true
    }

    /// Posts buffers again: all that are needed, or, where memory is short, one.
    fn repost(&mut self, is_short: bool) -> bool {
        let needed = self.owed.buffers_needed();
        let posted = if is_short { needed.min(1) } else { needed };
        self.posted += posted;
        self.owed.buffers_posted(posted);
        posted > 0
    }
}

/// Two sides, whose pools may differ.
struct Pair {
    /// Credits that a data message has room for.
    carried: u32,
    sides: [Side; 2],
}

impl Pair {
    fn new([a, b]: [Pool; 2], carried: u32) -> Pair {
        Pair {
            carried,
            sides: [Side::new(&a, &b), Side::new(&b, &a)],
        }
    }

    fn send(&mut self, from: usize) -> bool {
        let side = &mut self.sides[from];
        let is_sent = side.send.spend();
        if is_sent {
            let credits = side.owed.take(self.carried);
            self.sides[1 - from]
                .arriving
                .push_back(Message::Data { credits });
        }
        is_sent
    }

    fn send_credits(&mut self, from: usize) -> bool {
        let credits = self.sides[from].owed.message_due();
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
            let (sender, receiver) = (&self.sides[sender], &self.sides[receiver]);
            let data = receiver
                .arriving
                .iter()
                .filter(|m| matches!(m, Message::Data { .. }));
            let back = sender.arriving.iter().map(|message| {
                let (Message::Data { credits } | Message::Credits { credits }) = *message;
                credits
            });
            let used = receiver.pool.count - (receiver.posted - receiver.reserve);
            let sum = sender.send.held()
                + data.count() as u32
                + used
                + receiver.owed.owed()
                + back.sum::<u32>();
            assert_eq!(sum, receiver.pool.count);
            assert!(receiver.arriving.len() as u32 <= receiver.posted);
        }
    }
}

fn pool() -> impl Strategy<Value = Pool> {
    (1u32..12)
        .prop_flat_map(|count| (Just(count), 0..count))
        .prop_flat_map(|(count, low)| (Just((count, low)), 1..=low + 1))
        .prop_map(|((count, low), credits)| Pool {
            kind: PoolKind::PerPeer,
            bytes: 64,
            count,
            low,
            credits,
        })
}

proptest! {
    #[test]
    fn every_message_finds_a_buffer(
        pools in [pool(), pool()],
        carried in 0u32..12,
        actions in prop::collection::vec(0u8..10, 0..400),
    ) {
        let mut pair = Pair::new(pools, carried);
        for action in actions {
            pair.step(action);
        }
    }

    /// Whatever has happened, and though one side only ever receives.
    #[test]
    fn no_sender_waits_for_ever(
        pools in [pool(), pool()],
        carried in 0u32..12,
        actions in prop::collection::vec(0u8..10, 0..100),
        sender in 0usize..2,
    ) {
        let mut pair = Pair::new(pools, carried);
        for action in actions {
            pair.step(action);
        }
        for _ in 0..36 {
            while (2..10).any(|action| action >> 1 != 3 && pair.step(action)) {}
            prop_assert!(pair.send(sender));
        }
    }
}

fn small(count: u32, low: u32, credits: u32) -> Pool {
    Pool {
        kind: PoolKind::PerPeer,
        bytes: 64,
        count,
        low,
        credits,
    }
}

#[test]
fn a_peer_that_gives_too_many_credits_is_found_out() {
    let mut credits = SendCredits::new(&small(4, 2, 1));
    let violation = Violation::TooManyCredits {
        held: 4,
        given: 1,
        count: 4,
    };
    assert_eq!(credits.given(1), Err(violation));
    assert!(credits.spend());
    assert_eq!(credits.given(1), Ok(()));
    assert!(credits.given(u32::MAX).is_err());
    assert_eq!(
        violation.to_string(),
        "1 credits given beside 4, of a pool of 4 buffers"
    );
}

#[test]
fn a_peer_that_sends_without_a_credit_is_found_out() {
    let mut owed = OwedCredits::new(&small(2, 1, 2));
    assert_eq!(owed.data_arrived(), Ok(()));
    // Posted again, but the peer does not know.
    owed.buffers_posted(owed.buffers_needed());
    assert_eq!(owed.data_arrived(), Ok(()));
    assert_eq!(owed.data_arrived(), Err(Violation::NoCredit));
}

#[test]
fn credits_that_a_message_has_no_room_for_stay_owed() {
    let mut owed = OwedCredits::new(&small(4, 3, 2));
    for _ in 0..3 {
        assert_eq!(owed.data_arrived(), Ok(()));
    }
    owed.buffers_posted(owed.buffers_needed());
    assert_eq!((owed.take(2), owed.owed(), owed.is_due()), (2, 1, false));
    assert_eq!((owed.message_due(), owed.take(2)), (None, 1));
}
