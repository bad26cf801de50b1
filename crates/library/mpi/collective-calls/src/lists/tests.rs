use std::cell::RefCell;
use std::collections::VecDeque;
use std::num::NonZeroU8;
use std::task::{Context, Waker};

use super::*;

/// Messages that come, whoever they are from, and those that went.
#[derive(Default)]
struct Wire {
    incoming: RefCell<VecDeque<Vec<u8>>>,
    sent: RefCell<Vec<Vec<u8>>>,
}

impl PointToPoint for Wire {
    type Request = usize;
    type Error = Error;

    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        2
    }

    fn oversubscribed(&self) -> bool {
        false
    }

    fn send(&self, _: usize, _: u32, memory: Memory) -> Result<usize> {
        let mut message = vec![0; memory.bytes];
        // SAFETY: the memory is a list's.
        unsafe { memory.read(0, &mut message) };
        self.sent.borrow_mut().push(message);
        Ok(memory.bytes)
    }

    fn send_failure(&self, _: usize, _: u32, _: NonZeroU8) -> Result<usize> {
        unreachable!("a list is no failure")
    }

    fn no_memory() -> Error {
        weft_reserve::NoMemory.into()
    }

    fn mark(error: &Error) -> NonZeroU8 {
        NonZeroU8::new(error.class as u8).unwrap()
    }

    fn receive(&self, _: usize, _: u32, memory: Memory) -> Result<usize> {
        let next = self.incoming.borrow_mut().pop_front();
        let message = next.ok_or_else(|| Error::new(Class::ProcAborted, "no more comes"))?;
        if message.len() > memory.bytes {
            return Err(Error::new(Class::Truncate, "longer"));
        }
        // SAFETY: the memory is a list's, and as long.
        unsafe { memory.write(0, &message) };
        Ok(message.len())
    }

    fn poll(&self, request: usize) -> Option<Result<usize>> {
        Some(Ok(request))
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nothing is waited for"),
    }
}

fn received(pieces: impl IntoIterator<Item = usize>, most: usize) -> Result<Vec<u8>> {
    let wire = Wire::default();
    let pieces: Vec<Vec<u8>> = pieces.into_iter().map(|bytes| vec![7; bytes]).collect();
    let print = print_message(&pieces.concat());
    wire.incoming.borrow_mut().extend(pieces);
    wire.incoming.borrow_mut().push_back(print);
    run(receive(&wire, 3, 0, most))
}

fn print_message(list: &[u8]) -> Vec<u8> {
    print_of(list).to_ne_bytes().to_vec()
}

#[test]
fn lists_of_every_length_arrive() {
    const MOST: usize = 3 * MOST_PIECE_BYTES;
    let edges = [
        0,
        FIRST_PIECE_BYTES,
        2 * FIRST_PIECE_BYTES,
        MOST_PIECE_BYTES,
        2 * MOST_PIECE_BYTES,
    ];
    let lengths = edges
        .iter()
        .flat_map(|&edge| [edge.saturating_sub(1), edge, edge + 1]);
    for bytes in lengths.chain([MOST]) {
        let list: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
        let wire = Wire::default();
        run(send(&wire, 1, 0, &list)).unwrap();
        wire.incoming.borrow_mut().extend(wire.sent.take());
        assert!(run(receive(&wire, 3, 0, MOST)).unwrap() == list, "{bytes}");
        assert!(wire.incoming.borrow().is_empty(), "{bytes}");
    }
}

#[test]
fn a_short_list_is_one_message_and_its_fingerprint() {
    let wire = Wire::default();
    let list = [5; FIRST_PIECE_BYTES - 1];
    run(send(&wire, 1, 0, &list)).unwrap();
    assert_eq!(wire.sent.take(), [list.to_vec(), print_message(&list)]);
}

#[test]
fn a_list_of_another_fingerprint_names_its_sender() {
    for at in [0, 8, 4095, 5000, 8191, 8192, 8200] {
        let wire = Wire::default();
        run(send(&wire, 1, 0, &[5; 8201])).unwrap();
        let mut sent = wire.sent.take();
        let mut before = 0;
        for message in &mut sent {
            if (before..before + message.len()).contains(&at) {
                message[at - before] ^= 16;
            }
            before += message.len();
        }
        wire.incoming.borrow_mut().extend(sent);
        let error = run(receive(&wire, 3, 0, 1 << 20)).unwrap_err();
        assert!(
            error.is_nonsense && error.to_string().starts_with("rank 3 "),
            "{at}"
        );
    }
}

#[test]
fn a_list_that_is_too_long_names_its_sender() {
    let pieces = [4096, 4096, 8192, 16384, 1];
    assert_eq!(received(pieces, 32_769).unwrap().len(), 32_769);
    let error = received(pieces, 16_384).unwrap_err();
    let wanted = "rank 3 told 32768 bytes and more, which is no list of at most 16384 bytes";
    assert_eq!((error.class, &*error.to_string()), (Class::Other, wanted));
}

#[test]
fn pieces_of_other_lengths_are_an_end_or_an_error() {
    assert_eq!(
        received([4097], 1 << 20).unwrap_err().class,
        Class::Truncate
    );
    assert_eq!(
        received([4095, 4096], 1 << 20).unwrap_err().class,
        Class::Truncate
    );
    assert_eq!(
        received([4096], 1 << 20).unwrap_err().class,
        Class::ProcAborted
    );
}

#[test]
fn all_lists_come_though_one_fails() {
    let wire = Wire::default();
    wire.incoming
        .borrow_mut()
        .extend([vec![1; 5000], vec![2; 3], print_message(&[2; 3])]);
    let exchange = Exchange {
        out: vec![(4, &[9; 2])],
        from: vec![0, 1],
        most: &|_| 100,
    };
    let (lists, outcome) = run(exchange.run(&wire, 0));
    assert_eq!(outcome.unwrap_err().class, Class::Truncate);
    assert_eq!(lists, [vec![], vec![2; 3]]);
    assert_eq!(wire.sent.take(), [vec![9; 2], print_message(&[9; 2])]);
}

#[test]
fn words_are_whole() {
    let words = [1, -1, i64::MIN, i64::MAX];
    assert_eq!(words_of(&bytes_of(&words)).unwrap(), words);
    assert_eq!(words_of(&[]).unwrap(), []);
    assert_eq!(words_of(&[0; 9]), None);
}
