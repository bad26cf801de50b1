//! What the Fortran library asks of this one for array sections that are not contiguous; no names of MPI.

use std::ffi::{c_int, c_void};
use std::slice::from_raw_parts;
use std::sync::Arc;

use weft_abi::{MPI_Comm, MPI_DATATYPE_NULL, MPI_Datatype, MPI_Request, MPI_SUCCESS};
use weft_abi_macros::exported;
use weft_handle::CommId;
use weft_messages::Request;
use weft_messages::followed::{Follow, follow};
use weft_objects::TypeId;
use weft_objects::types::{self, Dimension, Section};

use crate::entry::{FromC, Object, Result, raise};
use crate::output::Output;

/// A dimension as Fortran's compilers describe it: lower bound, elements, bytes from one to the next.
pub type Described = [isize; 3];

/// A datatype for buffers in a section: it is `datatype`, and displacements from `base` are in the section's virtual
/// contiguous array. Null if `datatype` is none; then the call that is given that itself says so.
///
/// # Safety
/// So many dimensions stand there, each of at least one element. They are those of the array at `base`, which stands as long as
/// an operation uses the datatype.
#[exported]
pub unsafe extern "C" fn weft_type_in_section(
    datatype: MPI_Datatype,
    base: *mut c_void,
    element: usize,
    rank: usize,
    dimensions: *const Described,
) -> MPI_Datatype {
    // SAFETY: by this function's contract.
    let described = unsafe { from_raw_parts(dimensions, rank) };
    let dimensions: Vec<Dimension> = described
        .iter()
        .map(|&[_, extent, stride]| Dimension {
            extent: extent.cast_unsigned(),
            stride,
        })
        .collect();
    let section = Section::new(base.cast(), element, &dimensions);
    // SAFETY: a datatype's conversion follows no pointer.
    let datatype = unsafe { TypeId::from_c(datatype, "datatype") };
    let made = datatype.and_then(|datatype| types::in_section(datatype, section));
    made.map_or(MPI_DATATYPE_NULL, TypeId::into_c)
}

pub type Hook = unsafe extern "C" fn(*mut c_void);

/// What follows an operation, as the Fortran library says it.
struct Hooks {
    state: *mut c_void,
    before: Hook,
    after: Hook,
    release: Hook,
}

// SAFETY: the caller of `weft_follow` promises that any thread may call the hooks.
unsafe impl Send for Hooks {}
// SAFETY: as above; one operation takes them at a time.
unsafe impl Sync for Hooks {}

impl Follow for Hooks {
    fn before(&self) {
        // SAFETY: the state stands until it is released.
        unsafe { (self.before)(self.state) }
    }

    fn after(&self) {
        // SAFETY: as above.
        unsafe { (self.after)(self.state) }
    }
}

impl Drop for Hooks {
    fn drop(&mut self) {
        // SAFETY: the last use of the state.
        unsafe { (self.release)(self.state) }
    }
}

/// Puts another request in place of that of a collective operation, which is complete when `after` has been called; `before`
/// is called before each start of a persistent one, `release` when the state is not used any more.
///
/// # Safety
/// The request is that of an operation of `comm` just made. Any thread may call the hooks, until the state is released.
#[exported]
pub unsafe extern "C" fn weft_follow(
    request: *mut MPI_Request,
    comm: MPI_Comm,
    state: *mut c_void,
    before: Hook,
    after: Hook,
    release: Hook,
) -> c_int {
    let hooks = Arc::new(Hooks {
        state,
        before,
        after,
        release,
    });
    // SAFETY: by this function's contract; conversions of handles follow no pointer.
    let followed = unsafe { place(*request, comm, hooks) };
    match followed {
        Ok(new) => {
            // SAFETY: by this function's contract.
            unsafe { *request = new.into_c() };
            MPI_SUCCESS
        }
        Err(error) => raise(
            error,
            Object::Comm(comm.addr()),
            "a call with sections(comm)",
        ),
    }
}

/// # Safety
/// As of [`weft_follow`].
unsafe fn place(request: MPI_Request, comm: MPI_Comm, hooks: Arc<Hooks>) -> Result<Request> {
    // SAFETY: by this function's contract.
    let (request, comm) = unsafe {
        let request = Request::from_c(request, "request")?;
        (request, CommId::from_c(comm, "comm")?)
    };
    follow(request, comm, hooks)
}
