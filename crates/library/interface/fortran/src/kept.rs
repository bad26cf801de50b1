//! Copies of operands that are kept until a nonblocking or persistent reduction is over.

use std::ffi::{c_int, c_void};

use crate::abi::*;
use crate::copied::Copied;
use crate::handle::Handle;

/// The operands of one reduction.
type Operands = [Copied; 2];

/// After the call that made `request`, if it has: the request is complete when the result is where it belongs. The code of
/// both.
///
/// # Safety
/// An INTEGER stands at the address of the communicator, and the arrays stand until the operation is over.
#[inline(always)]
pub unsafe fn keep(
    operands: Operands,
    comm: *const c_void,
    request: &mut MPI_Request,
    code: c_int,
) -> c_int {
    if code != MPI_SUCCESS || !operands.iter().any(Copied::is_copied) {
        return code;
    }
    // SAFETY: by this function's contract; the hooks below take the state as it is given here.
    unsafe {
        let state = Box::into_raw(Box::new(operands)).cast();
        weft_follow(
            request,
            MPI_Comm::of_fortran(comm),
            state,
            before,
            after,
            release,
        )
    }
}

/// Before each start of a persistent reduction.
unsafe extern "C" fn before(state: *mut c_void) {
    // SAFETY: the operands of `keep`, which one operation uses at a time.
    let operands = unsafe { &mut *state.cast::<Operands>() };
    operands.iter_mut().for_each(Copied::pack);
}

unsafe extern "C" fn after(state: *mut c_void) {
    // SAFETY: as above.
    let operands = unsafe { &*state.cast::<Operands>() };
    operands.iter().for_each(Copied::unpack);
}

unsafe extern "C" fn release(state: *mut c_void) {
    // SAFETY: made in `keep`, and not used any more.
    drop(unsafe { Box::from_raw(state.cast::<Operands>()) });
}
