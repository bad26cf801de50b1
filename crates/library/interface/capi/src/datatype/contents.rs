//! How a datatype was made: `MPI_Type_get_envelope` and `MPI_Type_get_contents` (MPI-5.0 §5.1.13).

use std::ffi::c_int;

use weft_abi::*;
use weft_abi_macros::mpi;
use weft_error::Class;
use weft_error::argument;
use weft_objects::types::{self, Darray, Distribution, Envelope, Order, Subarray};
use weft_objects::{Datatype, TypeId};

use crate::argument::Length;
use crate::array::ArrayMut;
use crate::entry::{Error, Result};
use crate::handle;
use crate::output::{Out, OutCount};

/// The arguments of a constructor as the two functions report them. What was a count or displacement of a
/// large-count form is in `counts`.
#[derive(Debug, Default, PartialEq)]
struct Contents {
    combiner: c_int,
    integers: Vec<i64>,
    addresses: Vec<i64>,
    counts: Vec<i64>,
}

impl Contents {
    fn of(datatype: &Datatype) -> Contents {
        let mut contents = Contents::default();
        contents.combiner = contents.fill(&datatype.envelope(), datatype.is_large());
        contents
    }

    /// Counts, lengths and displacements in elements.
    fn counts(&mut self, large: bool, numbers: impl IntoIterator<Item = usize>) {
        let numbers = numbers.into_iter().map(|number| number as i64);
        match large {
            true => self.counts.extend(numbers),
            false => self.integers.extend(numbers),
        }
    }

    /// Displacements and strides in bytes.
    fn addresses(&mut self, large: bool, numbers: &[isize]) {
        let numbers = numbers.iter().map(|&number| number as i64);
        match large {
            true => self.counts.extend(numbers),
            false => self.addresses.extend(numbers),
        }
    }

    fn places(&mut self, large: bool, displacements: &[isize]) {
        self.counts(large, displacements.iter().map(|&place| place as usize));
    }

    /// Returns the combiner.
    fn fill(&mut self, envelope: &Envelope, large: bool) -> c_int {
        match envelope {
            Envelope::Named(_) => MPI_COMBINER_NAMED,
            Envelope::Dup { .. } => MPI_COMBINER_DUP,
            Envelope::Contiguous { count, .. } => {
                self.counts(large, [*count]);
                MPI_COMBINER_CONTIGUOUS
            }
            Envelope::Vector {
                count,
                blocklength,
                stride,
                ..
            } => {
                self.counts(large, [*count, *blocklength, *stride as usize]);
                MPI_COMBINER_VECTOR
            }
            Envelope::Hvector {
                count,
                blocklength,
                stride,
                ..
            } => {
                self.counts(large, [*count, *blocklength]);
                self.addresses(large, &[*stride]);
                MPI_COMBINER_HVECTOR
            }
            Envelope::Indexed {
                blocklengths,
                displacements,
                ..
            } => {
                self.lengths(large, blocklengths);
                self.places(large, displacements);
                MPI_COMBINER_INDEXED
            }
            Envelope::Hindexed {
                blocklengths,
                displacements,
                ..
            } => {
                self.lengths(large, blocklengths);
                self.addresses(large, displacements);
                MPI_COMBINER_HINDEXED
            }
            Envelope::IndexedBlock {
                blocklength,
                displacements,
                ..
            } => {
                self.counts(large, [displacements.len(), *blocklength]);
                self.places(large, displacements);
                MPI_COMBINER_INDEXED_BLOCK
            }
            Envelope::HindexedBlock {
                blocklength,
                displacements,
                ..
            } => {
                self.counts(large, [displacements.len(), *blocklength]);
                self.addresses(large, displacements);
                MPI_COMBINER_HINDEXED_BLOCK
            }
            Envelope::Struct {
                blocklengths,
                displacements,
                ..
            } => {
                self.lengths(large, blocklengths);
                self.addresses(large, displacements);
                MPI_COMBINER_STRUCT
            }
            Envelope::Subarray(array, _) => self.subarray(large, array),
            Envelope::Darray(array, _) => self.darray(large, array),
            Envelope::Resized { lower, extent, .. } => {
                self.addresses(large, &[*lower, *extent]);
                MPI_COMBINER_RESIZED
            }
            Envelope::FortranReal { precision, range } => {
                self.limits(&[*precision, *range]);
                MPI_COMBINER_F90_REAL
            }
            Envelope::FortranComplex { precision, range } => {
                self.limits(&[*precision, *range]);
                MPI_COMBINER_F90_COMPLEX
            }
            Envelope::FortranInteger { range } => {
                self.limits(&[Some(*range)]);
                MPI_COMBINER_F90_INTEGER
            }
        }
    }

    /// How many blocks, and their lengths.
    fn lengths(&mut self, large: bool, blocklengths: &[usize]) {
        self.counts(large, [blocklengths.len()]);
        self.counts(large, blocklengths.iter().copied());
    }

