//! Accumulates of every operation and type, in many lengths and layouts, against one element after the other.

use std::thread;

use weft_datatype::{Datatype, Op, Predefined, kernel};

use super::{Side, served, window};
use crate::{Operation, Target, Update};

const WORDS: usize = 1500;

/// Memory that all map, that the kernel copies, that the target copies; and this process's own.
fn every_way(mut check: impl FnMut(&[Side], u32)) {
    for (user_memory, deny, rank) in [
        (false, false, 1),
        (true, false, 1),
        (true, true, 1),
        (true, false, 0),
    ] {
        let sides = window(2, WORDS, user_memory, deny);
        served(&sides, || check(&sides, rank));
    }
}

/// Bytes that are numbers in every representation: no byte is 0, and none makes an exponent that is no number's.
fn numbers(bytes: usize, seed: usize) -> Vec<u8> {
    (0..bytes)
        .map(|at| 1 + ((at * 7 + seed * 13 + at / 251) % 0x3e) as u8)
        .collect()
}

/// An update of some elements, and what is at the target before.
struct Case<'a> {
    basic: Predefined,
    op: Op,
    datatype: &'a Datatype,
    count: usize,
    offset: i64,
}

impl Case<'_> {
    fn target(&self, rank: u32) -> Target<'_> {
        Target {
            rank,
            offset: self.offset,
            datatype: self.datatype,
            count: self.count,
        }
    }

    /// The whole part and the packed old elements as they should be afterwards.
    fn wanted(&self, part: &mut [u8], operand: &[u8]) -> Vec<u8> {
        let kernel = kernel(self.op, self.basic).unwrap();
        let (size, extent) = (self.basic.size(), self.basic.extent());
        let element = Datatype::from(self.basic);
        // Places of the packed bytes, one by one.
        let mut places = Vec::new();
        self.datatype.visit_runs(self.count, &mut |at, run| {
            places.extend((0..run).map(|byte| (self.offset as isize + at) as usize + byte));
        });
        let old: Vec<u8> = places.iter().map(|&at| part[at]).collect();
        for (places, operand) in places.chunks(size).zip(operand.chunks(size)) {
            let mut input = vec![0u8; extent];
            let mut inout = vec![0u8; extent];
            let memory = |array: &mut [u8]| element.memory(array.as_mut_ptr(), 1).unwrap();
            let mut packed: Vec<u8> = places.iter().map(|&at| part[at]).collect();
            // SAFETY: all are one element.
            unsafe {
                memory(&mut input).write(0, operand);
                memory(&mut inout).write(0, &packed);
                kernel(input.as_ptr(), inout.as_mut_ptr(), 1);
                memory(&mut inout).read(0, &mut packed);
            }
            for (&at, byte) in places.iter().zip(packed) {
                part[at] = byte;
            }
        }
        old
    }

    fn check(&self, sides: &[Side], rank: u32, returns: bool) {
        let what = format!(
            "{} of {} {}, {} bytes at {}",
            self.op.name(),
            self.count,
            self.basic.name(),
            self.datatype.size(),
            self.offset
        );
        let mut part = numbers(8 * WORDS, 1);
        let bytes = self.datatype.size() * self.count;
        let operand = numbers(bytes, 2);
        let whole = Datatype::from(Predefined::Byte);
        let all = Target {
            rank,
            offset: 0,
            datatype: &whole,
            count: part.len(),
        };
        let memory =
            |bytes: &mut Vec<u8>| weft_memory::Memory::contiguous(bytes.as_mut_ptr(), bytes.len());
        let origin = &sides[0].window;
        // SAFETY: all buffers are as long as their targets.
        unsafe {
            origin.put(&all, &memory(&mut part)).unwrap();
            let mut old = vec![0; bytes];
            let result = match returns {
                true => old.as_mut_ptr(),
                false => std::ptr::null_mut(),
            };
            let operation = Operation::new(self.op, self.basic).unwrap();
            let target = self.target(rank);
            origin
                .update(&target, operation, operand.as_ptr(), result)
                .unwrap();
            let wanted = self.wanted(&mut part, &operand);
            assert!(!returns || old == wanted, "{what}: the old elements");
            let mut found = vec![0; part.len()];
            origin.get(&all, &memory(&mut found)).unwrap();
            let unlike = found.iter().zip(&part).position(|(a, b)| a != b);
            assert_eq!(unlike, None, "{what}: the byte at that place");
        }
    }
}

fn supported() -> impl Iterator<Item = (Op, Predefined)> {
    let with = |&basic| Op::ALL.iter().map(move |&op| (op, basic));
    let all = Predefined::ALL.iter().flat_map(with);
    all.filter(|&(op, basic)| Operation::new(op, basic).is_some())
}

