//! Groups, communicators and caching (MPI-5.0 chapter 7).

mod attribute;
mod create;
mod group;
mod inquire;
mod intercomm;
