//! Collective communication (MPI-5.0 chapter 6, §8.6).

/// An operation's three forms: blocking, nonblocking (§6.12) and persistent (§6.13). The block checks the arguments
/// and gives the [`Call`](weft_collective_calls::Call) that each form makes its own use of; it may name `FORM`, which it is for.
macro_rules! forms {
    ($(
        #[mpi($blocking:ident, $nonblocking:ident, $init:ident)]
        fn $module:ident($($parameter:ident: $type:ty,)*) $call:block
    )*) => {$(
        mod $module {
            use super::*;
            use crate::output::Out;
            use weft_collective_calls::Form;
            use weft_handle::InfoId;
            use weft_messages::Request;

            #[mpi($blocking)]
            fn blocking($($parameter: $type,)*) -> Result<()> {
                #[allow(dead_code, reason = "few operations have a way of their own for it")]
                const FORM: Form = Form::Blocking;
                $call?.run()
            }

            #[mpi($nonblocking)]
            fn nonblocking($($parameter: $type,)* request: Out<Request>) -> Result<()> {
                #[allow(dead_code, reason = "as above")]
                const FORM: Form = Form::Request;
                request.set($call?.begin()?);
                Ok(())
            }

            /// No hint is known that would change anything.
            #[mpi($init)]
            fn persistent($($parameter: $type,)* info: Option<InfoId>, request: Out<Request>) -> Result<()> {
                #[allow(dead_code, reason = "as above")]
                const FORM: Form = Form::Request;
                info.map_or(Ok(()), weft_objects::info::check)?;
                request.set($call?.prepare()?);
                Ok(())
            }
        }
    )*};
}

mod exchange;
pub mod neighbor;
pub mod op;
mod reduce;
mod rooted;

use std::ffi::c_int;

use weft_abi::MPI_ROOT;
use weft_collective_calls::{Types, Vectors};
use weft_handle::CommId;
use weft_objects::TypeId;
use weft_objects::comm;

use crate::argument::{Address, Length};
use crate::array::{Array, Numbers};
use crate::entry::Result;
use crate::handle;

/// Whether this process is the root, so that the root's arguments count. A root that is no rank is no process's; the
/// operation finds it out.
fn is_root(id: CommId, root: c_int) -> Result<bool> {
    let comm = comm::find(id)?;
    Ok(match comm.local_and_remote() {
        None => comm.rank() as c_int == root,
        Some(_) => root == MPI_ROOT,
    })
}

/// How many blocks a buffer has that has one for each process: of the remote group, where there is one.
pub fn blocks(comm: CommId) -> Result<usize> {
    Ok(comm::find(comm)?.peer_count() as usize)
}

/// A buffer with a count and a displacement for each of `blocks`.
fn vectors<'a>(
    address: Address,
    counts: Numbers<'a>,
    displacements: Numbers<'a>,
    datatype: TypeId,
    blocks: usize,
) -> Result<Vectors<'a>> {
    Ok(Vectors {
        address: address.pointer(),
        counts: counts.counts(blocks)?,
        displacements: displacements.counts(blocks)?,
        datatype,
    })
}

/// A buffer with a count, a displacement and a datatype for each of `blocks`.
fn types<'a>(
    address: Address,
    counts: Numbers<'a>,
    displacements: Numbers<'a>,
    datatypes: Array<'_, usize>,
    blocks: usize,
) -> Result<Types<'a>> {
    let datatypes = datatypes.slice(Length(blocks))?.iter();
    Ok(Types {
        address: address.pointer(),
        counts: counts.counts(blocks)?,
        displacements: displacements.counts(blocks)?,
        datatypes: datatypes
            .map(|&number| handle::datatype(number, "datatypes"))
            .collect::<Result<_>>()?,
    })
}

/// None for `MPI_IN_PLACE`, for which the other arguments mean nothing.
fn unless_in_place<T>(address: Address, make: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
    match address.is_in_place() {
        true => Ok(None),
        false => make().map(Some),
    }
}
