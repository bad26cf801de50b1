//! What the standard ABI's library must know of the program: what its functions get, and its error codes.

use std::ffi::c_int;

use mpi_abi::foreign::{self, Abi, Form};
use weft_abi::{MPI_Comm, MPI_Datatype, MPI_File, MPI_Session, MPI_Status, MPI_Win};

use crate::handles::word;
use crate::integers::{
    MPI_Comm_toint, MPI_File_toint, MPI_Session_toint, MPI_Type_toint, MPI_Win_toint,
};
use crate::kinds::{COMMUNICATOR, DATATYPE, ERROR_CODE, FILE, SESSION, STATUS, WINDOW};
use weft_foreign::convert::Kind;

struct Program;

impl Abi for Program {
    fn comm(&self, comm: MPI_Comm, of: Form) -> usize {
        match of {
            Form::C => word(COMMUNICATOR::to_foreign(comm)),
            Form::Fortran => MPI_Comm_toint(COMMUNICATOR::to_foreign(comm)) as usize,
        }
    }

    fn datatype(&self, datatype: MPI_Datatype, of: Form) -> usize {
        match of {
            Form::C => word(DATATYPE::to_foreign(datatype)),
            Form::Fortran => MPI_Type_toint(DATATYPE::to_foreign(datatype)) as usize,
        }
    }

    fn file(&self, file: MPI_File, of: Form) -> usize {
        match of {
            Form::C => FILE::to_foreign(file).addr(),
            Form::Fortran => MPI_File_toint(FILE::to_foreign(file)) as usize,
        }
    }

    fn session(&self, session: MPI_Session, of: Form) -> usize {
        match of {
            Form::C => word(SESSION::to_foreign(session)),
            Form::Fortran => MPI_Session_toint(SESSION::to_foreign(session)) as usize,
        }
    }

    fn window(&self, win: MPI_Win, of: Form) -> usize {
        match of {
            Form::C => word(WINDOW::to_foreign(win)),
            Form::Fortran => MPI_Win_toint(WINDOW::to_foreign(win)) as usize,
        }
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
