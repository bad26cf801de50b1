//! Requests come back as they were written, and whatever else comes is refused.

use proptest::prelude::*;
use weft_datatype::{Op, Predefined};
use weft_sync::LockKind;

use crate::far::{Access, Block, LONGEST_RESULT, Nonsense, Request, Requests, Updating};

fn message(requests: &[Request]) -> Vec<u8> {
    let mut message = Vec::new();
    requests
        .iter()
        .for_each(|request| request.write(&mut message));
    message
}

#[test]
fn each_comes_back() {
    let strided = Access {
        repeats: 3,
        extent: -100,
        first: Block {
            offset: i64::MIN,
            length: 2,
            count: 2,
            stride: 1 << 40,
        },
        others: vec![Block::run(i64::MAX, 1)],
    };
    let data = [7u8; 15];
    let (op, basic) = (Op::Sum, Predefined::Int8);
    let requests = [
        Request::Put {
            access: strided.clone(),
            data: &data,
        },
        Request::Announce {
            access: Access::run(-1, 1 << 40),
            tag: i32::MAX as u32,
        },
        Request::Get {
            access: strided.clone(),
            reply: 0,
        },
        Request::Update {
            access: strided.clone(),
            updating: Updating { op, basic },
            operands: &data,
            reply: None,
        },
        Request::Update {
            access: strided,
            updating: Updating {
                op: Op::NoOp,
                basic: Predefined::ShortInt,
            },
            operands: &[],
            reply: Some(3),
        },
        Request::Swap {
            offset: 5,
            basic: Predefined::Int32,
            compare: &data[..4],
            value: &data[4..8],
            reply: 300,
        },
        Request::Flush { reply: 4 },
        Request::Lock {
            kind: LockKind::Shared,
            reply: 5,
        },
        Request::Lock {
            kind: LockKind::Exclusive,
            reply: 6,
        },
        Request::Unlock,
        Request::Stop,
    ];
    let message = message(&requests);
    let found: Result<Vec<_>, _> = Requests::new(&message).collect();
    assert_eq!(found.as_deref(), Ok(&requests[..]));
    // Cut anywhere, it gives what is whole, and no more.
    for length in 0..message.len() {
        let found: Vec<_> = Requests::new(&message[..length]).collect();
        let whole = found.iter().take_while(|request| request.is_ok()).count();
        assert!(whole < requests.len() && found.len() - whole <= 1);
        assert!(found.iter().flatten().eq(&requests[..whole]));
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let update = |op, basic, access, operands, reply| Request::Update {
        access,
        updating: Updating { op, basic },
        operands,
        reply,
    };
    let long = (LONGEST_RESULT + 1) as u64;
    for request in [
        update(
            Op::Band,
            Predefined::Double,
            Access::run(0, 1),
            &[0; 8],
            None,
        ),
        update(
            Op::NoOp,
            Predefined::Int8,
            Access::run(0, long),
            &[],
            Some(1),
        ),
        Request::Flush { reply: 1 << 31 },
        Request::Get {
            access: Access::run(0, 1 << 63),
            reply: 1,
        },
        Request::Get {
            access: Access::run(0, 0),
            reply: 1,
        },
    ] {
        let message = message(std::slice::from_ref(&request));
        let found: Vec<_> = Requests::new(&message).collect();
        assert_eq!(found, [Err(Nonsense)], "{request:?}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        for request in Requests::new(&bytes).flatten() {
            let again = message(std::slice::from_ref(&request));
            prop_assert_eq!(Requests::new(&again).next(), Some(Ok(request)));
        }
    }
}
