//! A process's attachment to the shared memory of its host.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use weft_transport::{Directory, Fabric, Peer};

use weft_sync::Section;

use crate::base::{Base, ERRANDS, Shape};
use crate::card::Card;
use crate::connecting::Connecting;
use crate::endings::Endings;
use crate::endpoint::ShmEndpoint;
use crate::peers::Peers;
use crate::process;
use crate::segment::Segment;
use crate::shared::{Errands, Options, Shared};

/// The longest sleep: a peer that dies is found out by the lane that is polled after it.
const LONGEST_SLEEP_MS: u32 = 250;

/// A process's attachment to the shared memory of its host. Clones are the same one.
#[derive(Clone)]
pub struct Shm {
    shared: Arc<Shared>,
}

impl Shm {
    /// Attaches process `rank` of `size`, all of which are on this host, with up to `lanes` (at most 63) lanes.
    /// Publish [`card`](Self::card) where the peers' `directory` finds it.
    pub fn new(
        rank: Peer,
        size: u32,
        lanes: u32,
        directory: Arc<dyn Directory>,
    ) -> io::Result<Shm> {
        Shm::with_options(rank, size, lanes, directory, Options::default())
    }

    /// As [`new`](Self::new).
    pub fn with_options(
        rank: Peer,
        size: u32,
        lanes: u32,
        directory: Arc<dyn Directory>,
        options: Options,
    ) -> io::Result<Shm> {
        assert!(rank < size && (1..=ERRANDS).contains(&lanes));
        let shape = Shape { size, lanes };
        let pid = std::process::id();
        let start = process::start_of(pid)?.ok_or_else(|| {
            io::Error::other("/proc is not there, by which processes find each other's memory")
        })?;
        process::allow_copies();
        let key = process::random_key()?;
        let segment = Segment::create(shape.base_bytes())?;
        let base = Base::create(segment.map(shape.base_bytes())?, shape, rank, key);
        let card = Card {
            pid,
            start,
            memfd: segment.memfd(),
            key,
        };
        let peers = Peers::new(directory, shape);
        let shared = Shared {
            rank,
            shape,
            options,
            card,
            base,
            segment,
            peers,
            connecting: Connecting::new(),
            endings: Endings::new(),
            errands: Section::new(Vec::new()),
        };
        Ok(Shm {
            shared: Arc::new(shared),
        })
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// From here on `errands` are run when a peer calls.
    pub fn add_errands(&self, errands: Arc<dyn Errands>) {
        self.shared.errands.enter().push(errands);
    }

    /// Ends what [`add_errands`](Self::add_errands) began; one that runs is ended first.
    pub fn remove_errands(&self, errands: &Arc<dyn Errands>) {
        let mut all = self.shared.errands.enter();
        all.retain(|other| !Arc::ptr_eq(other, errands));
    }

    /// The line by which peers find this process.
    pub fn card(&self) -> String {
        self.shared.card.to_string()
    }
}

impl Fabric for Shm {
    type Endpoint = ShmEndpoint;

    fn endpoint(&self, lane: u32) -> ShmEndpoint {
        ShmEndpoint::new(self.shared.clone(), lane)
    }

    #[cold]
    fn connect(&self, peer: Peer) {
        self.shared.connect(peer);
    }

    #[inline]
    fn signalled(&self) -> u64 {
        self.shared.base.signalled()
    }

    fn prepare_sleep(&self) -> u32 {
        self.shared.base.prepare_sleep()
    }

    /// Wakes also, for no reason, after a quarter of a second, so that dead peers are noticed.
    fn sleep(&self, ticket: u32, timeout_ms: Option<u32>) {
        let timeout_ms = timeout_ms.unwrap_or(u32::MAX).min(LONGEST_SLEEP_MS);
        self.shared
            .base
            .sleep(ticket, Duration::from_millis(u64::from(timeout_ms)));
    }

    fn wake(&self) {
        self.shared.base.wake();
    }

    #[cold]
    fn serve(&self) {
        // A thread that is at it already looks at all that were called for before it took the call.
        if let Some(errands) = self.shared.errands.try_enter()
            && self.shared.base.is_called()
        {
            errands.iter().for_each(|errands| errands.run());
        }
    }
}
