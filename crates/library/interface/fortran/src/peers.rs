//! How many processes a call reaches: as long are its arrays of datatypes (MPI-5.0 §6.8, §8.6).

use std::ffi::{c_int, c_void};

use crate::abi::*;

use crate::handle::Handle;
use crate::sentinel;

unsafe extern "C" {
    fn PMPI_Comm_test_inter(comm: MPI_Comm, flag: *mut c_int) -> c_int;
    fn PMPI_Comm_size(comm: MPI_Comm, size: *mut c_int) -> c_int;
    fn PMPI_Comm_rank(comm: MPI_Comm, rank: *mut c_int) -> c_int;
    fn PMPI_Comm_remote_size(comm: MPI_Comm, size: *mut c_int) -> c_int;
    fn PMPI_Topo_test(comm: MPI_Comm, status: *mut c_int) -> c_int;
    fn PMPI_Cartdim_get(comm: MPI_Comm, ndims: *mut c_int) -> c_int;
    fn PMPI_Graph_neighbors_count(comm: MPI_Comm, rank: c_int, count: *mut c_int) -> c_int;
    fn PMPI_Dist_graph_neighbors_count(
        comm: MPI_Comm,
        indegree: *mut c_int,
        outdegree: *mut c_int,
        weighted: *mut c_int,
    ) -> c_int;
}

/// An argument of a communicator, unless it is none: then the call itself is to report that, and nothing is asked here.
///
/// # Safety
/// An INTEGER stands at the address.
pub unsafe fn communicator(address: *const c_void) -> Option<MPI_Comm> {
    // SAFETY: by this function's contract.
    let comm = unsafe { MPI_Comm::of_fortran(address) };
    (!comm.is_none()).then_some(comm)
}

/// All processes of a communicator, of the other group where there is one.
///
/// # Safety
/// An INTEGER stands at the address.
pub unsafe fn all(comm: *const c_void) -> c_int {
    // SAFETY: by this function's contract.
    let Some(comm) = (unsafe { communicator(comm) }) else {
        return 0;
    };
    let (mut is_inter, mut size) = (0, 0);
    // SAFETY: places of this function's.
    unsafe {
        PMPI_Comm_test_inter(comm, &mut is_inter);
        match is_inter {
            0 => PMPI_Comm_size(comm, &mut size),
            _ => PMPI_Comm_remote_size(comm, &mut size),
        };
    }
    size
}

/// As [`all`]; none where the types mean nothing.
///
/// # Safety
/// An INTEGER stands at the address of the communicator.
pub unsafe fn unless_in_place(sendbuf: *mut c_void, comm: *const c_void) -> c_int {
    match sentinel::buffer(sendbuf) == MPI_IN_PLACE {
        true => 0,
        // SAFETY: by this function's contract.
        false => unsafe { all(comm) },
    }
}

#[derive(Default)]
pub struct Neighbors {
    pub sources: c_int,
    pub destinations: c_int,
}

/// The neighbors of this process; none where there is no topology, which the call itself reports.
///
/// # Safety
/// An INTEGER stands at the address.
pub unsafe fn neighbors(comm: *const c_void) -> Neighbors {
    // SAFETY: by this function's contract.
    let Some(comm) = (unsafe { communicator(comm) }) else {
        return Neighbors::default();
    };
    let (mut topology, mut rank, mut count, mut weighted) = (MPI_UNDEFINED, 0, 0, 0);
    let mut found = Neighbors::default();
    // SAFETY: places of this function's.
    unsafe {
        PMPI_Topo_test(comm, &mut topology);
        match topology {
            MPI_CART => {
                PMPI_Cartdim_get(comm, &mut count);
                count *= 2;
            }
            MPI_GRAPH => {
                PMPI_Comm_rank(comm, &mut rank);
                PMPI_Graph_neighbors_count(comm, rank, &mut count);
            }
            MPI_DIST_GRAPH => {
                let Neighbors {
                    sources,
                    destinations,
                } = &mut found;
                PMPI_Dist_graph_neighbors_count(comm, sources, destinations, &mut weighted);
                return found;
            }
            _ => {}
        }
    }
    Neighbors {
        sources: count,
        destinations: count,
    }
}
