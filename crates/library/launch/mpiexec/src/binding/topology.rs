//! The CPUs that this process may use, and the objects of the machine that they are of.

use super::list::{parse_cpus, show_runs};
use super::request::Object;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// One CPU (hardware thread), and the objects that it is of by number, largest first. Where the kernel does not tell an object, it is as
/// large as the next larger one; a core that is not told is a CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpu {
    pub number: u32,
    pub package: u32,
    pub numa: u32,
    pub l3: u32,
    pub l2: u32,
    pub l1: u32,
    pub core: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    /// Those of an object lie beside each other.
    cpus: Vec<Cpu>,
}

impl Topology {
    pub fn new(mut cpus: Vec<Cpu>) -> Topology {
        cpus.sort_by_key(|cpu| {
            [
                cpu.package,
                cpu.numa,
                cpu.l3,
                cpu.l2,
                cpu.l1,
                cpu.core,
                cpu.number,
            ]
        });
        Topology { cpus }
    }

    /// Of these CPUs, as `/sys` tells.
    pub fn read(cpus: &[u32]) -> Topology {
        let system = Path::new("/sys/devices/system/cpu");
        Topology::new(cpus.iter().map(|&cpu| read_cpu(system, cpu)).collect())
    }

    pub fn cpus(&self) -> Vec<u32> {
        self.cpus.iter().map(|cpu| cpu.number).collect()
    }

    /// The CPUs of each object of a kind.
    pub fn objects(&self, kind: Object) -> Vec<Vec<u32>> {
        let runs = self.cpus.chunk_by(|a, b| a.within(kind) == b.within(kind));
        runs.map(|run| run.iter().map(|cpu| cpu.number).collect())
            .collect()
    }

    /// The same, of those in a list.
    pub fn objects_in(&self, kind: Object, list: &[u32]) -> Vec<Vec<u32>> {
        let cpus = self.cpus.iter().filter(|cpu| list.contains(&cpu.number));
        Topology {
            cpus: cpus.cloned().collect(),
        }
        .objects(kind)
    }

    /// Those of the list alone.
    pub fn within(&self, list: &[u32]) -> Result<Topology, String> {
        self.check(list)?;
        let cpus = self.cpus.iter().filter(|cpu| list.contains(&cpu.number));
        Ok(Topology {
            cpus: cpus.cloned().collect(),
        })
    }

    pub fn check(&self, list: &[u32]) -> Result<(), String> {
        let cpus = self.cpus();
        match list.iter().find(|cpu| !cpus.contains(cpu)) {
            Some(cpu) => Err(format!(
                "CPU {cpu} is not among those that mpiexec may use ({})",
                show_runs(&cpus)
            )),
            None => Ok(()),
        }
    }

    /// A line for each core.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        for cores in self
            .cpus
            .chunk_by(|a, b| a.within(Object::Core) == b.within(Object::Core))
        {
            let (cpu, numbers) = (&cores[0], cores.iter().map(|cpu| cpu.number));
            let _ = writeln!(
                text,
                "socket {}, numa {}, l3cache of CPU {}, l2cache of CPU {}, core {}: CPUs {}",
                cpu.package,
                cpu.numa,
                cpu.l3,
                cpu.l2,
                cpu.core,
                show_runs(&numbers.collect::<Vec<u32>>())
            );
        }
        text
    }
}

impl Cpu {
    /// What CPUs of one object have in common.
    fn within(&self, kind: Object) -> [u32; 7] {
        let mut numbers = [
            self.package,
            self.numa,
            self.l3,
            self.l2,
            self.l1,
            self.core,
            self.number,
        ];
        let known = match kind {
            Object::Machine => 0,
            Object::Package => 1,
            Object::Numa => 2,
            Object::L3Cache => 3,
            Object::L2Cache => 4,
            Object::L1Cache => 5,
            Object::Core => 6,
            Object::HardwareThread => 7,
        };
        numbers[known..].fill(0);
        numbers
    }
}

fn read_cpu(system: &Path, cpu: u32) -> Cpu {
    let folder = system.join(format!("cpu{cpu}"));
    let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let number = |name: &str| text(name).and_then(|text| text.trim().parse::<u32>().ok());
    let (package, core) = match (
        number("topology/physical_package_id"),
        number("topology/core_id"),
    ) {
        (Some(package), Some(core)) => (package, core),
        _ => (0, cpu),
    };
    let caches = caches(&folder);
    let cache = |level: u32| caches.get(&level).copied();
    let l3 = cache(3).unwrap_or(0);
    let l2 = cache(2).unwrap_or(l3);
    Cpu {
        number: cpu,
        package,
        numa: node(&folder).unwrap_or(0),
        l3,
        l2,
        l1: cache(1).unwrap_or(l2),
        core,
    }
}

/// The first CPU of those that share each level of cache with this one.
fn caches(folder: &Path) -> BTreeMap<u32, u32> {
    // More than any processor has.
    const CACHES_MAX: u32 = 16;
    let mut caches = BTreeMap::new();
    for index in 0..CACHES_MAX {
        let text =
            |name: &str| fs::read_to_string(folder.join(format!("cache/index{index}/{name}")));
        let (Ok(level), Ok(shared)) = (text("level"), text("shared_cpu_list")) else {
            break;
        };
        let first = parse_cpus(shared.trim()).and_then(|cpus| cpus.into_iter().min());
        if let (Ok(level), Some(first)) = (level.trim().parse(), first) {
            caches.insert(level, first);
        }
    }
    caches
}

/// A link of this name stands for the NUMA node.
fn node(folder: &Path) -> Option<u32> {
    let mut names = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.file_name());
    names.find_map(|name| name.to_str()?.strip_prefix("node")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_sys_tells_and_does_without() {
        let root = std::env::temp_dir().join(format!("weft-topology-{}", std::process::id()));
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("cpu5/topology/physical_package_id", "1\n");
        put("cpu5/topology/core_id", "9\n");
        put("cpu5/cache/index0/level", "1\n");
        put("cpu5/cache/index0/shared_cpu_list", "1,5\n");
        put("cpu5/cache/index1/level", "3\n");
        put("cpu5/cache/index1/shared_cpu_list", "0-7\n");
        put("cpu5/node2/x", "");
        let known = read_cpu(&root, 5);
        let unknown = read_cpu(&root, 6);
        fs::remove_dir_all(&root).unwrap();
        let cpu = |number, package, numa, l3, l2, l1, core| Cpu {
            number,
            package,
            numa,
            l3,
            l2,
            l1,
            core,
        };
        assert_eq!(known, cpu(5, 1, 2, 0, 0, 1, 9));
        assert_eq!(unknown, cpu(6, 0, 0, 0, 0, 0, 6));
    }
}
