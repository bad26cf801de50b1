//! Basic elements and external32 against a naive type map; envelopes; Fortran's types.

mod typemap;

use proptest::prelude::*;
use typemap::{build, leaf, step};
use weft_datatype::{Datatype, Envelope, Predefined, TypeClass, match_size};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn elements_are_those_of_the_type_map(
        leaf in leaf(),
        steps in prop::collection::vec(step(), 0..4),
        count in 1usize..4,
    ) {
        let (datatype, map) = build(leaf, &steps);
        prop_assume!(map.size() * count < 20_000);
        let mut ends = vec![0];
        for _ in 0..count {
            for &(_, bytes) in &map.entries {
                ends.push(ends.last().unwrap() + bytes);
            }
        }
        for bytes in 0..=map.size() * count {
            let elements = ends.binary_search(&bytes).ok();
            prop_assert_eq!(datatype.elements(bytes), elements, "{} bytes", bytes);
        }
        for (elements, &bytes) in ends.iter().enumerate() {
            prop_assert_eq!(datatype.bytes_of(elements), Some(bytes));
        }
        prop_assert_eq!(datatype.elements(1 << 40).is_some(), datatype.size() > 0 && {
            let rest = (1usize << 40) % datatype.size();
            ends.contains(&rest)
        });
    }

    /// Of these types all numbers have one size on both sides, but complex ones: two.
    #[test]
    fn external32_reverses_every_number(
        leaf in prop::sample::select(vec![Predefined::Char, Predefined::Short, Predefined::Int, Predefined::Double,
            Predefined::FloatInt, Predefined::ShortInt, Predefined::DoubleInt, Predefined::Real16]),
        steps in prop::collection::vec(step(), 0..3),
        count in 0usize..3,
        times in 0usize..2,
    ) {
        let steps: Vec<_> = steps.into_iter().filter(|step| !matches!(step, typemap::Step::Struct(_))).collect();
        let (mut datatype, map) = build(leaf, &steps);
        // Longer than a window now and then.
        let count = count + times * 7000_usize.div_ceil(map.size().max(1));
        datatype = Datatype::dup(&datatype).unwrap();
        let native: Vec<u8> = (0..map.size() * count).map(|index| (index * 41 % 253) as u8).collect();
        let mut wanted = native.clone();
        let mut start = 0;
        for _ in 0..count {
            for &(_, bytes) in &map.entries {
                wanted[start..start + bytes].reverse();
                start += bytes;
            }
        }
        prop_assert_eq!(datatype.external_size(count), Some(wanted.len()));
        let mut external = vec![0; wanted.len()];
        datatype.to_external(count, |at, out| out.copy_from_slice(&native[at..at + out.len()]), &mut external);
        prop_assert_eq!(&external, &wanted);
        let mut back = vec![0; native.len()];
        datatype.from_external(count, &external, |at, data| back[at..at + data.len()].copy_from_slice(data));
        prop_assert_eq!(back, native);
    }
}

fn external(predefined: Predefined, native: &[u8]) -> Vec<u8> {
    let datatype = Datatype::from(predefined);
    let mut out = vec![0; datatype.external_size(1).unwrap()];
    datatype.to_external(
        1,
        |at, part| part.copy_from_slice(&native[at..at + part.len()]),
        &mut out,
    );
    let mut back = vec![0xee; native.len()];
    datatype.from_external(1, &out, |at, part| {
        back[at..at + part.len()].copy_from_slice(part)
    });
    assert_eq!(back, native, "{}", predefined.name());
    out
}

/// The table of §14.5.2 where sizes differ, and what has more than one number.
#[test]
fn external32_of_long_wide_and_extended_numbers() {
    assert_eq!(
        external(Predefined::Long, &(-2i64).to_ne_bytes()),
        [255, 255, 255, 254]
    );
    assert_eq!(
        external(Predefined::UnsignedLong, &0xfedc_ba98u64.to_ne_bytes()),
        [0xfe, 0xdc, 0xba, 0x98]
    );
    assert_eq!(
        external(Predefined::Wchar, &0x20acu32.to_ne_bytes()),
        [0x20, 0xac]
    );
    let complex = [1.0f32.to_ne_bytes(), (-2.0f32).to_ne_bytes()].concat();
    assert_eq!(
        external(Predefined::CFloatComplex, &complex),
        [0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0]
    );
    let located = [7i64.to_ne_bytes().to_vec(), 3i32.to_ne_bytes().to_vec()].concat();
    assert_eq!(
        external(Predefined::LongInt, &located),
        [0, 0, 0, 7, 0, 0, 0, 3]
    );
    if cfg!(target_arch = "x86_64") {
        let one = [0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f, 0, 0, 0, 0, 0, 0];
        let quad = external(Predefined::LongDouble, &one);
        assert_eq!(quad, [&[0x3f, 0xff][..], &[0; 14]].concat());
    }
    let sizes = [
        (Predefined::Packed, 1),
        (Predefined::CBool, 1),
        (Predefined::LongLong, 8),
        (Predefined::Aint, 8),
        (Predefined::Count, 8),
        (Predefined::Logical, 4),
        (Predefined::CLongDoubleComplex, 32),
        (Predefined::LongDoubleInt, 20),
        (Predefined::Real2, 2),
        (Predefined::Complex4, 4),
        (Predefined::Integer16, 16),
    ];
    for (predefined, bytes) in sizes {
        assert_eq!(
            Datatype::from(predefined).external_size(3),
            Some(3 * bytes),
            "{}",
            predefined.name()
        );
    }
    let large = Datatype::contiguous(1 << 58, &Predefined::Long.into()).unwrap();
    assert_eq!(
        (large.external_size(1), large.external_size(8)),
        (Some(1 << 60), None)
    );
}

