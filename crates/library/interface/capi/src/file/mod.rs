//! Files (MPI-5.0 chapter 14).

/// The functions of accesses, blocking and nonblocking, by the library's two functions for them.
macro_rules! accesses {
    ($transfer:ident, $start:ident; $(
        #[mpi($blocking:ident, $nonblocking:ident)]
        $module:ident: $direction:ident, $place:expr, ($($parameter:ident: $type:ty)?);
    )*) => {$(
        mod $module {
            use super::*;
            use crate::output::Out;
            use crate::status::OutStatus;
            use weft_mpi::Request;

            #[mpi($blocking)]
            fn blocking(
                fh: FileId,
                $($parameter: $type,)?
                buf: Address,
                count: i64,
                datatype: TypeId,
                status: OutStatus,
            ) -> Result<()> {
                let buffer = buf.buffer(count, datatype);
                status.set(&$transfer(fh, Direction::$direction, $place, buffer)?);
                Ok(())
            }

            #[mpi($nonblocking)]
            fn nonblocking(
                fh: FileId,
                $($parameter: $type,)?
                buf: Address,
                count: i64,
                datatype: TypeId,
                request: Out<Request>,
            ) -> Result<()> {
                let buffer = buf.buffer(count, datatype);
                request.set($start(fh, Direction::$direction, $place, buffer)?);
                Ok(())
            }
        }
    )*};
}

mod collective;
mod individual;
mod inquire;
mod manage;
mod representation;
mod split;