#[test]
fn every_operation_on_every_type() {
    every_way(|sides, rank| {
        for (op, basic) in supported() {
            let datatype = Datatype::from(basic);
            for (count, offset) in [(1, 8), (3, 1), (70, 512 - 8)] {
                let case = Case {
                    basic,
                    op,
                    datatype: &datatype,
                    count,
                    offset,
                };
                case.check(sides, rank, count != 3);
            }
        }
    });
}

/// Lengths about the borders of stripes and of chunks, and elements that do not touch.
#[test]
fn every_length_and_layout() {
    every_way(|sides, rank| {
        for basic in [
            Predefined::Byte,
            Predefined::Int,
            Predefined::Double,
            Predefined::CDoubleComplex,
            Predefined::DoubleInt,
            Predefined::ShortInt,
        ] {
            let one = Datatype::from(basic);
            let apart = Datatype::vector(5, 2, 3, &one).unwrap();
            let block = Datatype::contiguous(7, &one).unwrap();
            let op = match basic {
                Predefined::DoubleInt | Predefined::ShortInt => Op::Maxloc,
                Predefined::Byte => Op::Bxor,
                _ => Op::Sum,
            };
            let most = 8 * WORDS - 64;
            for (datatype, counts) in [
                (
                    &one,
                    &[
                        0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 511, 512, 513, 700,
                    ][..],
                ),
                (&one, &[most / one.extent() as usize]),
                (&apart, &[1, 2, 13, 40]),
                (&block, &[1, 9, 10, 100]),
            ] {
                for (&count, returns) in counts
                    .iter()
                    .flat_map(|count| [(count, false), (count, true)])
                {
                    for offset in [0, 24, 33] {
                        let case = Case {
                            basic,
                            op,
                            datatype,
                            count,
                            offset,
                        };
                        case.check(sides, rank, returns);
                    }
                }
            }
        }
    });
}

/// Sums of integers by several processes and threads at once, of one element and of many, by all paths: none is lost.
#[test]
fn concurrent_sums_are_exact() {
    const ELEMENTS: usize = 300;
    const STEPS: u64 = 60;
    let sum = Operation::new(Op::Sum, Predefined::Uint64).unwrap();
    for (user_memory, deny) in [(false, false), (true, false), (true, true)] {
        let sides = window(3, ELEMENTS, user_memory, deny);
        served(&sides, || {
            thread::scope(|scope| {
                for side in &sides {
                    // The way there is found before it is asked for.
                    side.read(1, 0, 1).unwrap();
                    scope.spawn(move || (0..STEPS).for_each(|_| add_all(side, sum)));
                    scope.spawn(move || (0..STEPS).for_each(|_| add_every_third(side, sum)));
                    scope.spawn(move || (0..STEPS).for_each(|_| add_one_by_one(side)));
                }
            });
            let found = sides[0].read(1, 0, ELEMENTS).unwrap();
            for (at, &value) in found.iter().enumerate() {
                let third = if at % 3 == 0 { 2 } else { 0 };
                let one = if at % 10 == 0 { 3 } else { 0 };
                assert_eq!(value, 3 * STEPS * (1 + third + one), "element {at}");
            }
        });
    }

    fn add_all(side: &Side, sum: Operation) {
        let ones = [1u64; ELEMENTS];
        let datatype = Datatype::from(Predefined::Uint64);
        let target = side.target(1, 0, &datatype, ELEMENTS);
        let direct = side.window.direct(1, 0, size_of_val(&ones));
        let buffers = (ones.as_ptr().cast(), std::ptr::null_mut());
        // SAFETY: the operand has as many elements as the target.
        unsafe {
            let done = direct
                .is_some_and(|direct| side.window.update_direct(direct, sum, ELEMENTS, buffers));
            if !done {
                side.window
                    .update(&target, sum, buffers.0, buffers.1)
                    .unwrap();
            }
        }
    }

    fn add_every_third(side: &Side, sum: Operation) {
        let twos = [2u64; ELEMENTS / 3];
        let datatype = Datatype::vector(ELEMENTS / 3, 1, 3, &Predefined::Uint64.into()).unwrap();
        let target = side.target(1, 0, &datatype, 1);
        let operand = twos.as_ptr().cast();
        // SAFETY: as above.
        unsafe {
            side.window
                .update(&target, sum, operand, std::ptr::null_mut())
        }
        .unwrap();
    }

    fn add_one_by_one(side: &Side) {
        for at in (0..ELEMENTS as i64).step_by(10) {
            let word = side
                .window
                .direct(1, at, 8)
                .and_then(|direct| direct.word(8));
            let Some(word) = word else {
                side.add(1, at, 3);
                continue;
            };
            let three = 3u64;
            let (operand, result) = ((&raw const three).cast(), std::ptr::null_mut());
            // SAFETY: the operand is a word.
            unsafe { side.window.update_word(word, Update::Add, operand, result) };
        }
    }
}
