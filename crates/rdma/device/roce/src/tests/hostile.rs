//! A peer that sends nonsense: whatever it does, nothing breaks, nothing is touched that it may not touch, and everything
//! ends once.

use super::oracle::Dice;
use super::pair::{Pair, Settings, local, read, send, work, write};
use super::side::{KEY, SHARED};
use crate::Operation;
use crate::host::{Atomic, Status};
use crate::packet::Service;

const SECOND: u64 = 1_000_000_000;

fn any_operation(dice: &mut Dice) -> (Operation, u32) {
    let address = SHARED + 8 * dice.below(1000);
    let length = dice.below(6000) as u32;
    match dice.below(4) {
        0 => (send(), length),
        1 => (write(address), length),
        2 => (read(address), length),
        _ => {
            let atomic = Atomic::FetchAdd { add: 1 };
            let operation = Operation::Atomic {
                address,
                rkey: KEY,
                atomic,
            };
            (operation, 8)
        }
    }
}

#[test]
fn packets_with_wrong_bytes() {
    for seed in 0..150 {
        let mut dice = Dice(seed);
        let service = match seed % 3 {
            0 => Service::Unreliable,
            1 => Service::ExtendedReliable,
            _ => Service::Reliable,
        };
        let mut pair = Pair::new(Settings {
            service,
            ..Settings::default()
        });
        pair.tamper = Some(Dice(seed + 1000));
        let mut posted = 0;
        for _ in 0..15 {
            for at in 0..2 {
                pair.sides[at].post_receive(posted, 600_000, 3000);
                let (operation, length) = any_operation(&mut dice);
                pair.post(at, work(posted, operation, local(0, length)));
            }
            posted += 1;
            pair.run(dice.below(3 * SECOND));
        }
        pair.tamper = None;
        pair.run(100 * SECOND);
        for side in &pair.sides {
            let tokens: Vec<u64> = side.sends_done.iter().map(|done| done.token).collect();
            let all: Vec<u64> = (0..tokens.len() as u64).collect();
            assert_eq!(tokens, all, "seed {seed}: in order, once");
            let failed = side
                .sends_done
                .iter()
                .position(|done| done.status != Status::Success);
            assert!(tokens.len() as u64 == posted || failed.is_none());
            // Neither the local buffers nor the receive buffer: nobody may write there.
            let untouched = &side.memory[700_000..SHARED as usize];
            assert!(untouched.iter().all(|byte| *byte == untouched[0]));
        }
    }
}
