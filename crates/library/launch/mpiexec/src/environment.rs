//! The environment that ranks start with.

use crate::arguments::Inherit;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;

/// Names the job in every process of it: a list, outermost first, of the jobs that it runs within.
pub const JOB_VARIABLE: &str = "WEFT_JOB";

/// Tells the library how many CPUs the ranks share in all, which a bound rank cannot see.
pub const CORES_VARIABLE: &str = "WEFT_HOST_CORES";

/// Tells the library which network namespace the host's agent is in, by its number: the ranks of a job on one host that are in it
/// reach each other by its loopback interface.
pub const NETWORK_VARIABLE: &str = "WEFT_HOST_NETWORK";

/// Tells the library what `MPI_INFO_ENV` holds of the options of a rank's program: KEY=VALUE of each, parted by `;`.
pub const PROGRAM_VARIABLE: &str = "WEFT_PROGRAM";

/// Names the settings of ours that mpiexec's options have made, with commas between, so that a rank knows them from those of the user's
/// environment.
pub const OPTIONS_VARIABLE: &str = "WEFT_OPTIONS";

/// What the library is told of the host that this process runs on, where the ranks share so many CPUs.
pub fn of_host(cores: u32) -> Variables {
    let network = std::fs::metadata("/proc/self/ns/net").ok();
    let network = network.map(|network| (NETWORK_VARIABLE, network.ino().to_string()));
    let cores = (CORES_VARIABLE, cores.to_string());
    let all = [cores].into_iter().chain(network);
    all.map(|(name, value)| (name.into(), value.into()))
        .collect()
}

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

/// What is true of one host, or of one login there, and is taken from where the rank runs.
fn is_of_its_host(name: &OsStr) -> bool {
    const OWN: [&str; 17] = [
        "HOSTNAME",
        "HOST",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "XAUTHORITY",
        "XDG_RUNTIME_DIR",
        "XDG_SESSION_ID",
        "DBUS_SESSION_BUS_ADDRESS",
        "SSH_CLIENT",
        "SSH_CONNECTION",
        "SSH_TTY",
        "SSH_AUTH_SOCK",
        "SLURMD_NODENAME",
        "SLURM_NODEID",
        "SLURM_LOCALID",
        "SLURM_PROCID",
        "SLURM_TASK_PID",
    ];
    OWN.iter().any(|own| name == *own)
}

pub type Variables = Vec<(OsString, OsString)>;

/// What ranks get of mpiexec's own environment.
pub fn inherited(inherit: &Inherit) -> Variables {
    let wanted = |name: &OsString| match inherit {
        Inherit::All => !is_of_its_host(name),
        Inherit::None => false,
        Inherit::Listed(names) => names.contains(name),
    };
    std::env::vars_os()
        .filter(|(name, _)| !is_of_another_launcher(name) && wanted(name))
        .collect()
}

/// What ranks get of the environment of the host that they run on.
pub fn of_this_host() -> Variables {
    std::env::vars_os()
        .filter(|(name, _)| is_of_its_host(name))
        .collect()
}

/// The environment of an application's ranks, but for what differs from rank to rank: what is inherited, then the settings
/// in order, later ones over earlier ones.
pub fn of_application<'a>(
    inherited: Variables,
    settings: impl Iterator<Item = &'a (OsString, OsString)>,
) -> Vec<CString> {
    let mut variables = inherited;
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

/// The value of [`PROGRAM_VARIABLE`]. A value with a `;` in it is not told.
pub fn of_program(ranks: u32, info: &[(String, OsString)]) -> OsString {
    let mut list = OsString::from(format!("maxprocs={ranks}"));
    for (key, value) in info
        .iter()
        .filter(|(_, value)| !value.as_bytes().contains(&b';'))
    {
        list.push(format!(";{key}="));
        list.push(value);
    }
    list
}

/// What [`OPTIONS_VARIABLE`] says where options have made these settings.
pub fn from_options<'a>(settings: impl Iterator<Item = &'a (OsString, OsString)>) -> OsString {
    let names = settings.map(|(name, _)| name.as_os_str());
    let ours = names.filter(|name| name.as_bytes().starts_with(b"WEFT_"));
    let mut ours: Vec<&OsStr> = ours.collect();
    ours.sort();
    ours.dedup();
    ours.join(OsStr::new(","))
}

/// A rank's place in the job and on its host.
pub struct RankPlace {
    pub rank: u32,
    pub size: u32,
    pub local_rank: u32,
    pub local_size: u32,
}

/// What a rank is told (PMI-1); and by other launchers' names what scripts and programs look for that want to know their place
/// before `MPI_Init`.
pub fn of_rank(place: &RankPlace, socket: i32) -> Vec<CString> {
    let variables = [
        ("PMI_FD", socket.to_string()),
        ("PMI_RANK", place.rank.to_string()),
        ("PMI_SIZE", place.size.to_string()),
        ("MPI_LOCALRANKID", place.local_rank.to_string()),
        ("MPI_LOCALNRANKS", place.local_size.to_string()),
        ("OMPI_COMM_WORLD_RANK", place.rank.to_string()),
        ("OMPI_COMM_WORLD_SIZE", place.size.to_string()),
        ("OMPI_COMM_WORLD_LOCAL_RANK", place.local_rank.to_string()),
        ("OMPI_COMM_WORLD_LOCAL_SIZE", place.local_size.to_string()),
    ];
    variables
        .into_iter()
        .filter_map(|(name, value)| entry(name.as_ref(), value.as_ref()))
        .collect()
}

/// The value of [`JOB_VARIABLE`] for a job that may itself run within others.
pub fn job_list(job: &str) -> OsString {
    match std::env::var_os(JOB_VARIABLE) {
        Some(outer) if !outer.is_empty() => within(&outer, job),
        _ => job.into(),
    }
}

/// A list of jobs, and one inside the last of them.
pub fn within(outer: &OsStr, job: &str) -> OsString {
    let mut list = outer.to_owned();
    list.push("/");
    list.push(job);
    list
}

/// `NAME=VALUE`; the command line and the environment, where both come from, hold no zero byte.
fn entry(name: &OsStr, value: &OsStr) -> Option<CString> {
    let mut entry = name.to_owned();
    entry.push("=");
    entry.push(value);
    CString::new(entry.into_vec()).ok()
}
