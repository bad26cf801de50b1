//! Handles as the library knows them, and their integer form.
//!
//! A predefined handle is the ABI's small integer. One of our own is an index below 2^31 with its kind in the top four
//! bits, so it lies outside 0..4095, and an index of one kind is no handle of another.

use std::ffi::c_int;
use std::ptr::without_provenance_mut;

use weft_abi::*;

use crate::argument::Output;

const KIND_SHIFT: u32 = 60;
const PREDEFINED_END: usize = 4096;

macro_rules! handles {
    ($($name:ident = $c:ident, kind $kind:literal;)*) => {$(
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(usize);

        impl $name {
            /// The fixed value of a predefined handle; -1 - index for one of our own, so the two never meet.
            pub fn to_int(self) -> c_int {
                to_int(self.0)
            }

            /// The handle that [`to_int`](Self::to_int) made `number` of.
            pub fn from_int(number: c_int) -> $name {
                $name(from_int(number, $kind))
            }

            pub fn to_c(self) -> $c {
                without_provenance_mut(self.0)
            }
        }

        impl Output for $name {
            type C = $c;
            fn into_c(self) -> $c {
                self.to_c()
            }
        }

        impl From<$c> for $name {
            fn from(handle: $c) -> $name {
                $name(handle.addr())
            }
        }
    )*};
}

handles! {
    Comm = MPI_Comm, kind 1;
    Group = MPI_Group, kind 2;
    Datatype = MPI_Datatype, kind 3;
    Op = MPI_Op, kind 4;
    Errhandler = MPI_Errhandler, kind 5;
    Info = MPI_Info, kind 6;
    Request = MPI_Request, kind 7;
    Message = MPI_Message, kind 8;
    Win = MPI_Win, kind 9;
    File = MPI_File, kind 10;
    Session = MPI_Session, kind 11;
}

fn to_int(handle: usize) -> c_int {
    if handle < PREDEFINED_END {
        return handle as c_int;
    }
    let index = handle & ((1 << KIND_SHIFT) - 1);
    debug_assert!(index <= c_int::MAX as usize, "handle index {index:#x}");
    -1 - index as c_int
}

fn from_int(number: c_int, kind: usize) -> usize {
    match usize::try_from(number) {
        Ok(predefined) => predefined,
        Err(_) => kind << KIND_SHIFT | (-1 - number) as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_back() {
        assert_eq!(Comm::from(MPI_COMM_WORLD).to_int(), 0x101);
        assert_eq!(Comm::from_int(0x101).to_c(), MPI_COMM_WORLD);
        for index in [0, 1, 0x101, 4095, 4096, c_int::MAX as usize] {
            let handle = Comm(1 << KIND_SHIFT | index);
            assert!(handle.to_int() < 0, "no predefined handle");
            assert_eq!(Comm::from_int(handle.to_int()), handle);
        }
    }
}
