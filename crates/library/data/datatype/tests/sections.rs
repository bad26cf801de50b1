//! Datatypes in array sections against a list of where each virtual byte stands: packing, unpacking, runs.

mod typemap;

use proptest::prelude::*;
use typemap::{build, leaf, step};
use weft_datatype::{Dimension, Section};

/// The section of a dense array: every `step`-th element of each dimension, from the end if it is negative.
#[derive(Clone, Debug)]
struct Array {
    element: usize,
    /// Elements taken, and the step.
    dimensions: Vec<(usize, isize)>,
}

impl Array {
    fn dimensions(&self) -> Vec<Dimension> {
        let mut below = self.element as isize;
        let dimension = |&(extent, step): &(usize, isize)| {
            let stride = below * step;
            below *= extent as isize * step.abs();
            Dimension { extent, stride }
        };
        self.dimensions.iter().map(dimension).collect()
    }

    /// Displacement of each virtual byte from the first one, dimension by dimension.
    fn bytes(&self) -> Vec<isize> {
        let mut starts = vec![0];
        for Dimension { extent, stride } in self.dimensions() {
            let copies = (0..extent as isize).map(|index| index * stride);
            starts = copies
                .flat_map(|at| starts.iter().map(move |start| start + at))
                .collect();
        }
        let run = |start| (0..self.element as isize).map(move |byte| start + byte);
        starts.into_iter().flat_map(run).collect()
    }

    /// The same, its outermost dimension long enough for so many bytes.
    fn holding(mut self, bytes: usize) -> Array {
        let (_, inner) = self.dimensions.split_last().expect("dimensions");
        let row = inner.iter().map(|dimension| dimension.0).product::<usize>() * self.element;
        let outermost = self.dimensions.last_mut().expect("dimensions");
        outermost.0 = bytes.div_ceil(row).max(outermost.0);
        self
    }
}

fn array() -> impl Strategy<Value = Array> {
    let step = prop::sample::select(vec![1, 1, 2, 3, -1, -2]);
    let few = prop::collection::vec((1usize..5, step.clone()), 1..4);
    // As many as Fortran has.
    let many = prop::collection::vec((1usize..3, Just(-1)), 15);
    let element = prop::sample::select(vec![1, 3, 4, 8, 20]);
    (element, prop_oneof![4 => few, 1 => many]).prop_map(|(element, dimensions)| Array {
        element,
        dimensions,
    })
}

fn pattern(index: usize) -> u8 {
    (index * 37 % 251) as u8
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn elements_lie_one_behind_the_other(
        array in array(),
        leaf in leaf(),
        steps in prop::collection::vec(step(), 0..3),
        count in 0usize..4,
        beyond in 0usize..30,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let (old, map) = build(leaf, &steps);
        let entries = map.bytes(count);
        prop_assume!(entries.len() < 20_000);
        let low = entries.iter().copied().min().unwrap_or(0);
        let high = entries.iter().copied().max().map_or(0, |byte| byte + 1);
        // The first element's origin is at this virtual displacement.
        let origin = beyond as isize - low;
        prop_assume!(high - low < 1 << 18);
        let array = array.holding((high + origin) as usize);
        let stands = array.bytes();
        let bytes: Vec<isize> = entries.iter().map(|&at| stands[(at + origin) as usize]).collect();

        let lowest = stands.iter().copied().min().unwrap_or(0);
        let highest = stands.iter().copied().max().unwrap_or(0);
        prop_assume!(highest - lowest < 1 << 24);
        let before: Vec<u8> = (0..=(highest - lowest) as usize).map(pattern).collect();
        let mut memory_of_array = before.clone();
        let first = memory_of_array.as_mut_ptr().wrapping_offset(-lowest);
        let section = Section::new(first, array.element, &array.dimensions());
        let datatype = old.in_section(section);
        prop_assert_eq!(
            (datatype.size(), datatype.lower_bound(), datatype.extent(), datatype.true_lower_bound()),
            (old.size(), old.lower_bound(), old.extent(), old.true_lower_bound())
        );
        let memory = datatype.memory(first.wrapping_offset(origin), count).unwrap();
        prop_assert_eq!(memory.bytes, bytes.len());

        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        for window in cuts.windows(2) {
            let mut packed = vec![0; window[1] - window[0]];
            // SAFETY: the array holds all bytes of the section.
            unsafe { memory.read(window[0], &mut packed) };
            let wanted: Vec<u8> =
                bytes[window[0]..window[1]].iter().map(|&byte| before[(byte - lowest) as usize]).collect();
            prop_assert_eq!(packed, wanted);
        }

        // Type maps that do not overlap: of others the order of the writes would tell.
        let mut distinct = bytes.clone();
        distinct.sort_unstable();
        distinct.dedup();
        prop_assume!(distinct.len() == bytes.len());
        let data: Vec<u8> = (0..bytes.len()).map(|index| !pattern(index)).collect();
        for window in cuts.windows(2).rev() {
            // SAFETY: as above.
            unsafe { memory.write(window[0], &data[window[0]..window[1]]) };
        }
        let mut wanted = before;
        for (&byte, &value) in bytes.iter().zip(&data) {
            wanted[(byte - lowest) as usize] = value;
        }
        prop_assert!(memory_of_array == wanted, "unpacked elsewhere");
    }

    #[test]
    fn runs_are_where_the_elements_stand(array in array(), leaf in leaf(), steps in prop::collection::vec(step(), 0..3)) {
        let (old, map) = build(leaf, &steps);
        let entries = map.bytes(2);
        let low = entries.iter().copied().min().unwrap_or(0);
        let high = entries.iter().copied().max().unwrap_or(0);
        prop_assume!(entries.len() < 20_000 && low >= 0 && high < 1 << 18);
        let array = array.holding(high as usize + 1);
        let stands = array.bytes();
        let wanted: Vec<isize> = entries.iter().map(|&at| stands[at as usize]).collect();
        let base = std::ptr::without_provenance_mut(1 << 40);
        let datatype = old.in_section(Section::new(base, array.element, &array.dimensions()));
        let mut found = Vec::new();
        datatype.visit_runs(2, &mut |at, bytes| found.extend((0..bytes as isize).map(|byte| at + byte)));
        prop_assert_eq!(found, wanted);
    }
}
