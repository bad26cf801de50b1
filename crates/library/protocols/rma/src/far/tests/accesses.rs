//! Accesses against the list of their units.

use proptest::prelude::*;
use weft_datatype::{Datatype, Predefined};

use crate::far::access::written_bytes;
use crate::far::number::Reader;
use crate::far::{Access, Block, Pieces, Room, Unit};

/// Where each unit begins, one by one.
fn units(access: &Access, unit: Unit) -> Vec<i64> {
    let mut all = Vec::new();
    for repeat in 0..access.repeats as i64 {
        for block in access.blocks() {
            for run in 0..block.count as i64 {
                let begin = block.offset + repeat * access.extent + run * block.stride;
                all.extend((0..block.length as i64).map(|at| begin + at * unit.step as i64));
            }
        }
    }
    all
}

/// The same from where each byte of a datatype lies.
fn units_of(datatype: &Datatype, count: usize, offset: i64, unit: Unit) -> Vec<i64> {
    let mut bytes = Vec::new();
    for index in 0..count as i64 {
        let begin = offset + index * datatype.extent() as i64;
        datatype.visit_runs(1, &mut |at, run| {
            bytes.extend((0..run as i64).map(|byte| begin + at as i64 + byte));
        });
    }
    bytes.into_iter().step_by(unit.packed).collect()
}

fn basics() -> impl Strategy<Value = Predefined> {
    use Predefined::{Double, DoubleInt, Int8, Int32, ShortInt};
    prop_oneof![
        Just(Int8),
        Just(Int32),
        Just(Double),
        Just(DoubleInt),
        Just(ShortInt)
    ]
}

/// Datatypes of elements of one type, two constructors deep.
fn datatypes(basic: Predefined) -> impl Strategy<Value = Datatype> {
    let leaf = Just(Datatype::from(basic));
    leaf.prop_recursive(2, 8, 1, |inner| {
        prop_oneof![
            (inner.clone(), 1..4usize, 1..4usize, -9..9isize).prop_map(
                |(old, count, length, stride)| Datatype::vector(count, length, stride, &old)
                    .unwrap()
            ),
            (
                inner.clone(),
                prop::collection::vec((0..4usize, -20..20isize), 1..6)
            )
                .prop_map(|(old, blocks)| {
                    let (lengths, places): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
                    Datatype::indexed(lengths.into(), places.into(), &old).unwrap()
                }),
            (inner, -64..64isize)
                .prop_map(|(old, extent)| Datatype::resized(&old, 0, extent).unwrap()),
        ]
    })
}

fn cases() -> impl Strategy<Value = (Predefined, Datatype, usize, i64)> {
    basics().prop_flat_map(|basic| (Just(basic), datatypes(basic), 0..5usize, -100..100i64))
}

proptest! {
    #[test]
    fn the_units_of_a_datatype((basic, datatype, count, offset) in cases(), by_bytes: bool) {
        let (unit, of) = match by_bytes {
            true => (Unit::BYTE, Predefined::Byte),
            false => (Unit::of(basic), basic),
        };
        let wanted = units_of(&datatype, count, offset, unit);
        let Some(access) = Access::new(&datatype, count, offset, unit) else {
            prop_assert!(wanted.is_empty());
            return Ok(());
        };
        prop_assert_eq!(units(&access, unit), wanted.clone());
        // As the target makes a datatype of it.
        let (made, count, offset) = access.datatype(of).unwrap();
        prop_assert_eq!(units_of(&made, count, offset, unit), wanted);
        let mut message = Vec::new();
        access.write(&mut message);
        let mut reader = Reader(&message);
        prop_assert_eq!(Access::read(&mut reader, unit), Some(access));
        prop_assert!(reader.0.is_empty());
    }

    #[test]
    fn pieces_are_the_whole(
        (basic, datatype, count, offset) in cases(),
        by_bytes: bool,
        inline: bool,
        more in 0..300usize,
        data in 1..200usize,
        first: prop::sample::Index,
    ) {
        let unit = if by_bytes { Unit::BYTE } else { Unit::of(basic) };
        let Some(access) = Access::new(&datatype, count, offset, unit) else {
            return Ok(());
        };
        let data = data.max(unit.packed);
        let room = Room { message: Pieces::smallest_room(unit) + more, inline, data };
        let wanted = units(&access, unit);
        let first = first.index(wanted.len()) + 1;
        let mut pieces = Pieces::new(access.clone(), unit, first * unit.packed);
        let mut found = Vec::new();
        while let Some(piece) = pieces.next(room) {
            prop_assert_eq!(piece.begin, found.len() * unit.packed);
            let some = units(&piece.access, unit);
            prop_assert_eq!(piece.bytes, some.len() * unit.packed);
            prop_assert!(piece.bytes <= data);
            let mut message = Vec::new();
            piece.access.write(&mut message);
            let inlined = if inline { piece.bytes } else { 0 };
            prop_assert!(message.len() + inlined <= room.message);
            found.extend(some);
        }
        prop_assert_eq!(&found, &wanted[..first]);
        let bytes = wanted.len() * unit.packed;
        let mut whole = Pieces::new(access.clone(), unit, bytes);
        let longest = whole.longest(true);
        let room = Room { message: longest, inline: true, data: longest };
        prop_assert_eq!(whole.next(room).map(|piece| piece.access), Some(access.clone()));
        let mut message = Vec::new();
        access.write(&mut message);
        prop_assert!(message.len() + bytes <= longest);
    }

    #[test]
    fn a_block_is_as_long_as_it_is_said(offset: i64, length in 1u64.., count in 1u64.., stride: i64, before: i64) {
        let block = Block { offset, length, count, stride };
        let mut message = Vec::new();
        let mut access = Access::run(before, 1);
        access.write(&mut message);
        let alone = message.len();
        access.others.push(block);
        message.clear();
        access.write(&mut message);
        prop_assert_eq!(message.len() - alone, written_bytes(&block, before));
    }
}

/// What is regular is told in a few bytes, however much it is.
#[test]
fn regular_repetition_is_short() {
    let int = Datatype::from(Predefined::Int32);
    let vector = Datatype::vector(100_000, 3, 7, &int).unwrap();
    let access = Access::new(&vector, 1, 0, Unit::BYTE).unwrap();
    assert_eq!((access.repeats, access.others.len()), (1, 0));
    assert_eq!(access.first.count, 100_000);
    let double = Datatype::from(Predefined::Double);
    let fields = Datatype::structure([1, 1].into(), [0, 8].into(), [int, double].into()).unwrap();
    let fields = Datatype::resized(&fields, 0, 24).unwrap();
    let access = Access::new(&fields, 100_000, 0, Unit::BYTE).unwrap();
    assert_eq!((access.repeats, access.others.len()), (100_000, 1));
}
