//! The environment that ranks start with.

use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Names the job in every process of it: a list, outermost first, of the jobs that it runs within.
pub const JOB_VARIABLE: &str = "WEFT_JOB";

/// Tells the library how many CPUs the ranks share in all, which a bound rank cannot see.
pub const CORES_VARIABLE: &str = "WEFT_HOST_CORES";

/// What another launcher has told mpiexec itself is not true of mpiexec's ranks.
fn is_of_another_launcher(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.starts_with(b"PMI_")
        || name.starts_with(b"PMIX_SERVER_URI")
        || name.starts_with(b"OMPI_COMM_WORLD_")
        || [
            &b"PMIX_RANK"[..],
            b"PMIX_NAMESPACE",
            b"MPI_LOCALRANKID",
            b"MPI_LOCALNRANKS",
            b"SLURM_STEP_NUM_TASKS",
        ]
        .contains(&name)
}

/// The environment of an application's ranks, but for what differs from rank to rank: mpiexec's own, then the settings in
/// order, later ones over earlier ones.
pub fn of_application<'a>(
    settings: impl Iterator<Item = &'a (OsString, OsString)>,
) -> Vec<CString> {
    let mut variables: Vec<(OsString, OsString)> = std::env::vars_os()
        .filter(|(name, _)| !is_of_another_launcher(name))
        .collect();
    for (name, value) in settings {
        match variables.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => old.clone_from(value),
            None => variables.push((name.clone(), value.clone())),
        }
    }
    variables
        .into_iter()
        .filter_map(|(name, value)| entry(&name, &value))
        .collect()
}

/// What rank `rank` of `size` is told (PMI-1).
pub fn of_rank(rank: u32, size: u32, socket: i32) -> Vec<CString> {
    let (socket, rank, size) = (socket.to_string(), rank.to_string(), size.to_string());
    let variables = [
        ("PMI_FD", &socket),
        ("PMI_RANK", &rank),
        ("PMI_SIZE", &size),
        ("MPI_LOCALRANKID", &rank),
        ("MPI_LOCALNRANKS", &size),
    ];
    variables
        .into_iter()
        .filter_map(|(name, value)| entry(name.as_ref(), value.as_ref()))
        .collect()
}

/// The value of [`JOB_VARIABLE`] for a job that may itself run within others.
pub fn job_list(job: &str) -> OsString {
    match std::env::var_os(JOB_VARIABLE) {
        Some(mut outer) if !outer.is_empty() => {
            outer.push("/");
            outer.push(job);
            outer
        }
        _ => job.into(),
    }
}

/// `NAME=VALUE`; the command line and the environment, where both come from, hold no zero byte.
fn entry(name: &OsStr, value: &OsStr) -> Option<CString> {
    let mut entry = name.to_owned();
    entry.push("=");
    entry.push(value);
    CString::new(entry.into_vec()).ok()
}
