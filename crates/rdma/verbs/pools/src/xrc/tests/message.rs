//! Messages as bytes.

use proptest::prelude::*;

use crate::xrc::{Answer, Body, Message, Process, Reason, Request, SendQueuePair, SharedQueue};
use crate::{LEAST_BYTES, MOST_BYTES, MOST_POOLS};

const NUMBERS: std::ops::Range<u32> = 0..1 << 24;

fn queues() -> impl Strategy<Value = Vec<SharedQueue>> {
    let sizes = prop::collection::btree_set(LEAST_BYTES..=MOST_BYTES, 1..=MOST_POOLS);
    (sizes, any::<u32>()).prop_map(|(sizes, first)| {
        let queue = |(bytes, i): (u32, u32)| SharedQueue {
            bytes,
            number: first.wrapping_add(i),
        };
        sizes.into_iter().zip(0..).map(queue).collect()
    })
}

fn body() -> impl Strategy<Value = Body> {
    let reason = prop_oneof![Just(Reason::NoResources), Just(Reason::Leaving)];
    prop_oneof![
        (NUMBERS, NUMBERS).prop_map(|(number, first_packet)| Body::Request(Request::Make(
            SendQueuePair {
                number,
                first_packet
            }
        ))),
        (NUMBERS, NUMBERS)
            .prop_map(|(send, receive)| Body::Request(Request::Open { send, receive })),
        Just(Body::Request(Request::Close)),
        (NUMBERS, queues())
            .prop_map(|(receive, queues)| Body::Answer(Answer::Made { receive, queues })),
        queues().prop_map(|queues| Body::Answer(Answer::Opened { queues })),
        Just(Body::Answer(Answer::Gone)),
        reason.prop_map(|reason| Body::Answer(Answer::Refused(reason))),
        Just(Body::Answer(Answer::Closed)),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    (any::<u64>(), any::<u64>(), any::<u64>(), body()).prop_map(|(from, to, serial, body)| {
        Message {
            from: Process(from),
            to: Process(to),
            serial,
            body,
        }
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(message in message()) {
        let bytes = message.write();
        prop_assert!(bytes.len() <= Message::MOST_BYTES);
        prop_assert_eq!(Message::read(&bytes), Ok(message));
        for shorter in 0..bytes.len() {
            prop_assert!(Message::read(&bytes[..shorter]).is_err());
        }
        prop_assert!(Message::read(&[&bytes[..], &[0]].concat()).is_err());
    }

    #[test]
    fn a_changed_byte_makes_another_message_or_none(
        message in message(),
        place in any::<prop::sample::Index>(),
        change in 1u8..,
    ) {
        let mut bytes = message.write();
        bytes[place.index(message.write().len())] ^= change;
        if let Ok(other) = Message::read(&bytes) {
            prop_assert_ne!(&other, &message);
            prop_assert_eq!(other.write(), bytes);
        }
    }

    #[test]
    fn arbitrary_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Message::read(&bytes).is_err());
    }
}

#[test]
fn what_no_process_says_is_refused() {
    let made = |receive, queues: &[(u32, u32)]| {
        let queue = |&(bytes, number): &(u32, u32)| SharedQueue { bytes, number };
        let body = Body::Answer(Answer::Made {
            receive,
            queues: queues.iter().map(queue).collect(),
        });
        let (from, to) = (Process(1), Process(2));
        let message = Message {
            from,
            to,
            serial: 1,
            body,
        };
        let read = Message::read(&message.write());
        read.err().map(|error| error.to_string())
    };
    assert_eq!(made(1, &[(64, 1), (128, 2)]), None);
    let cases = [
        (made(1 << 24, &[(64, 1)]), "24 bits"),
        (made(1, &[]), "no queue"),
        (made(1, &[(64, 1); 17]), "too many"),
        (made(1, &[(128, 1), (64, 2)]), "ascend"),
        (made(1, &[(64, 1), (64, 2)]), "ascend"),
        (made(1, &[(63, 1)]), "no pool has"),
    ];
    for (text, expected) in cases {
        let text = text.expect(expected);
        assert!(text.contains(expected), "{text}");
    }
}
