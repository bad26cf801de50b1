//! The oracle: a type map written out entry by entry, by the rules of MPI-5.0 §5.1, and random constructors.
#![allow(dead_code)]

use proptest::prelude::*;
use weft_datatype::{Darray, Datatype, Distribution, Order, Predefined, Subarray};

#[derive(Clone, Debug)]
pub struct TypeMap {
    /// Displacement and bytes of each basic element.
    pub entries: Vec<(isize, usize)>,
    /// Set bounds: lower and upper ones.
    pub markers: Vec<(isize, isize)>,
    /// Bounds of the types it is made of.
    pub parts: Vec<(isize, isize)>,
    pub alignment: isize,
}

impl TypeMap {
    pub fn of(predefined: Predefined) -> TypeMap {
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
            markers: Vec::new(),
            parts: vec![(0, predefined.extent() as isize)],
            alignment: predefined.alignment() as isize,
        }
    }

    pub fn empty() -> TypeMap {
        TypeMap {
            entries: Vec::new(),
            markers: Vec::new(),
            parts: Vec::new(),
            alignment: 1,
        }
    }

    pub fn lower(&self) -> isize {
        let marked = self.markers.iter().map(|marker| marker.0).min();
        marked
            .or(self.parts.iter().map(|part| part.0).min())
            .unwrap_or(0)
    }

    /// §5.1.6: without a set bound, rounded up to the alignment.
    pub fn extent(&self) -> isize {
        let marked = self.markers.iter().map(|marker| marker.1).max();
        match marked {
            Some(upper) => upper - self.lower(),
            None => {
                let low = self.lower();
                let high = self.parts.iter().map(|part| part.1).max().unwrap_or(0);
                let over = (high - low) % self.alignment;
                high - low + if over > 0 { self.alignment - over } else { 0 }
            }
        }
    }

    /// The true bounds.
    pub fn data(&self) -> (isize, isize) {
        let ends = self.entries.iter().map(|&(at, bytes)| at + bytes as isize);
        let low = self.entries.iter().map(|&(at, _)| at).min().unwrap_or(0);
        (low, ends.max().unwrap_or(0))
    }

    pub fn size(&self) -> usize {
        self.entries.iter().map(|&(_, bytes)| bytes).sum()
    }

    fn append(&mut self, other: &TypeMap, by: isize) {
        let moved = |&(at, bytes): &(isize, usize)| (at + by, bytes);
        self.entries.extend(other.entries.iter().map(moved));
        let markers = other
            .markers
            .iter()
            .map(|&(lower, upper)| (lower + by, upper + by));
        self.markers.extend(markers);
        if !other.entries.is_empty() {
            let lower = other.lower() + by;
            self.parts.push((lower, lower + other.extent()));
            self.alignment = self.alignment.max(other.alignment);
        }
    }

    fn placed(&self, displacements: impl IntoIterator<Item = isize>) -> TypeMap {
        let mut map = TypeMap::empty();
        displacements
            .into_iter()
            .for_each(|by| map.append(self, by));
        map
    }

    /// Blocks of (start in bytes, length).
    fn blocks(&self, blocks: &[(isize, usize)]) -> TypeMap {
        let extent = self.extent();
        self.placed(blocks.iter().flat_map(|&(start, length)| {
            (0..length as isize).map(move |index| start + index * extent)
        }))
    }

    /// User displacement of each packed byte of `count` elements.
    pub fn bytes(&self, count: usize) -> Vec<isize> {
        let element = |index: usize| {
            let start = index as isize * self.extent();
            let run = move |&(at, bytes): &(isize, usize)| {
                (0..bytes as isize).map(move |b| start + at + b)
            };
            self.entries.iter().flat_map(run)
        };
        (0..count).flat_map(element).collect()
    }
}

/// A constructor applied to the type before; displacements and strides in elements or bytes as the standard has it.
#[derive(Clone, Debug)]
pub enum Step {
    Dup,
    Contiguous(usize),
    Vector(usize, usize, isize),
    Hvector(usize, usize, isize),
    Indexed(Vec<(isize, usize)>),
    Hindexed(Vec<(isize, usize)>),
    IndexedBlock(usize, Vec<isize>),
    HindexedBlock(usize, Vec<isize>),
    /// The type before it and others, so many of each at a displacement.
    Struct(Vec<(isize, usize, Option<Predefined>)>),
    Resized(isize, isize),
    Subarray(Subarray),
    Darray(Darray),
}

fn split<T: Copy, U: Copy>(pairs: &[(T, U)]) -> (Box<[U]>, Box<[T]>) {
    (
        pairs.iter().map(|p| p.1).collect(),
        pairs.iter().map(|p| p.0).collect(),
    )
}

