//! Looking into a fabric without a place in it: nothing is taken, nothing is written.
//!
//! Segments of processes are read as files and never mapped, so that one that ends while it is looked at does no harm. A member
//! looks through its own mapping of the fabric: closing another descriptor of that file would end its lock (`processes`, rule 4).

use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;

use super::identity::Identity;
use super::layout::{PROCESS_MAGIC, ProcessHeader};
use super::mapping::Mapping;
use super::membership::Fabric;
use super::numbers::PROCESSES;
use super::own_segment::MEMFD_NAME;
use super::processes::{self, Entry};
use super::{mapping, name_service};

/// A living process of a fabric, as one sees it who looks.
pub struct Seen {
    pub pid: u32,
    segment: File,
}

/// The processes that live in the fabric called `name` on this host, as far as /proc shows them; none if there is no such fabric.
pub fn processes(name: &str) -> io::Result<Vec<Seen>> {
    let identity = Identity::of_process()?;
    Fabric::unless_joined(name, |joined| match joined {
        Some(fabric) => Ok(seen_in(fabric.processes().fabric(), &identity)),
        None => {
            let fabric = name_service::find_living(name, &identity);
            Ok(fabric.map_or_else(Vec::new, |fabric| seen_in(&fabric, &identity)))
        }
    })
}

fn seen_in(fabric: &Mapping, identity: &Identity) -> Vec<Seen> {
    (0..PROCESSES as u8)
        .filter_map(|slot| processes::entry(fabric, slot))
        .filter(|entry| entry.pid_namespace == identity.pid_namespace)
        .filter_map(Seen::new)
        .collect()
}

impl Seen {
    /// None if the process is gone, or its number is another's by now.
    fn new(entry: Entry) -> Option<Seen> {
        let memfd = mapping::open_descriptor(entry.pid, entry.memfd, MEMFD_NAME).ok()?;
        let seen = Seen {
            pid: entry.pid,
            segment: memfd.into(),
        };
        let magic = seen.word(offset_of!(ProcessHeader, magic))?;
        let key = seen.word(offset_of!(ProcessHeader, key))?;
        (magic == PROCESS_MAGIC && key == entry.key).then_some(seen)
    }

    /// Where the figures of `uar` begin; 0 before there are any.
    pub fn figures(&self) -> u64 {
        self.word(offset_of!(ProcessHeader, figures)).unwrap_or(0)
    }

    /// Reads what lies at `offset`; false if it is not all there.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> bool {
        self.segment.read_exact_at(into, offset).is_ok()
    }

    fn word(&self, offset: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(offset as u64, &mut bytes)
            .then(|| u64::from_ne_bytes(bytes))
    }
}
