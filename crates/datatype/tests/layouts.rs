//! Derived datatypes against a naive type map: a list of (basic type, displacement), built by the rules of
//! MPI-5.0 §5.1 one entry at a time.

use proptest::prelude::*;
use weft_datatype::{Datatype, Envelope, Overflow, Predefined};

/// The oracle: entries in order, and bounds by the definitions of §5.1.
#[derive(Clone, Debug)]
struct TypeMap {
    /// Displacement and bytes of each basic element.
    entries: Vec<(isize, usize)>,
    lower: isize,
    upper: isize,
}

impl TypeMap {
    fn of(predefined: Predefined) -> TypeMap {
        use Predefined::*;
        let entries = match predefined {
            FloatInt | TwoInt | TwoReal | TwoInteger => vec![(0, 4), (4, 4)],
            DoubleInt | LongInt => vec![(0, 8), (8, 4)],
            TwoDoublePrecision => vec![(0, 8), (8, 8)],
            ShortInt => vec![(0, 2), (4, 4)],
            LongDoubleInt => vec![(0, 16), (16, 4)],
            _ => vec![(0, predefined.size())],
        };
        TypeMap {
            entries,
            lower: 0,
            upper: predefined.extent() as isize,
        }
    }

    fn extent(&self) -> isize {
        self.upper - self.lower
    }

    fn placed(&self, displacements: impl Iterator<Item = isize>) -> TypeMap {
        let mut map = TypeMap {
            entries: Vec::new(),
            lower: isize::MAX,
            upper: isize::MIN,
        };
        for displacement in displacements {
            map.entries.extend(
                self.entries
                    .iter()
                    .map(|&(at, bytes)| (at + displacement, bytes)),
            );
            map.lower = map.lower.min(self.lower + displacement);
            map.upper = map.upper.max(self.upper + displacement);
        }
        if map.entries.is_empty() {
            (map.lower, map.upper) = (0, 0);
        }
        map
    }

    /// User displacement of each packed byte of `count` elements.
    fn bytes(&self, count: usize) -> Vec<isize> {
        let element = |index: usize| {
            let start = index as isize * self.extent();
            self.entries
                .iter()
                .flat_map(move |&(at, bytes)| (0..bytes as isize).map(move |b| start + at + b))
        };
        (0..count).flat_map(element).collect()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Contiguous(usize),
    Vector(usize, usize, isize),
}

fn build(leaf: Predefined, steps: &[Step]) -> (Datatype, TypeMap) {
    let mut datatype = Datatype::from(leaf);
    let mut map = TypeMap::of(leaf);
    for step in steps {
        let extent = map.extent();
        (datatype, map) = match *step {
            Step::Contiguous(count) => (
                Datatype::contiguous(count, &datatype).unwrap(),
                map.placed((0..count as isize).map(|index| index * extent)),
            ),
            Step::Vector(count, blocklength, stride) => {
                let block = move |index: isize| {
                    (0..blocklength as isize).map(move |at| (index * stride + at) * extent)
                };
                (
                    Datatype::vector(count, blocklength, stride, &datatype).unwrap(),
                    map.placed((0..count as isize).flat_map(block)),
                )
            }
        };
    }
    (datatype, map)
}

fn leaf() -> impl Strategy<Value = Predefined> {
    prop_oneof![
        Just(Predefined::Char),
        Just(Predefined::Short),
        Just(Predefined::Int),
        Just(Predefined::Double),
        Just(Predefined::CDoubleComplex),
        Just(Predefined::CLongDoubleComplex),
        Just(Predefined::ShortInt),
        Just(Predefined::DoubleInt),
        Just(Predefined::LongDoubleInt),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0usize..4).prop_map(Step::Contiguous),
        (0usize..5, 0usize..4, -5isize..6).prop_map(|(c, b, s)| Step::Vector(c, b, s)),
    ]
}

fn check_bounds(datatype: &Datatype, map: &TypeMap) {
    let size: usize = map.entries.iter().map(|&(_, bytes)| bytes).sum();
    assert_eq!(datatype.size(), size);
    assert_eq!(
        (datatype.lower_bound(), datatype.extent()),
        (map.lower, map.extent())
    );
    let low = map.entries.iter().map(|&(at, _)| at).min().unwrap_or(0);
    let high = map
        .entries
        .iter()
        .map(|&(at, bytes)| at + bytes as isize)
        .max()
        .unwrap_or(0);
    assert_eq!(
        (datatype.true_lower_bound(), datatype.true_extent()),
        (low, high - low)
    );
}

proptest! {
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
    assert_eq!(vector.leaves(), (Predefined::Int, 4));
}

#[test]
fn dense_types_need_no_layout() {
    let int = Datatype::from(Predefined::Int);
    let dense = Datatype::vector(5, 2, 2, &int).unwrap();
    assert!(
        dense.is_contiguous(7)
            && dense
                .memory(std::ptr::null_mut(), 7)
                .unwrap()
                .layout
                .is_none()
    );
    let gaps = Datatype::vector(1, 2, 9, &int).unwrap();
    assert!(gaps.is_contiguous(100));
    let pair = Datatype::from(Predefined::DoubleInt);
    assert!(pair.is_contiguous(1) && !pair.is_contiguous(2));
    assert!(!Datatype::from(Predefined::ShortInt).is_contiguous(1));
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
    let rows = Datatype::contiguous(6, &vector).unwrap();
    assert!(matches!(
        rows.envelope(),
        Envelope::Contiguous { count: 6, .. }
    ));
    assert_eq!(
        (rows.predefined(), int.predefined()),
        (None, Some(Predefined::Int))
    );
}

#[test]
fn what_does_not_fit_is_an_error() {
    let int = Datatype::from(Predefined::Int);
    let huge = usize::MAX / 2;
    assert_eq!(Datatype::contiguous(huge, &int).err(), Some(Overflow));
    assert_eq!(Datatype::vector(huge, huge, 1, &int).err(), Some(Overflow));
    assert_eq!(
        Datatype::vector(2, 1, isize::MAX / 2, &int).err(),
        Some(Overflow)
    );
    assert_eq!(Datatype::vector(1 << 62, 1, 4, &int).err(), Some(Overflow));
    assert!(int.memory(std::ptr::null_mut(), huge).is_err());
    let large = Datatype::contiguous(1 << 60, &int).unwrap();
    assert_eq!(large.size(), 1 << 62);
    assert!(large.memory(std::ptr::null_mut(), 4).is_err());
}
