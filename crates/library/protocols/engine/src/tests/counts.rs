//! Every count, by an exchange of known make.

use weft_transport::loopback::Network;

use super::{engines, settle};
use crate::Counts;

#[test]
fn each_message_is_counted_once_by_its_protocol() {
    let network = Network::new(3, 4, 1000);
    let pair = engines(&network, 2);
    let mut short = [1; 100];
    let mut long = [2; 5000];
    let mut got = [0; 5000];
    assert_eq!(pair[0].counts(), Counts::default());
    let sends = [
        pair[0].send_to(1, 1, &mut short, false),
        pair[0].send_to(1, 2, &mut short, true),
        pair[0].send_to(1, 3, &mut long, false),
    ];
    for _ in 0..20 {
        pair[1].progress();
    }
    let before = pair[1].counts();
    assert_eq!((before.tally.unexpected, before.unexpected_now), (3, 3));
    assert_eq!(before.tally.unexpected_bytes, 200, "an RTS stores nothing");
    assert_eq!(before.posted_now, 0);
    let contexts = pair[1].waiting_contexts();
    let [one, others @ ..] = &contexts[..] else {
        panic!("three messages wait");
    };
    assert_eq!(others, [*one; 2]);
    for tag in 1..=3 {
        let receive = pair[1].receive_from(0, tag, &mut got);
        settle(&pair, 1, receive);
    }
    for send in sends {
        settle(&pair, 0, send);
    }
    let waiting = pair[1].receive_from(0, 9, &mut got);
    let (sender, receiver) = (pair[0].counts(), pair[1].counts());
    let sent = sender.tally;
    assert_eq!((sent.eager, sent.rts, sent.rts_only), (2, 1, 0));
    let came = receiver.tally;
    assert_eq!((came.unexpected, receiver.unexpected_now), (3, 0));
    assert_eq!(receiver.unexpected_bytes_now, 0);
    assert_eq!(receiver.posted_now, 1);
    assert_eq!((receiver.lanes, came.submitted), (1, 0));
    assert!(came.entries > before.tally.entries);
    assert!(receiver.matching_operations >= 6);
    assert!(receiver.matching_steps >= receiver.matching_operations);
    assert_eq!(pair[1].waiting_contexts(), [*one], "a receive waits");
    pair[1].cancel(waiting);
    pair[1].finish(waiting);
    assert!(pair[1].waiting_contexts().is_empty());
}
