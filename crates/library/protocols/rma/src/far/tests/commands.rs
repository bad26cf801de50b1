//! Commands come back as they were written, and whatever else comes is refused.

use proptest::prelude::*;
use weft_datatype::{Op, Predefined};
use weft_sync::LockKind;

use crate::far::{Access, Block, Command, Commands, LONGEST_RESULT, Nonsense, Updating};

fn message(commands: &[Command]) -> Vec<u8> {
    let mut message = Vec::new();
    commands
        .iter()
        .for_each(|command| command.write(&mut message));
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
    let commands = [
        Command::Put {
            access: strided.clone(),
            data: &data,
        },
        Command::Announce {
            access: Access::run(-1, 1 << 40),
            tag: i32::MAX as u32,
        },
        Command::Get {
            access: strided.clone(),
            reply: 0,
        },
        Command::Update {
            access: strided.clone(),
            updating: Updating { op, basic },
            operands: &data,
            reply: None,
        },
        Command::Update {
            access: strided,
            updating: Updating {
                op: Op::NoOp,
                basic: Predefined::ShortInt,
            },
            operands: &[],
            reply: Some(3),
        },
        Command::Swap {
            offset: 5,
            basic: Predefined::Int32,
            compare: &data[..4],
            value: &data[4..8],
            reply: 300,
        },
        Command::Flush { reply: 4 },
        Command::Lock {
            kind: LockKind::Shared,
            reply: 5,
        },
        Command::Lock {
            kind: LockKind::Exclusive,
            reply: 6,
        },
        Command::Unlock,
        Command::Stop,
    ];
    let message = message(&commands);
    let found: Result<Vec<_>, _> = Commands::new(&message).collect();
    assert_eq!(found.as_deref(), Ok(&commands[..]));
    // Cut anywhere, it gives what is whole, and no more.
    for length in 0..message.len() {
        let found: Vec<_> = Commands::new(&message[..length]).collect();
        let whole = found.iter().take_while(|command| command.is_ok()).count();
        assert!(whole < commands.len() && found.len() - whole <= 1);
        assert!(found.iter().flatten().eq(&commands[..whole]));
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let update = |op, basic, access, operands, reply| Command::Update {
        access,
        updating: Updating { op, basic },
        operands,
        reply,
    };
    let long = (LONGEST_RESULT + 1) as u64;
    for command in [
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
        Command::Flush { reply: 1 << 31 },
        Command::Get {
            access: Access::run(0, 1 << 63),
            reply: 1,
        },
        Command::Get {
            access: Access::run(0, 0),
            reply: 1,
        },
    ] {
        let message = message(std::slice::from_ref(&command));
        let found: Vec<_> = Commands::new(&message).collect();
        assert_eq!(found, [Err(Nonsense)], "{command:?}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        for command in Commands::new(&bytes).flatten() {
            let again = message(std::slice::from_ref(&command));
            prop_assert_eq!(Commands::new(&again).next(), Some(Ok(command)));
        }
    }
}