    fn limits(&mut self, limits: &[Option<c_int>]) {
        let limits = limits.iter().map(|limit| limit.unwrap_or(MPI_UNDEFINED));
        self.integers.extend(limits.map(i64::from));
    }

    fn subarray(&mut self, large: bool, array: &Subarray) -> c_int {
        self.counts(false, [array.sizes.len()]);
        for list in [&array.sizes, &array.subsizes, &array.starts] {
            self.counts(large, list.iter().copied());
        }
        self.order(array.order);
        MPI_COMBINER_SUBARRAY
    }

    fn darray(&mut self, large: bool, array: &Darray) -> c_int {
        self.counts(false, [array.size, array.rank, array.sizes.len()]);
        self.counts(large, array.sizes.iter().copied());
        let distributions = array
            .distributions
            .iter()
            .map(|distribution| match distribution {
                Distribution::None => MPI_DISTRIBUTE_NONE,
                Distribution::Block => MPI_DISTRIBUTE_BLOCK,
                Distribution::Cyclic => MPI_DISTRIBUTE_CYCLIC,
            });
        self.integers.extend(distributions.map(i64::from));
        let default = i64::from(MPI_DISTRIBUTE_DFLT_DARG);
        let blocks = array.blocks.iter();
        self.integers
            .extend(blocks.map(|block| block.map_or(default, |block| block as i64)));
        self.counts(false, array.processes.iter().copied());
        self.order(array.order);
        MPI_COMBINER_DARRAY
    }

    fn order(&mut self, order: Order) {
        self.integers.push(i64::from(match order {
            Order::C => MPI_ORDER_C,
            Order::Fortran => MPI_ORDER_FORTRAN,
        }));
    }
}

#[cold]
fn made_large() -> Error {
    let what = "made with large counts; use the large-count form";
    argument(Class::Type, "datatype", what)
}

#[mpi(Type_get_envelope)]
fn type_get_envelope(
    datatype: TypeId,
    num_integers: OutCount,
    num_addresses: OutCount,
    num_large_counts: Option<OutCount>,
    num_datatypes: OutCount,
    combiner: Out<c_int>,
) -> Result<()> {
    let datatype = types::find(datatype)?;
    let contents = Contents::of(&datatype);
    match num_large_counts {
        Some(place) => place.set_exact(contents.counts.len() as i64)?,
        None if datatype.is_large() => return Err(made_large()),
        None => {}
    }
    num_integers.set_exact(contents.integers.len() as i64)?;
    num_addresses.set_exact(contents.addresses.len() as i64)?;
    num_datatypes.set_exact(datatype.envelope().datatypes().len() as i64)?;
    combiner.set(contents.combiner);
    Ok(())
}

/// The caller's array for `numbers`, of `most` elements.
fn fill<T>(
    name: &str,
    array: ArrayMut<T>,
    most: Length,
    numbers: &[i64],
    convert: impl Fn(i64) -> T,
) -> Result<()> {
    if most.0 < numbers.len() {
        let what = format_args!("{} is less than the {} there are", most.0, numbers.len());
        return Err(argument(Class::Arg, name, what));
    }
    let places = array.slice(Length(numbers.len()))?;
    for (place, &number) in places.iter_mut().zip(numbers) {
        *place = convert(number);
    }
    Ok(())
}

#[mpi(Type_get_contents)]
fn type_get_contents(
    datatype: TypeId,
    max_integers: Length,
    max_addresses: Length,
    max_large_counts: Option<Length>,
    max_datatypes: Length,
    array_of_integers: ArrayMut<c_int>,
    array_of_addresses: ArrayMut<isize>,
    array_of_large_counts: Option<ArrayMut<i64>>,
    array_of_datatypes: ArrayMut<usize>,
) -> Result<()> {
    let datatype = types::find(datatype)?;
    let contents = Contents::of(&datatype);
    if contents.combiner == MPI_COMBINER_NAMED {
        let what = "predefined with a name, so it has no contents";
        return Err(argument(Class::Type, "datatype", what));
    }
    let Contents {
        integers,
        addresses,
        counts,
        ..
    } = contents;
    let envelope = datatype.envelope();
    let olds = envelope.datatypes();
    if max_datatypes.0 < olds.len() {
        let what = format_args!(
            "{} is less than the {} there are",
            max_datatypes.0,
            olds.len()
        );
        return Err(argument(Class::Arg, "max_datatypes", what));
    }
    fill(
        "max_integers",
        array_of_integers,
        max_integers,
        &integers,
        |number| number as c_int,
    )?;
    fill(
        "max_addresses",
        array_of_addresses,
        max_addresses,
        &addresses,
        |number| number as isize,
    )?;
    match (max_large_counts, array_of_large_counts) {
        (Some(most), Some(array)) => {
            fill("max_large_counts", array, most, &counts, |number| number)?
        }
        _ if datatype.is_large() => return Err(made_large()),
        _ => {}
    }
    let places = array_of_datatypes.slice(Length(olds.len()))?;
    for (place, old) in places.iter_mut().zip(olds) {
        *place = handle::datatype_number(types::constituent(old)?);
    }
    Ok(())
}
