//! Parts of a window that are exposed to the network's adapter.

use std::sync::OnceLock;

use parking_lot::Mutex;
use weft_memory::Memory;
use weft_process::engine::engine;
use weft_transport::{Exposed, Exposure, Fabric, Peer};

/// How a process tells where it has exposed its part, if it has.
pub type Words = [i64; 4];

/// This process's own.
#[derive(Default)]
pub struct OwnExposure(Mutex<Option<Exposure>>);

impl OwnExposure {
    /// Exposes it for the window's lane: what the others are to be told.
    pub fn begin(&self, lane: u32, part: Memory) -> Words {
        let exposure = engine().fabric().expose(lane, part);
        let words = exposure.as_ref().map_or(Words::default(), |exposure| {
            let [first, second, third] = exposure.exposed.0.map(|word| word as i64);
            [1, first, second, third]
        });
        *self.0.lock() = exposure;
        words
    }

    pub fn end(&self) {
        *self.0.lock() = None;
    }
}

/// Another process's.
#[derive(Default)]
pub struct TheirExposure {
    exposed: Option<Exposed>,
    /// Whether the way to the process reaches it; found when it is first needed.
    is_reached: OnceLock<bool>,
}

impl TheirExposure {
    pub fn told([is_exposed, first, second, third]: Words) -> TheirExposure {
        TheirExposure {
            exposed: (is_exposed != 0)
                .then_some(Exposed([first, second, third].map(|word| word as u64))),
            is_reached: OnceLock::new(),
        }
    }

    /// Where it is, if the way to its process reaches it.
    pub fn reached(&self, peer: Peer) -> Option<Exposed> {
        let exposed = self.exposed?;
        let find = || engine().fabric().reaches_exposed(peer);
        self.is_reached.get_or_init(find).then_some(exposed)
    }
}
