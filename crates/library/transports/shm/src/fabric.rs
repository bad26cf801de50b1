//! A process's attachment to the shared memory of its host.

use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use weft_transport::{Directory, Fabric, LONGEST_SLEEP_MS, Near, Peer};

use weft_sync::Section;

use crate::base::{Base, SERVICES, Shape};
use crate::card::Card;
use crate::connecting::Connecting;
use crate::endings::Endings;
use crate::endpoint::ShmEndpoint;
use crate::host::Host;
use crate::peers::Peers;
use crate::pipe;
use crate::segment::Segment;
use crate::shared::{Options, Served, Service, Shared};
use crate::view;

/// A process's attachment to the shared memory of its host. Clones are the same one.
#[derive(Clone)]
pub struct Shm {
    shared: Arc<Shared>,
}

impl Shm {
    /// Attaches process `rank`, on whose host are the `local_ranks`, in ascending order and itself among them, with up to
    /// `lanes` (at most 63) lanes. Publish [`card`](Self::card) where the peers' `directory` finds it.
    pub fn new(
        rank: Peer,
        local_ranks: &[Peer],
        lanes: u32,
        directory: Arc<dyn Directory>,
    ) -> io::Result<Shm> {
        Shm::with_options(rank, local_ranks, lanes, directory, Options::default())
    }

    /// As [`new`](Self::new).
    pub fn with_options(
        rank: Peer,
        local_ranks: &[Peer],
        lanes: u32,
        directory: Arc<dyn Directory>,
        options: Options,
    ) -> io::Result<Shm> {
        assert!((1..=SERVICES).contains(&lanes));
        let (host, position) = placed(rank, local_ranks)?;
        let shape = Shape {
            ranks: host.ranks(),
            lanes,
            digest: host.digest(),
        };
        let pid = std::process::id();
        let view = view::own();
        // In a /proc that shows other processes than this one sees, nothing stands of it; nobody opens its segment then.
        let start = weft_kernel::process::start_of(pid)?.unwrap_or(0);
        weft_kernel::process::allow_copies();
        let key = weft_kernel::random_words()?;
        let segment = Segment::create(shape.base_bytes())?;
        let base = Base::create(segment.map(shape.base_bytes())?, shape, rank, key);
        let card = Card {
            pid,
            start,
            memfd: segment.memfd(),
            key,
            view,
            pipe: None,
        };
        let peers = Peers::new(directory, shape, host);
        let shared = Shared {
            rank,
            position,
            shape,
            options,
            card,
            base,
            segment,
            peers,
            own: OnceLock::new(),
            connecting: Connecting::new(),
            endings: Endings::new(),
            services: Section::new(Vec::new()),
            services_watch: AtomicBool::new(false),
            shares_cores: AtomicBool::new(false),
        };
        Ok(Shm {
            shared: Arc::new(shared),
        })
    }

    /// From here on this process sleeps in poll(2), on a pipe of its own, so that it can [sleep](Near::sleep_with) on other
    /// descriptors too. Called at once, before anything else is done with the attachment: peers find the pipe by the
    /// [`card`](Self::card).
    pub fn use_descriptor(&mut self) -> io::Result<()> {
        let shared = Arc::get_mut(&mut self.shared)
            .expect("no endpoint or clone of the attachment has been made");
        let (pipe, name) = pipe::create()?;
        shared.base.sleep_on(pipe);
        shared.card.pipe = Some(name);
        Ok(())
    }

    /// The processes of this host are more than its cores.
    pub fn share_cores(&self) {
        self.shared.shares_cores.store(true, Ordering::Relaxed);
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// From here on `service` is run when a peer calls.
    pub fn add_service(&self, service: Arc<dyn Service>) {
        self.shared.services.enter().push(service);
    }

    /// Ends what [`add_service`](Self::add_service) began; one that runs is ended first.
    pub fn remove_service(&self, service: &Arc<dyn Service>) {
        let mut all = self.shared.services.enter();
        all.retain(|other| !Arc::ptr_eq(other, service));
    }

    /// The line by which peers find this process.
    pub fn card(&self) -> String {
        self.shared.card.to_string()
    }
}

/// The host of a process, and its position there.
fn placed(rank: Peer, local_ranks: &[Peer]) -> io::Result<(Host, u32)> {
    let host = Host::new(local_ranks)
        .ok_or_else(|| io::Error::other("the ranks of the host are not in ascending order"))?;
    let position = host.position(rank).ok_or_else(|| {
        io::Error::other(format!(
            "rank {rank} is not among the ranks of its own host"
        ))
    })?;
    Ok((host, position))
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
        let watches = self.shared.services_watch.load(Ordering::Relaxed);
        self.shared.base.signalled() | u64::from(watches) << SERVICES
    }

    fn prepare_sleep(&self) -> u32 {
        self.shared.base.prepare_sleep()
    }

    /// Wakes also, for no reason, after a quarter of a second, so that dead peers are noticed.
    fn sleep(&self, ticket: u32, timeout_ms: Option<u32>) {
        self.sleep_with(ticket, timeout_ms, &[]);
    }

    fn wake(&self) {
        self.shared.base.wake();
    }

    fn rung_at(&self) -> Option<u64> {
        self.shared.base.rung_at()
    }

    #[cold]
    fn serve(&self) -> bool {
        // A thread that is at it already looks at all that were called for before it took the call.
        let Some(services) = self.shared.services.try_enter() else {
            return false;
        };
        let called = self.shared.base.is_called();
        let mut all = Served::default();
        for service in services.iter() {
            let served = service.run(called);
            all.moved |= served.moved;
            all.watches |= served.watches;
        }
        let watch = &self.shared.services_watch;
        if watch.load(Ordering::Relaxed) != all.watches {
            watch.store(all.watches, Ordering::Relaxed);
        }
        all.moved
    }
}

/// At most [`OTHERS`](weft_sync::Pipe::OTHERS) descriptors, after [`Shm::use_descriptor`].
impl Near for Shm {
    fn reaches(&self, peer: Peer) -> bool {
        self.shared.peers.host.position(peer).is_some()
    }

    fn sleep_with(&self, ticket: u32, timeout_ms: Option<u32>, descriptors: &[RawFd]) -> bool {
        let longest_ms = self.shared.options.longest_sleep_ms;
        let timeout_ms = timeout_ms
            .unwrap_or(u32::MAX)
            .min(longest_ms.unwrap_or(LONGEST_SLEEP_MS));
        self.shared.base.sleep(
            ticket,
            Duration::from_millis(u64::from(timeout_ms)),
            descriptors,
        )
    }
}
