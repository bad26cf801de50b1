//! The integer form of handles (MPI-5.0 §20.4).
//!
//! A predefined handle's is its number. One of our own is -2 - index, so the two never meet, and none is -1, which programs take for a handle that
//! has no integer (mpi4py does); the generation in the handle is left out, and found again by the index.

use std::ffi::c_int;

pub use weft_handle::kind;
use weft_lifetime::handles::handle_at;

/// Handles that stand for no object of the table are less.
pub const PREDEFINED_END: usize = 4096;

/// The handle whose integer form is `number`; none if there is no such object.
pub fn of_kind(kind: u8, number: c_int) -> Option<usize> {
    match usize::try_from(number) {
        Ok(predefined) => Some(predefined),
        Err(_) => {
            let index = u32::try_from(FIRST - number).ok()?;
            handle_at(kind, index).map(|handle| handle as usize)
        }
    }
}

pub fn of_handle(handle: usize) -> c_int {
    if handle < PREDEFINED_END {
        return handle as c_int;
    }
    FIRST - (handle as u32 & INDEX_MASK) as c_int
}

/// Two kinds of object share the type of requests; the lowest bit of the index says which it is.
pub fn of_request(handle: usize) -> c_int {
    if handle < PREDEFINED_END {
        return handle as c_int;
    }
    let compound = handle >> KIND_SHIFT == usize::from(kind::COMPOUND);
    FIRST - ((handle as u32 & INDEX_MASK) << 1 | u32::from(compound)) as c_int
}

pub fn request(number: c_int) -> Option<usize> {
    let Err(_) = usize::try_from(number) else {
        return Some(number as usize);
    };
    let bits = u32::try_from(FIRST - number).ok()?;
    let index = bits >> 1;
    if bits & 1 == 1 {
        return handle_at(kind::COMPOUND, index).map(|handle| handle as usize);
    }
    if index >= FIRST_CONSTANT {
        let constant = index | !INDEX_MASK;
        return Some(usize::from(kind::REQUEST) << KIND_SHIFT | constant as usize);
    }
    handle_at(kind::REQUEST, index).map(|handle| handle as usize)
}

/// That of index 0.
const FIRST: c_int = -2;
const KIND_SHIFT: u32 = 60;
const INDEX_MASK: u32 = (1 << 30) - 1;
/// The library's requests that are complete from the start have the last two indices, which no object has.
const FIRST_CONSTANT: u32 = INDEX_MASK - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predefined_ones_are_their_numbers() {
        for number in [0x101, 0x180, 0x200, 4095] {
            assert_eq!(of_handle(number), number as c_int);
            assert_eq!(of_kind(kind::COMM, number as c_int), Some(number));
            assert_eq!(of_request(number), number as c_int);
            assert_eq!(request(number as c_int), Some(number));
        }
    }

    #[test]
    fn our_own_are_negative_and_differ() {
        let comm = |index: usize| 1 << KIND_SHIFT | 1 << 32 | index;
        assert_eq!(
            [0, 1, 4095].map(|index| of_handle(comm(index))),
            [-2, -3, -4097]
        );
        let engine = |index: usize| usize::from(kind::REQUEST) << KIND_SHIFT | 5 << 32 | index;
        let compound = |index: usize| usize::from(kind::COMPOUND) << KIND_SHIFT | 1 << 32 | index;
        let numbers = [engine(0), compound(0), engine(1), compound(1)].map(of_request);
        assert_eq!(numbers, [-2, -3, -4, -5]);
        assert_eq!(of_request(engine((1 << 28) - 1)), -2 - ((1 << 29) - 2));
        assert_eq!((of_kind(kind::COMM, -1), request(-1)), (None, None));
    }

    #[test]
    fn complete_from_the_start_comes_back() {
        for index in [0xffff_fffe, 0xffff_ffff] {
            let handle = usize::from(kind::REQUEST) << KIND_SHIFT | index;
            assert!(of_request(handle) < 0);
            assert_eq!(request(of_request(handle)), Some(handle));
        }
    }
}
