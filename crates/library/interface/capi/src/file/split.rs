//! Split collective data access (MPI-5.0 §14.4.5).

use weft_abi_macros::mpi;
use weft_file_calls as file;
use weft_file_calls::{Direction, Pair, Positioning};
use weft_handle::FileId;
use weft_objects::TypeId;

use crate::argument::Address;
use crate::entry::Result;
use crate::status::OutStatus;

macro_rules! pairs {
    ($(
        #[mpi($begin:ident, $end:ident)]
        $module:ident: $direction:ident, $pair:ident, $positioning:expr, ($($parameter:ident: $type:ty)?);
    )*) => {$(
        mod $module {
            use super::*;

            #[mpi($begin)]
            fn begin(fh: FileId, $($parameter: $type,)? buf: Address, count: i64, datatype: TypeId) -> Result<()> {
                file::begin_split(fh, Direction::$direction, $positioning, buf.buffer(count, datatype))
            }

            #[mpi($end)]
            fn end(fh: FileId, buf: Address, status: OutStatus) -> Result<()> {
                let buffer = buf.pointer().cast_const();
                status.set(&file::end_split(fh, Direction::$direction, Pair::$pair, buffer)?);
                Ok(())
            }
        }
    )*};
}

pairs! {
    #[mpi(File_read_at_all_begin, File_read_at_all_end)]
    read_at_all: Read, At, Positioning::At(offset), (offset: i64);

    #[mpi(File_write_at_all_begin, File_write_at_all_end)]
    write_at_all: Write, At, Positioning::At(offset), (offset: i64);

    #[mpi(File_read_all_begin, File_read_all_end)]
    read_all: Read, Individual, Positioning::Individual, ();

    #[mpi(File_write_all_begin, File_write_all_end)]
    write_all: Write, Individual, Positioning::Individual, ();

    #[mpi(File_read_ordered_begin, File_read_ordered_end)]
    read_ordered: Read, Ordered, Positioning::Shared, ();

    #[mpi(File_write_ordered_begin, File_write_ordered_end)]
    write_ordered: Write, Ordered, Positioning::Shared, ();
}
