//! Peers that read nothing for longer than their hosts may be silent.

use std::time::{Duration, Instant};

use weft_contract::{an_unready_receiver_holds, offer, take};
use weft_transport::{Endpoint, Fabric};

use crate::Options;
use crate::world::{Process, memory, options, turn, world_with};

const TIMEOUT: Duration = Duration::from_secs(1);

fn impatient_pair() -> (Process, Process) {
    let options = Options {
        timeout: Some(TIMEOUT),
        ..options()
    };
    let mut all = world_with(2, &options).all.into_iter();
    let (mut a, mut b) = (all.next().unwrap(), all.next().unwrap());
    weft_contract::link(&mut a, &mut b);
    (a, b)
}

/// These wait for three times as long as a host may be silent, now and then asleep, and lose nobody.
fn wait(processes: &mut [&mut Process]) {
    let begin = Instant::now();
    while begin.elapsed() < 3 * TIMEOUT {
        for process in processes.iter_mut() {
            process.poll();
            let ticket = process.fabric.prepare_sleep();
            if !process.endpoint.arm() {
                process.fabric.sleep(ticket, Some(20));
            }
            process.endpoint.disarm();
        }
    }
    for process in processes {
        assert!(process.log.lost.is_empty(), "{:?}", process.log.lost);
    }
}

/// Its kernel says that there is no room, which is an answer.
#[test]
fn a_peer_that_computes_for_long_is_not_lost() {
    an_unready_receiver_holds(impatient_pair(), |a, _, _| wait(&mut [a]));
}

#[test]
fn a_peer_that_receives_long_messages_late_is_not_lost() {
    let (mut a, mut b) = impatient_pair();
    let bytes = 1 << 20;
    let mut data = [1, 2, 3, 4].map(|byte| vec![byte; bytes]);
    let mut got = vec![vec![0; bytes]; data.len()];
    let mut offers = Vec::new();
    for (cookie, data) in data.iter_mut().enumerate() {
        offer(&mut a, 1, memory(data), cookie as u64);
        offers.push(take(&mut a, &mut b));
    }
    wait(&mut [&mut a, &mut b]);
    for (cookie, (offer, got)) in offers.into_iter().zip(&mut got).enumerate() {
        let taken = b
            .endpoint
            .bulk_receive(0, offer, bytes, memory(got), cookie as u64);
        taken.unwrap();
    }
    turn(&mut [&mut a, &mut b], |all| all[1].log.received.len() == 4);
    assert!(got == data);
}
