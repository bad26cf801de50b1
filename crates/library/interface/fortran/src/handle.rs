//! Handles: integers in Fortran (MPI-5.0 §20.4).

use std::ffi::{c_int, c_void};
use std::ptr::without_provenance_mut;

use weft_abi::*;

/// A handle of C's.
pub trait Handle: Copy {
    const NULL: Self;

    /// The handle of an integer; the null handle if no object has it.
    fn of_integer(number: c_int) -> Self;

    fn integer(self) -> c_int;

    /// # Safety
    /// An INTEGER stands at the address.
    #[inline(always)]
    unsafe fn of_fortran(address: *const c_void) -> Self {
        // SAFETY: by this function's contract.
        Self::of_integer(unsafe { *address.cast::<c_int>() })
    }

    /// # Safety
    /// An INTEGER stands at the address.
    #[inline(always)]
    unsafe fn into_fortran(self, address: *mut c_void) {
        // SAFETY: by this function's contract.
        unsafe { *address.cast::<c_int>() = self.integer() }
    }
}

/// Predefined handles are the same number in both languages, and no other number below it is a handle's.
const PREDEFINED_END: usize = 4096;

macro_rules! handles {
    ($($c:ty, $null:ident, $fromint:ident, $toint:ident;)*) => {
        unsafe extern "C" {$(
            safe fn $fromint(number: c_int) -> $c;
            safe fn $toint(handle: $c) -> c_int;
        )*}
        $(
            impl Handle for $c {
                const NULL: $c = $null;

                #[inline(always)]
                fn of_integer(number: c_int) -> $c {
                    match number {
                        0..4096 => without_provenance_mut(number as usize),
                        _ => $fromint(number),
                    }
                }

                #[inline(always)]
                fn integer(self) -> c_int {
                    match self.addr() {
                        number @ 0..PREDEFINED_END => number as c_int,
                        _ => $toint(self),
                    }
                }
            }
        )*
    };
}

handles! {
    MPI_Comm, MPI_COMM_NULL, PMPI_Comm_fromint, PMPI_Comm_toint;
    MPI_Datatype, MPI_DATATYPE_NULL, PMPI_Type_fromint, PMPI_Type_toint;
    MPI_Errhandler, MPI_ERRHANDLER_NULL, PMPI_Errhandler_fromint, PMPI_Errhandler_toint;
    MPI_File, MPI_FILE_NULL, PMPI_File_fromint, PMPI_File_toint;
    MPI_Group, MPI_GROUP_NULL, PMPI_Group_fromint, PMPI_Group_toint;
    MPI_Info, MPI_INFO_NULL, PMPI_Info_fromint, PMPI_Info_toint;
    MPI_Message, MPI_MESSAGE_NULL, PMPI_Message_fromint, PMPI_Message_toint;
    MPI_Op, MPI_OP_NULL, PMPI_Op_fromint, PMPI_Op_toint;
    MPI_Request, MPI_REQUEST_NULL, PMPI_Request_fromint, PMPI_Request_toint;
    MPI_Session, MPI_SESSION_NULL, PMPI_Session_fromint, PMPI_Session_toint;
    MPI_Win, MPI_WIN_NULL, PMPI_Win_fromint, PMPI_Win_toint;
}

/// So many handles stand on the stack.
const FEW: usize = 16;

/// An array of handles as C has it.
pub struct Handles<H> {
    few: [H; FEW],
    /// In place of the few if there are more.
    many: Vec<H>,
    length: usize,
}

impl<H: Handle> Handles<H> {
    /// Room for so many null handles.
    pub fn room(length: impl TryInto<usize>) -> Handles<H> {
        let length = length.try_into().unwrap_or(0);
        Handles {
            few: [H::NULL; FEW],
            many: match length > FEW {
                true => vec![H::NULL; length],
                false => Vec::new(),
            },
            length,
        }
    }

    /// # Safety
    /// So many INTEGERs stand at the address.
    pub unsafe fn read(address: *const c_void, length: impl TryInto<usize>) -> Handles<H> {
        let mut handles = Handles::room(length);
        for (at, handle) in handles.slice().iter_mut().enumerate() {
            // SAFETY: by this function's contract.
            *handle = unsafe { H::of_fortran(address.cast::<c_int>().add(at).cast()) };
        }
        handles
    }

    /// # Safety
    /// As many INTEGERs as there are handles stand at the address.
    pub unsafe fn write(&mut self, address: *mut c_void) {
        for (at, handle) in self.slice().iter().enumerate() {
            // SAFETY: by this function's contract.
            unsafe { handle.into_fortran(address.cast::<c_int>().add(at).cast()) };
        }
    }

    pub fn as_mut_ptr(&mut self) -> *mut H {
        self.slice().as_mut_ptr()
    }

    /// Leaves the first ones, so many at most.
    pub fn shorten(&mut self, length: impl TryInto<usize>) {
        self.length = self.length.min(length.try_into().unwrap_or(0));
    }

    pub fn slice(&mut self) -> &mut [H] {
        match self.many.is_empty() {
            true => &mut self.few[..self.length],
            false => &mut self.many[..self.length],
        }
    }
}
