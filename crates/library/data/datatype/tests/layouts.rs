//! Derived datatypes against a naive type map: bounds, and which bytes a window of the packed data is.

mod typemap;

use proptest::prelude::*;
use typemap::{TypeMap, build, leaf, step};
use weft_datatype::{Datatype, Overflow, Predefined};

fn check_bounds(datatype: &Datatype, map: &TypeMap) {
    assert_eq!(datatype.size(), map.size());
    assert_eq!(
        (datatype.lower_bound(), datatype.extent()),
        (map.lower(), map.extent())
    );
    let (low, high) = map.data();
    assert_eq!(
        (datatype.true_lower_bound(), datatype.true_extent()),
        (low, high - low)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn windows_copy_what_the_type_map_says(
        leaf in leaf(),
        steps in prop::collection::vec(step(), 0..4),
        count in 0usize..4,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let (datatype, map) = build(leaf, &steps);
        check_bounds(&datatype, &map);
        let bytes = map.bytes(count);
        prop_assume!(bytes.len() < 20_000);
        let low = bytes.iter().copied().min().unwrap_or(0);
        let high = bytes.iter().copied().max().map_or(0, |byte| byte + 1);
        let pattern = |index: usize| (index * 37 % 251) as u8;
        let user: Vec<u8> = (0..(high - low) as usize).map(pattern).collect();
        let mut copy = user.clone();
        let memory = datatype.memory(copy.as_mut_ptr().wrapping_offset(-low), count).unwrap();
        prop_assert_eq!(memory.bytes, bytes.len());
        let dense = bytes.windows(2).all(|pair| pair[1] == pair[0] + 1);
        prop_assert!(dense || memory.layout.is_some());

        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        for window in cuts.windows(2) {
            let mut packed = vec![0; window[1] - window[0]];
            // SAFETY: the buffer has all bytes of the type map.
            unsafe { memory.read(window[0], &mut packed) };
            let wanted: Vec<u8> =
                bytes[window[0]..window[1]].iter().map(|&byte| user[(byte - low) as usize]).collect();
            prop_assert_eq!(packed, wanted);
        }

        // Unpacking, in reverse order of windows: the last of the writes to a byte wins, so only types
        // whose entries do not overlap.
        let mut distinct = bytes.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() == bytes.len() {
            let data: Vec<u8> = (0..bytes.len()).map(|index| !pattern(index + 5)).collect();
            for window in cuts.windows(2).rev() {
                // SAFETY: the buffer has all bytes of the type map.
                unsafe { memory.write(window[0], &data[window[0]..window[1]]) };
            }
            let mut wanted = user;
            bytes.iter().zip(&data).for_each(|(&byte, &value)| wanted[(byte - low) as usize] = value);
            prop_assert_eq!(copy, wanted);
        }
    }
}

#[test]
fn predefined_types_have_the_sizes_of_c_and_gfortran() {
    let sizes = [
        (Predefined::Char, 1, 1),
        (Predefined::Long, 8, 8),
        (Predefined::Wchar, 4, 4),
        (Predefined::LongDouble, 16, 16),
        (Predefined::CLongDoubleComplex, 32, 32),
        (Predefined::CBool, 1, 1),
        (Predefined::Logical, 4, 4),
        (Predefined::DoubleComplex, 16, 16),
        (Predefined::Real2, 2, 2),
        (Predefined::Complex32, 32, 32),
        (Predefined::Integer16, 16, 16),
        (Predefined::Logical16, 16, 16),
        (Predefined::Aint, 8, 8),
        (Predefined::FloatInt, 8, 8),
        (Predefined::DoubleInt, 12, 16),
        (Predefined::LongInt, 12, 16),
        (Predefined::TwoInt, 8, 8),
        (Predefined::ShortInt, 6, 8),
        (Predefined::LongDoubleInt, 20, 32),
        (Predefined::TwoDoublePrecision, 16, 16),
    ];
    for (predefined, size, extent) in sizes {
        assert_eq!(
            (predefined.size(), predefined.extent()),
            (size, extent),
            "{}",
            predefined.name()
        );
    }
    for &predefined in Predefined::ALL {
        check_bounds(&predefined.into(), &TypeMap::of(predefined));
    }
}

#[test]
fn dense_types_need_no_layout() {
    let int = Datatype::from(Predefined::Int);
    let dense = Datatype::vector(5, 2, 2, &int).unwrap();
    let layout =
        |datatype: &Datatype, count| datatype.memory(std::ptr::null_mut(), count).unwrap().layout;
    assert!(dense.is_contiguous(7) && layout(&dense, 7).is_none());
    let gaps = Datatype::vector(1, 2, 9, &int).unwrap();
    assert!(gaps.is_contiguous(100));
    let pair = Datatype::from(Predefined::DoubleInt);
    assert!(pair.is_contiguous(1) && !pair.is_contiguous(2));
    assert!(!Datatype::from(Predefined::ShortInt).is_contiguous(1));

    // A struct without holes, and a list of blocks that touch.
    let short = Datatype::from(Predefined::Short);
    let filled =
        Datatype::structure([2, 1].into(), [0, 4].into(), [short, int.clone()].into()).unwrap();
    assert!(filled.is_contiguous(9) && layout(&filled, 9).is_none());
    let touching = Datatype::indexed([1, 3, 2].into(), [4, 5, 8].into(), &int).unwrap();
    assert!(layout(&touching, 1).is_none() && touching.true_lower_bound() == 16);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let int = Datatype::from(Predefined::Int);
    let huge = usize::MAX / 2;
    let far = isize::MAX - 1;
    assert_eq!(Datatype::contiguous(huge, &int).err(), Some(Overflow));
    assert_eq!(Datatype::vector(huge, huge, 1, &int).err(), Some(Overflow));
    assert_eq!(
        Datatype::vector(2, 1, isize::MAX / 2, &int).err(),
        Some(Overflow)
    );
    assert_eq!(Datatype::vector(1 << 62, 1, 4, &int).err(), Some(Overflow));
    assert_eq!(
        Datatype::hindexed([1].into(), [far].into(), &int).err(),
        Some(Overflow)
    );
    assert_eq!(
        Datatype::indexed([1].into(), [far / 2].into(), &int).err(),
        Some(Overflow)
    );
    assert_eq!(Datatype::resized(&int, far, far).err(), Some(Overflow));
    let apart = Datatype::hindexed([1, 1].into(), [-far, far - 8].into(), &int);
    assert_eq!(apart.err(), Some(Overflow));
    assert!(int.memory(std::ptr::null_mut(), huge).is_err());
    let large = Datatype::contiguous(1 << 60, &int).unwrap();
    assert_eq!(large.size(), 1 << 62);
    assert!(large.memory(std::ptr::null_mut(), 4).is_err());
}

/// §5.1.7: set bounds outweigh the data's in whatever is built on the type.
#[test]
fn set_bounds_stay() {
    let int = Datatype::from(Predefined::Int);
    let small = Datatype::resized(&int, 0, 2).unwrap();
    let double = Datatype::from(Predefined::Double);
    let both = Datatype::structure([1, 1].into(), [0, 8].into(), [small, double].into()).unwrap();
    assert_eq!(
        (both.lower_bound(), both.extent(), both.true_extent()),
        (0, 2, 16)
    );
    let nothing = Datatype::contiguous(0, &int).unwrap();
    let marked = Datatype::resized(&nothing, -3, 10).unwrap();
    let twice = Datatype::contiguous(2, &marked).unwrap();
    assert_eq!(
        (twice.size(), twice.lower_bound(), twice.extent()),
        (0, -3, 20)
    );
    let again = Datatype::resized(&both, 4, 16).unwrap();
    assert_eq!((again.lower_bound(), again.extent()), (4, 16));
}

/// §5.1.6: the extent of C's struct.
#[test]
fn extents_are_aligned() {
    let types = [Predefined::Double.into(), Predefined::Char.into()];
    let record = Datatype::structure([1, 1].into(), [0, 8].into(), types.into()).unwrap();
    assert_eq!(
        (record.extent(), record.true_extent(), record.size()),
        (16, 9, 9)
    );

    // Blocks at odd places: from the first one's lower bound to the last one's upper bound, rounded up.
    let int = Datatype::from(Predefined::Int);
    let odd = Datatype::hvector(3, 4, 25, &int).unwrap();
    let again = Datatype::hvector(2, 3, 273, &odd).unwrap();
    assert_eq!(
        (odd.extent(), again.extent(), again.true_extent()),
        (68, 480, 475)
    );
}
