//! The hardware under this process, as Linux describes it, and what of it the process is restricted to (MPI-5.0 §9.1.2).
//!
//! A process is restricted to an instance of a type of resource if all CPUs that its threads may run on are under it.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs;
use std::path::Path;

use weft_error::Result;
use weft_handle::InfoId;

use crate::info;

const CPUS: &str = "/sys/devices/system/cpu";
const THREADS: &str = "/proc/self/task";

/// A type of resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Machine,
    Package,
    NumaNode,
    L3Cache,
    Core,
}

impl Resource {
    /// From the widest on.
    pub const ALL: [Resource; 5] = [
        Resource::Machine,
        Resource::Package,
        Resource::NumaNode,
        Resource::L3Cache,
        Resource::Core,
    ];

    pub fn named(name: &CStr) -> Option<Resource> {
        Resource::ALL
            .into_iter()
            .find(|resource| resource.name() == name)
    }

    pub fn name(self) -> &'static CStr {
        match self {
            Resource::Machine => c"weft://Machine",
            Resource::Package => c"weft://Package",
            Resource::NumaNode => c"weft://NUMANode",
            Resource::L3Cache => c"weft://L3Cache",
            Resource::Core => c"weft://Core",
        }
    }

    /// The instance that a CPU belongs to: its number, or that of its first CPU. `cpu` is the CPU's folder.
    fn of(self, cpu: &Path) -> Option<u32> {
        let first = |file: &str| {
            let list = fs::read_to_string(cpu.join(file)).ok()?;
            numbers(&list).next()
        };
        match self {
            Resource::Machine => Some(0),
            Resource::Package => first("topology/core_siblings_list"),
            Resource::NumaNode => fs::read_dir(cpu).ok()?.find_map(|entry| {
                let name = entry.ok()?.file_name();
                name.to_str()?.strip_prefix("node")?.parse().ok()
            }),
            // Level 1 has two caches.
            Resource::L3Cache => first("cache/index3/shared_cpu_list"),
            Resource::Core => first("topology/thread_siblings_list"),
        }
    }
}

/// Where this process runs: for each type of [`Resource::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// The system does not tell of such a resource.
    Unknown,
    Unrestricted,
    /// In this instance.
    Restricted(u32),
}

/// Where this process runs now.
pub fn locations() -> [Location; Resource::ALL.len()] {
    places_of(&allowed(Path::new(THREADS)), Path::new(CPUS))
}

fn places_of(allowed: &BTreeSet<u32>, cpus: &Path) -> [Location; Resource::ALL.len()] {
    let online = fs::read_to_string(cpus.join("online")).unwrap_or_default();
    // A mask may name CPUs that the machine does not have.
    let usable: Vec<_> = numbers(&online)
        .filter(|cpu| allowed.contains(cpu))
        .map(|cpu| cpus.join(format!("cpu{cpu}")))
        .collect();
    Resource::ALL.map(|resource| {
        if resource == Resource::Machine {
            return Location::Restricted(0);
        }
        let instances: Option<BTreeSet<u32>> = usable.iter().map(|cpu| resource.of(cpu)).collect();
        match instances
            .as_ref()
            .and_then(|all| all.first().zip(all.last()))
        {
            None => Location::Unknown,
            Some((first, last)) if first == last => Location::Restricted(*first),
            Some(_) => Location::Unrestricted,
        }
    })
}

/// The CPUs that the process's threads may run on, by proc_pid_status(5). A thread that has just ended has none.
fn allowed(threads: &Path) -> BTreeSet<u32> {
    let mut cpus = BTreeSet::new();
    for thread in fs::read_dir(threads).into_iter().flatten().flatten() {
        let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        let list = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        cpus.extend(list.into_iter().flat_map(numbers));
    }
    cpus
}

/// The numbers of a list such as `0-3,8`.
fn numbers(list: &str) -> impl Iterator<Item = u32> + '_ {
    let ranges = list.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse::<u32>().ok()?..=last.parse().ok()?)
    });
    ranges.flatten()
}

/// `MPI_Get_hw_resource_info`: the types known here, and for each whether this process is restricted to one of it.
pub fn resources() -> Result<InfoId> {
    let places = Resource::ALL.into_iter().zip(locations());
    let pairs: Vec<(&CStr, &str)> = places
        .filter_map(|(resource, place)| match place {
            Location::Unknown => None,
            Location::Unrestricted => Some((resource.name(), "false")),
            Location::Restricted(_) => Some((resource.name(), "true")),
        })
        .collect();
    info::create_with(&pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_numbers() {
        let all = |list| numbers(list).collect::<Vec<u32>>();
        assert_eq!(all("0-3,8\n"), [0, 1, 2, 3, 8]);
        assert_eq!(all("\t5"), [5]);
        assert!(all("\n").is_empty());
    }

    #[test]
    fn names() {
        for resource in Resource::ALL {
            assert_eq!(Resource::named(resource.name()), Some(resource));
        }
        assert_eq!(Resource::named(c"weft://core"), None);
    }

    /// Two packages, in each a node and two cores of two CPUs; no caches. CPUs 8 and up are not there.
    fn machine() -> std::path::PathBuf {
        let name = format!(
            "weft-hardware-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        );
        let root = std::env::temp_dir().join(name);
        for cpu in 0..8 {
            let folder = root.join(format!("cpu{cpu}"));
            fs::create_dir_all(folder.join("topology")).unwrap();
            fs::create_dir(folder.join(format!("node{}", cpu / 4))).unwrap();
            let list = |width: u32| {
                format!(
                    "{}-{}\n",
                    cpu / width * width,
                    cpu / width * width + width - 1
                )
            };
            fs::write(folder.join("topology/core_siblings_list"), list(4)).unwrap();
            fs::write(folder.join("topology/thread_siblings_list"), list(2)).unwrap();
        }
        fs::write(root.join("online"), "0-7\n").unwrap();
        root
    }

    #[test]
    fn restricted_where_all_cpus_are() {
        use Location::{Restricted, Unknown, Unrestricted};
        let root = machine();
        let of = |cpus: &[u32]| places_of(&cpus.iter().copied().collect(), &root);
        let machine = Restricted(0);
        let found = [
            (
                of(&[5]),
                [
                    machine,
                    Restricted(4),
                    Restricted(1),
                    Unknown,
                    Restricted(4),
                ],
            ),
            (
                of(&[2, 3, 64]),
                [
                    machine,
                    Restricted(0),
                    Restricted(0),
                    Unknown,
                    Restricted(2),
                ],
            ),
            (
                of(&[4, 6]),
                [machine, Restricted(4), Restricted(1), Unknown, Unrestricted],
            ),
            (
                of(&[3, 4]),
                [machine, Unrestricted, Unrestricted, Unknown, Unrestricted],
            ),
            (of(&[]), [machine, Unknown, Unknown, Unknown, Unknown]),
        ];
        fs::remove_dir_all(&root).unwrap();
        for (places, expected) in found {
            assert_eq!(places, expected);
        }
    }
}
