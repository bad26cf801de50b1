//! Datatypes (MPI-5.0 chapter 5), and what belongs to them in other chapters.

mod address;
mod array;
mod attribute;
mod construct;
mod contents;
mod external;
mod fortran;
mod inquire;
mod packing;