#[test]
fn counts_are_of_whole_elements() {
    let int = Datatype::from(Predefined::Int);
    let pairs = Datatype::contiguous(3, &Predefined::ShortInt.into()).unwrap();
    let vector = Datatype::vector(2, 2, 3, &int).unwrap();
    let empty = Datatype::contiguous(0, &int).unwrap();
    assert_eq!(
        (int.count(8), int.count(9), int.elements(8), int.elements(9)),
        (Some(2), None, Some(2), None)
    );
    assert_eq!(
        (vector.count(32), vector.count(20), vector.elements(20)),
        (Some(2), None, Some(5))
    );
    assert_eq!(
        (pairs.count(18), pairs.elements(18), pairs.elements(8)),
        (Some(1), Some(6), Some(3))
    );
    assert_eq!(pairs.elements(9), None);
    assert_eq!(
        (empty.count(0), empty.elements(0), empty.count(4)),
        (Some(0), Some(0), None)
    );
    assert_eq!(
        (
            empty.bytes_of(0),
            empty.bytes_of(1),
            int.bytes_of(usize::MAX)
        ),
        (Some(0), None, None)
    );
}

#[test]
fn envelopes_tell_how_a_type_was_made() {
    let int = Datatype::from(Predefined::Int);
    let vector = Datatype::vector(3, 2, -4, &int).unwrap();
    let Envelope::Vector {
        count: 3,
        blocklength: 2,
        stride: -4,
        old,
    } = vector.envelope()
    else {
        panic!("{:?}", vector.envelope());
    };
    assert!(matches!(old.envelope(), Envelope::Named(Predefined::Int)));
    let rows = Datatype::contiguous(6, &vector).unwrap().made_large(true);
    assert!(matches!(
        rows.envelope(),
        Envelope::Contiguous { count: 6, .. }
    ));
    assert_eq!(
        (rows.is_large(), vector.is_large(), int.is_large()),
        (true, false, false)
    );
    assert_eq!(
        (rows.predefined(), int.predefined()),
        (None, Some(Predefined::Int))
    );
}

/// The kinds that gfortran's SELECTED_REAL_KIND and SELECTED_INT_KIND give.
#[test]
fn fortran_types_are_the_smallest_that_suffice() {
    let extended = if cfg!(target_arch = "x86_64") {
        Predefined::LongDouble
    } else {
        Predefined::Real16
    };
    let reals = [
        (Some(6), Some(37), Some(Predefined::Real4)),
        (Some(7), None, Some(Predefined::Real8)),
        (Some(15), Some(307), Some(Predefined::Real8)),
        (Some(16), None, Some(extended)),
        (None, Some(308), Some(extended)),
        (Some(33), Some(4931), Some(Predefined::Real16)),
        (Some(34), None, None),
        (None, Some(4932), None),
    ];
    for (precision, range, wanted) in reals {
        let found = Datatype::fortran_real(precision, range);
        assert_eq!(
            found.and_then(|found| found.predefined()),
            wanted,
            "{precision:?} {range:?}"
        );
        let complex = Datatype::fortran_complex(precision, range);
        assert_eq!(
            complex.map(|complex| complex.size()),
            wanted.map(|real| 2 * real.size())
        );
    }
    for (range, bytes) in [(1, 1), (2, 1), (4, 2), (9, 4), (10, 8), (18, 8), (38, 16)] {
        assert_eq!(Datatype::fortran_integer(range).unwrap().size(), bytes);
    }
    assert!(Datatype::fortran_integer(39).is_none());
    assert_eq!(match_size(TypeClass::Real, 8), Some(Predefined::Real8));
    assert_eq!(
        match_size(TypeClass::Complex, 8),
        Some(Predefined::Complex8)
    );
    assert_eq!(
        match_size(TypeClass::Integer, 16),
        Some(Predefined::Integer16)
    );
    assert_eq!(match_size(TypeClass::Real, 1), None);
}
