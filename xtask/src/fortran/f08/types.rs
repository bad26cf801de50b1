//! Handles, the status and their operators.

/// The types of handles, without `MPI_`.
pub const HANDLES: [&str; 11] = [
    "Comm",
    "Datatype",
    "Errhandler",
    "File",
    "Group",
    "Info",
    "Message",
    "Op",
    "Request",
    "Session",
    "Win",
];

pub fn module() -> String {
    let mut text = String::from(
        "module mpi_f08_types\n  implicit none\n\n  ! C's status, word by word\n  type, bind(C) :: MPI_Status\n    \
         integer :: MPI_SOURCE\n    integer :: MPI_TAG\n    integer :: MPI_ERROR\n    integer :: MPI_internal(5)\n  end type\n",
    );
    for handle in HANDLES {
        text += &format!("\n  type, bind(C) :: MPI_{handle}\n    integer :: MPI_VAL\n  end type\n");
    }
    for (operator, word) in [("==", "eq"), ("/=", "ne")] {
        text += &format!("\n  interface operator({operator})\n");
        for handle in HANDLES {
            text += &format!(
                "    elemental function MPI_{handle}_{word}_f08(a, b) result(answer)\n      import :: MPI_{handle}\n      \
                 type(MPI_{handle}), intent(in) :: a, b\n      logical :: answer\n    end function\n"
            );
        }
        text += "  end interface\n";
    }
    text + "end module mpi_f08_types\n"
}
