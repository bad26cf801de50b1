//! What the standard ABI's library must know of the program: what its functions get, and its error codes.

use std::ffi::c_int;

use mpi_abi::foreign::{self, Abi};
use weft_abi::{MPI_Comm, MPI_Datatype, MPI_File, MPI_Session, MPI_Status, MPI_Win};

use crate::handles::word;
use crate::kinds::{COMMUNICATOR, DATATYPE, ERROR_CODE, FILE, SESSION, STATUS, WINDOW};
use weft_foreign::convert::Kind;

struct Program;

impl Abi for Program {
    fn comm(&self, comm: MPI_Comm) -> usize {
        word(COMMUNICATOR::to_foreign(comm))
    }

    fn datatype(&self, datatype: MPI_Datatype) -> usize {
        word(DATATYPE::to_foreign(datatype))
    }

    fn file(&self, file: MPI_File) -> usize {
        FILE::to_foreign(file).addr()
    }

    fn session(&self, session: MPI_Session) -> usize {
        word(SESSION::to_foreign(session))
    }

    fn window(&self, win: MPI_Win) -> usize {
        word(WINDOW::to_foreign(win))
    }

    fn code(&self, code: c_int) -> c_int {
        ERROR_CODE::to_foreign(code)
    }

    fn code_of(&self, number: c_int) -> c_int {
        ERROR_CODE::to_standard(number)
    }

    fn status(
        &self,
        status: &mut MPI_Status,
        change: &mut dyn FnMut(*mut MPI_Status) -> c_int,
    ) -> c_int {
        let mut foreign = STATUS::to_foreign(*status);
        let code = change((&raw mut foreign).cast());
        *status = STATUS::to_standard(foreign);
        code
    }
}

extern "C" fn begin() {
    foreign::set(&Program);
}

/// Run by the dynamic linker, before the program can call anything.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;
