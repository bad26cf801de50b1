//! What options say of which CPUs ranks run on.

use serde::{Deserialize, Serialize};

/// Parts of a machine, small ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Object {
    HardwareThread,
    Core,
    L1Cache,
    L2Cache,
    L3Cache,
    Numa,
    Package,
    Machine,
}

/// Each with the names that users of MPICH, Intel MPI and Open MPI write.
const NAMES: &[(Object, &[&str])] = &[
    (Object::HardwareThread, &["hwthread", "hwt"]),
    (Object::Core, &["core"]),
    (
        Object::L1Cache,
        &["l1cache", "l1dcache", "l1icache", "l1ucache", "l1"],
    ),
    (
        Object::L2Cache,
        &["l2cache", "l2dcache", "l2icache", "l2ucache", "l2"],
    ),
    (
        Object::L3Cache,
        &["l3cache", "l3dcache", "l3icache", "l3ucache", "l3"],
    ),
    (Object::Numa, &["numa"]),
    (Object::Package, &["socket", "package"]),
    (Object::Machine, &["machine", "board"]),
];

impl Object {
    pub fn parse(name: &str) -> Option<Object> {
        let mut rows = NAMES.iter();
        rows.find(|(_, names)| names.contains(&name))
            .map(|(object, _)| *object)
    }

    pub fn name(self) -> &'static str {
        let mut rows = NAMES.iter();
        rows.find(|(object, _)| *object == self)
            .map_or("", |(_, names)| names[0])
    }
}

/// What ranks are bound to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum To {
    /// Cores of their own, an equal share.
    #[default]
    Share,
    None,
    /// So many objects each.
    Objects(Object, u32),
    /// One CPU each, in the order of their numbers.
    Each,
    /// The lists in turn.
    Lists(Vec<Vec<u32>>),
}

/// In which order the places of ranks are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RankBy {
    /// Host after host, and there object after object.
    Fill,
    /// One of each host in turn.
    Node,
    /// One of each object in turn.
    Objects(Object),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    pub to: To,
    /// Ranks go to these in turn.
    pub map: Option<Object>,
    /// So many ranks go to an object before the next has its turn.
    pub per_object: Option<u32>,
    /// All hosts' objects have their turn before the first has a second rank.
    pub spans_hosts: bool,
    pub rank_by: Option<RankBy>,
    /// Cores of each rank, or hardware threads.
    pub cpus_per_rank: Option<u32>,
    /// CPUs of each rank are hardware threads.
    pub counts_threads: bool,
    /// No others are used.
    pub within: Option<Vec<u32>>,
}

impl Binding {
    /// What ranks are bound to where options say it in part: so many cores; else what they are mapped to, as with Open MPI.
    pub fn target(&self) -> To {
        let cpu = match self.counts_threads {
            true => Object::HardwareThread,
            false => Object::Core,
        };
        match (&self.to, self.cpus_per_rank, self.map) {
            (To::Share, Some(count), _) => To::Objects(cpu, count),
            (To::Share, None, Some(object)) => To::Objects(object, 1),
            (To::Objects(object, _), Some(count), _) => To::Objects(*object, count),
            (to, _, _) => to.clone(),
        }
    }

    /// Ranks of a host before the next has its turn, where objects decide it. Other hosts are taken to have as many as this one.
    pub fn ranks_per_host(&self, count: impl Fn(Object) -> usize) -> Option<u32> {
        let per_object = self.per_object.or(self.spans_hosts.then_some(1))?;
        let objects = count(self.map?) as u32;
        Some(per_object.saturating_mul(objects)).filter(|&ranks| ranks > 0)
    }

    /// What contradicts itself.
    pub fn check(&self) -> Result<(), String> {
        match (&self.to, self.cpus_per_rank) {
            (To::Objects(Object::Core | Object::HardwareThread, count), Some(cpus))
                if *count != 1 && *count != cpus =>
            {
                Err(format!(
                    "a rank cannot have both {count} and {cpus} CPUs: leave one of the numbers out"
                ))
            }
            (To::Objects(object, _), Some(_)) if *object > Object::Core => Err(format!(
                "a number of CPUs for each rank goes with --bind-to core or hwthread, not {}",
                object.name()
            )),
            (To::Each | To::Lists(_), Some(_)) => {
                Err("a number of CPUs for each rank does not go with a list of them".into())
            }
            _ => Ok(()),
        }
    }
}
