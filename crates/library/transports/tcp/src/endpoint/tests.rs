use weft_contract::{an_unready_receiver_holds, offer, take, take_back_often};
use weft_transport::Endpoint;

use crate::Tcp;
use crate::frame::EAGER_BYTES;
use crate::world::{linked_pair, memory, turn};

weft_contract::tests!(Tcp);

#[test]
fn short_messages_pass_long_ones() {
    let (mut a, mut b) = linked_pair();
    let bytes = 64 << 20;
    let (mut data, mut got) = (vec![3; bytes], vec![0; bytes]);
    offer(&mut a, 1, memory(&mut data), 1);
    let descriptor = take(&mut a, &mut b);
    b.endpoint
        .bulk_receive(0, descriptor, bytes, memory(&mut got), 2)
        .unwrap();
    // Until data come, the connection for them is being made.
    let before = b.fabric.counters().received_bytes;
    turn(&mut [&mut a, &mut b], |all| {
        all[1].fabric.counters().received_bytes > before + (1 << 20)
    });
    while a.send(1, 77, b"short").is_err() {
        a.poll();
    }
    turn(&mut [&mut a, &mut b], |all| !all[1].log.packets.is_empty());
    assert!(b.log.received.is_empty(), "the long one is over");
    turn(&mut [&mut a, &mut b], |all| !all[1].log.received.is_empty());
    assert!(got == data);
}

#[test]
fn what_was_sent_unasked_may_be_sent_again_once_it_was_taken_back() {
    let (mut a, mut b) = linked_pair();
    take_back_often(&mut a, &mut b);
    let mut data = vec![8; 100_000];
    offer(&mut a, 1, memory(&mut data), 6);
    assert_eq!(
        take(&mut a, &mut b).0[2],
        100_000,
        "all of it comes unasked"
    );
}

#[test]
fn what_an_unready_receiver_holds_has_a_bound() {
    an_unready_receiver_holds(linked_pair(), |a, _, sent| {
        // What the kernels hold, and a little more.
        assert!(
            sent > 10 && sent * (EAGER_BYTES as u64) < 64 << 20,
            "{sent}"
        );
        assert!(!a.endpoint.arm(), "there is nothing to be done");
        a.endpoint.disarm();
    });
}
