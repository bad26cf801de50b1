//! A datatype with basic types of other sizes: what it is in a file of another data representation (MPI-5.0 §14.5.1).

use crate::datatype::{Datatype, Envelope};
use crate::{Overflow, Predefined};

impl Datatype {
    /// The same constructors on basic types that each are as many bytes as `bytes` says. Displacements that were given in
    /// bytes stay, as do bounds that were set; those in elements follow the new extents.
    pub fn with_sizes<E: From<Overflow>>(
        &self,
        bytes: &mut impl FnMut(Predefined) -> Result<usize, E>,
    ) -> Result<Datatype, E> {
        let mut of = |old: &Datatype| old.with_sizes(bytes);
        let made = match self.envelope() {
            Envelope::Named(predefined) => raw(bytes(predefined)?),
            Envelope::FortranReal { .. }
            | Envelope::FortranComplex { .. }
            | Envelope::FortranInteger { .. } => match self.predefined() {
                Some(predefined) => raw(bytes(predefined)?),
                None => raw(0),
            },
            Envelope::Dup { old } => return of(&old),
            Envelope::Contiguous { count, old } => Datatype::contiguous(count, &of(&old)?),
            Envelope::Vector {
                count,
                blocklength,
                stride,
                old,
            } => Datatype::vector(count, blocklength, stride, &of(&old)?),
            Envelope::Hvector {
                count,
                blocklength,
                stride,
                old,
            } => Datatype::hvector(count, blocklength, stride, &of(&old)?),
            Envelope::Indexed {
                blocklengths,
                displacements,
                old,
            } => Datatype::indexed(blocklengths, displacements, &of(&old)?),
            Envelope::Hindexed {
                blocklengths,
                displacements,
                old,
            } => Datatype::hindexed(blocklengths, displacements, &of(&old)?),
            Envelope::IndexedBlock {
                blocklength,
                displacements,
                old,
            } => Datatype::indexed_block(blocklength, displacements, &of(&old)?),
            Envelope::HindexedBlock {
                blocklength,
                displacements,
                old,
            } => Datatype::hindexed_block(blocklength, displacements, &of(&old)?),
            Envelope::Struct {
                blocklengths,
                displacements,
                types,
            } => {
                let types: Result<_, E> = types.iter().map(of).collect();
                Datatype::structure(blocklengths, displacements, types?)
            }
            Envelope::Subarray(array, old) => Datatype::subarray(*array, &of(&old)?),
            Envelope::Darray(array, old) => Datatype::darray(*array, &of(&old)?),
            Envelope::Resized { lower, extent, old } => {
                Datatype::resized(&of(&old)?, lower, extent)
            }
        };
        made.map_err(E::from)
    }

    /// How many packed bytes the first `external` bytes of external32 data of this type are, cut to whole basic values.
    pub fn packed_of_external(&self, external: usize) -> usize {
        let Some(one) = self.external_size(1).filter(|&one| one > 0) else {
            return 0;
        };
        let (mut left, mut packed) = (external % one, self.size() * (external / one));
        self.with_signature(|signature| {
            signature.visit(&mut |predefined, count| {
                let value = Datatype::from(predefined).external_size(1).unwrap_or(0);
                let whole = match value {
                    0 => 0,
                    value => count.min(left / value),
                };
                packed += whole * predefined.size();
                // After a value that is cut there is no other.
                left = match whole == count {
                    true => left - whole * value,
                    false => 0,
                };
            });
        });
        packed
    }
}

fn raw(bytes: usize) -> Result<Datatype, Overflow> {
    Datatype::contiguous(bytes, &Predefined::Byte.into())
}