fn apply(step: &Step, datatype: &Datatype, map: &TypeMap) -> (Datatype, TypeMap) {
    let extent = map.extent();
    let starts = |list: &[isize], length: usize, unit: isize| -> Vec<(isize, usize)> {
        list.iter().map(|at| (at * unit, length)).collect()
    };
    let scaled = |list: &[(isize, usize)]| -> Vec<(isize, usize)> {
        list.iter()
            .map(|&(at, length)| (at * extent, length))
            .collect()
    };
    let strided = |count: usize, length: usize, stride: isize| -> Vec<(isize, usize)> {
        (0..count as isize)
            .map(|index| (index * stride, length))
            .collect()
    };
    match step {
        Step::Dup => (Datatype::dup(datatype).unwrap(), map.clone()),
        Step::Contiguous(count) => (
            Datatype::contiguous(*count, datatype).unwrap(),
            map.blocks(&[(0, *count)]),
        ),
        Step::Vector(count, length, stride) => (
            Datatype::vector(*count, *length, *stride, datatype).unwrap(),
            map.blocks(&strided(*count, *length, *stride * extent)),
        ),
        Step::Hvector(count, length, stride) => (
            Datatype::hvector(*count, *length, *stride, datatype).unwrap(),
            map.blocks(&strided(*count, *length, *stride)),
        ),
        Step::Indexed(list) => {
            let (lengths, places) = split(list);
            (
                Datatype::indexed(lengths, places, datatype).unwrap(),
                map.blocks(&scaled(list)),
            )
        }
        Step::Hindexed(list) => {
            let (lengths, places) = split(list);
            (
                Datatype::hindexed(lengths, places, datatype).unwrap(),
                map.blocks(list),
            )
        }
        Step::IndexedBlock(length, list) => (
            Datatype::indexed_block(*length, list.as_slice().into(), datatype).unwrap(),
            map.blocks(&starts(list, *length, extent)),
        ),
        Step::HindexedBlock(length, list) => (
            Datatype::hindexed_block(*length, list.as_slice().into(), datatype).unwrap(),
            map.blocks(&starts(list, *length, 1)),
        ),
        Step::Struct(fields) => structure(fields, datatype, map),
        Step::Resized(lower, extent) => {
            let mut resized = map.clone();
            resized.markers = vec![(*lower, lower + extent)];
            (
                Datatype::resized(datatype, *lower, *extent).unwrap(),
                resized,
            )
        }
        Step::Subarray(array) => (
            Datatype::subarray(array.clone(), datatype).unwrap(),
            whole_array(map, &array.sizes, array.order, |dimension| {
                let start = array.starts[dimension];
                (start..start + array.subsizes[dimension]).collect()
            }),
        ),
        Step::Darray(array) => (
            Datatype::darray(array.clone(), datatype).unwrap(),
            whole_array(map, &array.sizes, array.order, |dimension| {
                owned(array, dimension)
            }),
        ),
    }
}

fn structure(
    fields: &[(isize, usize, Option<Predefined>)],
    datatype: &Datatype,
    map: &TypeMap,
) -> (Datatype, TypeMap) {
    let types = fields
        .iter()
        .map(|field| field.2.map_or(datatype.clone(), Datatype::from))
        .collect();
    let lengths = fields.iter().map(|field| field.1).collect();
    let places = fields.iter().map(|field| field.0).collect();
    let mut whole = TypeMap::empty();
    for &(at, length, other) in fields {
        let part = other.map_or(map.clone(), TypeMap::of);
        whole.append(&part.blocks(&[(at, length)]), 0);
    }
    (Datatype::structure(lengths, places, types).unwrap(), whole)
}

/// The elements of an array whose index in each dimension is among those that `taken` lists, in storage order.
fn whole_array(
    map: &TypeMap,
    sizes: &[usize],
    order: Order,
    taken: impl Fn(usize) -> Vec<usize>,
) -> TypeMap {
    let dimensions: Vec<usize> = match order {
        Order::C => (0..sizes.len()).collect(),
        Order::Fortran => (0..sizes.len()).rev().collect(),
    };
    // From the slowest dimension on, the places of all elements so far.
    let mut places = vec![0];
    for &dimension in &dimensions {
        let indices = taken(dimension);
        places = places
            .iter()
            .flat_map(|place| {
                indices
                    .iter()
                    .map(move |index| place * sizes[dimension] + index)
            })
            .collect();
    }
    let extent = map.extent();
    let mut part = map.placed(places.iter().map(|&place| place as isize * extent));
    part.markers = vec![(0, sizes.iter().product::<usize>() as isize * extent)];
    part
}

