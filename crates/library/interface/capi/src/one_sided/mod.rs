//! One-sided communication (MPI-5.0 chapter 12), and what chapter 7 says of windows.

/// An access's two forms: the plain one, allowed in every epoch, and the one with a request (§12.3.5), allowed in a
/// passive one only.
macro_rules! accesses {
    ($(
        #[mpi($plain:ident, $requested:ident)]
        fn $module:ident($($parameter:ident: $type:ty,)*) in $form:ident $access:block
    )*) => {$(
        mod $module {
            use super::*;
            use crate::output::Out;
            use weft_messages::Request;

            #[mpi($plain)]
            fn plain($($parameter: $type,)*) -> Result<()> {
                let $form = Plain;
                $access
            }

            #[mpi($requested)]
            fn requested($($parameter: $type,)* request: Out<Request>) -> Result<()> {
                let $form = Requested;
                request.set($access?);
                Ok(())
            }
        }
    )*};
}

mod accumulate;
mod attribute;
mod create;
mod inquire;
mod synchronize;
mod transfer;

use weft_objects::TypeId;
use weft_window::TargetBuffer;

/// The target arguments of an access.
#[inline]
fn target(rank: i32, displacement: i64, count: i64, datatype: TypeId) -> TargetBuffer {
    TargetBuffer {
        rank,
        displacement,
        count,
        datatype,
    }
}
