//! Puts and gets that a network's adapter makes in the target's memory, while its process does what it likes.
//!
//! Each process exposes its part when the window is made, and all tell all where. Where the way to a target reaches it, data that lie together
//! at the target go so, from and to the program's memory; commands do all else. Such an access is complete at the target when its request
//! is, so a flush asks the target nothing about it. It has no order among commands, and needs none: only accumulates are ordered among each
//! other, and a put or get that meets one in one epoch has an undefined outcome (MPI-5.0 §12.7). What separates epochs, or the two in
//! one, completes both. Updates stay commands: what an adapter updates by itself is not atomic with what a processor updates.

use weft_engine::AccessTarget;
use weft_error::Result;
use weft_memory::Memory;
use weft_objects::comm::{Comm, Traffic};
use weft_process::engine::engine;
use weft_rma::far::Access;
use weft_transport::{Direction, Exposed};

use super::Far;
use super::exposure::{TheirExposure, Words};
use super::line::What;
use super::path::{Owner, Path};

impl Far {
    /// Exposes this process's part, which stays where it is until [`hide`](Self::hide): what the others are to be told.
    pub fn expose(&self, comm: &Comm, part: Memory) -> Words {
        match part.bytes {
            0 => Words::default(),
            _ => self.exposure.begin(comm.lane(), part),
        }
    }

    /// What all have told, by rank.
    pub fn exposed(&mut self, told: &[Words]) {
        for (part, &words) in self.parts.iter_mut().zip(told) {
            part.exposure = TheirExposure::told(words);
        }
    }

    /// No process accesses this one's part any more.
    pub fn hide(&self) {
        self.exposure.end();
    }
}

impl Path<'_> {
    /// Where the data of an access lie in what the target exposes: how far in. None if they do not lie together, or it is not reached so.
    pub(super) fn exposed(&self, access: &Access) -> Option<(Exposed, u64)> {
        let run = access.only_run()?;
        let offset = u64::try_from(run).ok()?;
        let exposed = self.exposure.reached(self.comm.peer(self.target))?;
        Some((exposed, offset))
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
        state.begin(false);
        let place = AccessTarget {
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