/// §5.1.4 element by element: which indices of a dimension belong to the process.
fn owned(array: &Darray, dimension: usize) -> Vec<usize> {
    let (mut rank, mut grid) = (array.rank, array.size);
    let mut coordinate = 0;
    for (at, &processes) in array.processes.iter().enumerate() {
        grid /= processes;
        if at == dimension {
            coordinate = rank / grid;
        }
        rank %= grid;
    }
    let (size, processes) = (array.sizes[dimension], array.processes[dimension]);
    let block = match array.distributions[dimension] {
        Distribution::None => return (0..size).collect(),
        Distribution::Block => array.blocks[dimension].unwrap_or(size.div_ceil(processes)),
        Distribution::Cyclic => array.blocks[dimension].unwrap_or(1),
    };
    (0..size)
        .filter(|index| index / block % processes == coordinate)
        .collect()
}

pub fn build(leaf: Predefined, steps: &[Step]) -> (Datatype, TypeMap) {
    let first = (Datatype::from(leaf), TypeMap::of(leaf));
    steps.iter().fold(first, |(datatype, map), step| {
        // What grows too large is left as it is.
        if map.entries.len() > 3000 || map.extent().abs() > 1 << 20 {
            return (datatype, map);
        }
        apply(step, &datatype, &map)
    })
}

pub fn leaf() -> impl Strategy<Value = Predefined> {
    use Predefined::*;
    prop::sample::select(vec![
        Char,
        Short,
        Int,
        Double,
        CDoubleComplex,
        CLongDoubleComplex,
        ShortInt,
        DoubleInt,
        LongDoubleInt,
    ])
}

fn order() -> impl Strategy<Value = Order> {
    prop::sample::select(vec![Order::C, Order::Fortran])
}

fn subarray() -> impl Strategy<Value = Step> {
    let dimension = (1usize..4, 0usize..3, 0usize..3)
        .prop_map(|(part, before, after)| (before + part + after, part, before));
    (prop::collection::vec(dimension, 1..4), order()).prop_map(|(dimensions, order)| {
        Step::Subarray(Subarray {
            sizes: dimensions.iter().map(|d| d.0).collect(),
            subsizes: dimensions.iter().map(|d| d.1).collect(),
            starts: dimensions.iter().map(|d| d.2).collect(),
            order,
        })
    })
}

fn darray() -> impl Strategy<Value = Step> {
    let dimension =
        (1usize..8, 1usize..4, 0usize..5, 0usize..3).prop_map(|(size, processes, block, how)| {
            let least = size.div_ceil(processes);
            match how {
                0 => (size, 1, Distribution::None, None),
                1 => (
                    size,
                    processes,
                    Distribution::Block,
                    (block > 0).then_some(least + block - 1),
                ),
                _ => (
                    size,
                    processes,
                    Distribution::Cyclic,
                    (block > 0).then_some(block),
                ),
            }
        });
    (
        prop::collection::vec(dimension, 1..4),
        order(),
        any::<prop::sample::Index>(),
    )
        .prop_map(|(dimensions, order, rank)| {
            let size = dimensions.iter().map(|d| d.1).product();
            Step::Darray(Darray {
                size,
                rank: rank.index(size),
                sizes: dimensions.iter().map(|d| d.0).collect(),
                processes: dimensions.iter().map(|d| d.1).collect(),
                distributions: dimensions.iter().map(|d| d.2).collect(),
                blocks: dimensions.iter().map(|d| d.3).collect(),
                order,
            })
        })
}

/// Long lists too, which are not spliced.
fn list<T: Strategy>(element: impl Fn() -> T) -> impl Strategy<Value = Vec<T::Value>> {
    prop_oneof![
        4 => prop::collection::vec(element(), 0..5),
        1 => prop::collection::vec(element(), 17..22),
    ]
}

pub fn step() -> impl Strategy<Value = Step> {
    let field = || (-20isize..60, 0usize..3, prop::option::of(leaf()));
    prop_oneof![
        Just(Step::Dup),
        (0usize..4).prop_map(Step::Contiguous),
        (0usize..5, 0usize..4, -5isize..6).prop_map(|(c, b, s)| Step::Vector(c, b, s)),
        (0usize..5, 0usize..4, -40isize..80).prop_map(|(c, b, s)| Step::Hvector(c, b, s)),
        list(|| (-6isize..12, 0usize..4)).prop_map(Step::Indexed),
        list(|| (-50isize..90, 0usize..4)).prop_map(Step::Hindexed),
        (0usize..4, list(|| -6isize..12)).prop_map(|(b, d)| Step::IndexedBlock(b, d)),
        (0usize..4, list(|| -50isize..90)).prop_map(|(b, d)| Step::HindexedBlock(b, d)),
        list(field).prop_map(Step::Struct),
        (-20isize..20, -10isize..60).prop_map(|(lower, extent)| Step::Resized(lower, extent)),
        subarray(),
        darray(),
    ]
}
