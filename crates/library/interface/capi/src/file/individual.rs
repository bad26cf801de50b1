//! Data access by one process (MPI-5.0 §14.4.2 to §14.4.4): each function, and its nonblocking form.

use weft_abi_macros::mpi;
use weft_file_calls::{Direction, Positioning, start, transfer};
use weft_handle::FileId;
use weft_objects::TypeId;

use crate::argument::Address;
use crate::entry::Result;

accesses! { transfer, start;
    #[mpi(File_read_at, File_iread_at)]
    read_at: Read, Positioning::At(offset), (offset: i64);

    #[mpi(File_write_at, File_iwrite_at)]
    write_at: Write, Positioning::At(offset), (offset: i64);

    #[mpi(File_read, File_iread)]
    read: Read, Positioning::Individual, ();

    #[mpi(File_write, File_iwrite)]
    write: Write, Positioning::Individual, ();

    #[mpi(File_read_shared, File_iread_shared)]
    read_shared: Read, Positioning::Shared, ();

    #[mpi(File_write_shared, File_iwrite_shared)]
    write_shared: Write, Positioning::Shared, ();
}
