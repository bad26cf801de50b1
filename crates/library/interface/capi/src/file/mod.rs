//! Files (MPI-5.0 chapter 14).

/// The blocking function of an access, by the library's function for it.
macro_rules! blocking_access {
    ($transfer:ident;
        #[mpi($name:ident)]
        $direction:ident, $positioning:expr, ($($parameter:ident: $type:ty)?);
    ) => {
        #[mpi($name)]
        fn blocking(
            fh: FileId,
            $($parameter: $type,)?
            buf: Address,
            count: i64,
            datatype: TypeId,
            status: OutStatus,
        ) -> Result<()> {
            let buffer = buf.buffer(count, datatype);
            status.set(&$transfer(fh, Direction::$direction, $positioning, buffer)?);
            Ok(())
        }
    };
}

/// The functions of accesses, blocking and nonblocking, by the library's two functions for them.
macro_rules! accesses {
    ($transfer:ident, $start:ident; $(
        #[mpi($blocking:ident, $nonblocking:ident)]
        $module:ident: $direction:ident, $positioning:expr, ($($parameter:ident: $type:ty)?);
    )*) => {$(
        mod $module {
            use super::*;
            use crate::output::Out;
            use crate::status::OutStatus;
            use weft_messages::Request;

            blocking_access! { $transfer;
                #[mpi($blocking)]
                $direction, $positioning, ($($parameter: $type)?);
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
                request.set($start(fh, Direction::$direction, $positioning, buffer)?);
                Ok(())
            }
        }
    )*};
}

/// Those of accesses that have no nonblocking function.
macro_rules! only_blocking {
    ($transfer:ident; $(
        #[mpi($name:ident)]
        $module:ident: $direction:ident, $positioning:expr;
    )*) => {$(
        mod $module {
            use super::*;
            use crate::status::OutStatus;

            blocking_access! { $transfer;
                #[mpi($name)]
                $direction, $positioning, ();
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
