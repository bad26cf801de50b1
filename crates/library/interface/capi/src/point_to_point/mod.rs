//! Point-to-point communication (MPI-5.0 chapter 3).

mod buffer;
mod complete;
mod exchange;
mod inquire;
mod persistent;
mod probe;
mod receive;
mod send;
mod several;
