//! Data access by all processes together (MPI-5.0 §14.4.2 to §14.4.4): each function, and its nonblocking form if it has one.

use weft_abi_macros::mpi;
use weft_file_calls::{Direction, Positioning, start_all, transfer_all};
use weft_handle::FileId;
use weft_objects::TypeId;

use crate::argument::Address;
use crate::entry::Result;

accesses! { transfer_all, start_all;
    #[mpi(File_read_at_all, File_iread_at_all)]
    read_at_all: Read, Positioning::At(offset), (offset: i64);

    #[mpi(File_write_at_all, File_iwrite_at_all)]
    write_at_all: Write, Positioning::At(offset), (offset: i64);

    #[mpi(File_read_all, File_iread_all)]
    read_all: Read, Positioning::Individual, ();

    #[mpi(File_write_all, File_iwrite_all)]
    write_all: Write, Positioning::Individual, ();
}

only_blocking! { transfer_all;
    #[mpi(File_read_ordered)]
    read_ordered: Read, Positioning::Shared;

    #[mpi(File_write_ordered)]
    write_ordered: Write, Positioning::Shared;
}
