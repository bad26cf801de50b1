//! Puts and gets that a network's adapter makes in the target's memory, while its process does what it likes.
//!
//! Each process exposes its part when the window is made, and all tell all where. Where the way to a target reaches it, data that lie together
//! at the target go so, from and to the program's memory; commands do all else. Such an access is complete at the target when its request
//! is, so a flush asks the target nothing about it. It has no order among commands, and needs none: only accumulates are ordered among each
//! other, and a put or get that meets one in one epoch has an undefined outcome (MPI-5.0 §12.7). What separates epochs, or the two in
//! one, completes both. Updates stay commands: what an adapter updates by itself is not atomic with what a processor updates.

use std::sync::OnceLock;

use parking_lot::Mutex;
use weft_engine::Place;
use weft_memory::Memory;
use weft_rma::far::Access;
use weft_transport::{Direction, Exposed, Exposure, Fabric};

use super::Far;
use super::line::What;
use super::path::{Owner, Path};
use crate::error::Result;
use crate::objects::comm::{Comm, Traffic};
use crate::process::engine::engine;

/// How a process tells where it has exposed its part, if it has.
pub type Words = [i64; 3];

/// This process's own part.
#[derive(Default)]
pub struct OwnExposure(Mutex<Option<Exposure>>);

/// Another process's.
#[derive(Default)]
pub struct TheirExposure {
    exposed: Option<Exposed>,
    /// Whether the way to the process reaches it; found when it is first needed.
    is_reached: OnceLock<bool>,
}

impl TheirExposure {
    fn told([is_exposed, first, second]: Words) -> TheirExposure {
        TheirExposure {
            exposed: (is_exposed != 0).then_some(Exposed([first as u64, second as u64])),
            is_reached: OnceLock::new(),
        }
    }
}

impl Far {
    /// Exposes this process's part, which stays where it is until [`hide`](Self::hide): what the others are to be told.
    pub fn expose(&self, comm: &Comm, part: Memory) -> Words {
        if part.bytes == 0 {
            return Words::default();
        }
        let exposure = engine().fabric().expose(comm.lane(), part);
        let words = exposure.as_ref().map_or(Words::default(), |exposure| {
            let [first, second] = exposure.exposed.0;
            [1, first as i64, second as i64]
        });
        *self.exposure.0.lock() = exposure;
        words
    }

    /// What all have told, by rank.
    pub fn exposed(&mut self, told: &[Words]) {
        for (part, &words) in self.parts.iter_mut().zip(told) {
            part.exposure = TheirExposure::told(words);
        }
    }

    /// No process accesses this one's part any more.
    pub fn hide(&self) {
        *self.exposure.0.lock() = None;
    }
}

impl Path<'_> {
    /// Where the data of an access lie in what the target exposes: how far in. None if they do not lie together, or it is not reached so.
    pub(super) fn exposed(&self, access: &Access) -> Option<(Exposed, u64)> {
        let run = access.only_run()?;
        let TheirExposure {
            exposed,
            is_reached,
        } = &self.part.exposure;
        let exposed = (*exposed)?;
        let find = || {
            let peer = self.comm.peer(self.target);
            engine().fabric().reaches_exposed(peer)
        };
        let offset = u64::try_from(run).ok()?;
        is_reached.get_or_init(find).then_some((exposed, offset))
    }

    /// Accesses what the target exposes.
    ///
    /// # Safety
    /// The memory is valid until the access is complete, for reads if it is written to the target, else for writes.
    pub(super) unsafe fn access_exposed(
        &self,
        (exposed, offset): (Exposed, u64),
        direction: Direction,
        memory: &Memory,
        owner: &mut Owner,
    ) -> Result<()> {
        let mut state = self.enter_to_access()?;
        self.pause(&mut state);
        state.begin(false);
        let place = Place {
            lane: self.comm.lane(),
            peer: self.comm.peer(self.target),
            context: self.comm.context(Traffic::OneSided),
            exposed,
            offset,
        };
        let id = engine().access(place, direction, memory.clone())?;
        Self::note(&mut state, owner, id, What::Data);
        Ok(())
    }
}
