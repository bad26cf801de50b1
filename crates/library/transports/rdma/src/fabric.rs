//! A process's attachment to the network.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use weft_credentials::{JobHash, Key};
use weft_endpoint::Category;
use weft_kernel::{Poller, random};
use weft_memory::Memory;
use weft_pools::Pools;
use weft_transport::{Allocation, Directory, Exposure, Fabric, Far, LONGEST_SLEEP_MS, Peer};

use crate::adapter::{Adapter, NONE, Unusable, unusable};
use crate::card::{Card, Port};
use crate::counters::{Counters, Traffic};
use crate::datagrams::Datagrams;
use crate::domain::{self, HostCard};
use crate::endpoint::RdmaEndpoint;
use crate::identity::Identity;
use crate::options::Options;
use crate::place::Common;
use crate::presence::Entry;
use crate::rail::Rail;
use crate::setup::Setup;
use crate::shared::Shared;

/// Lanes that a fabric may have: the bits of its signals are theirs, but for those that ask for [`Fabric::serve`].
const MOST_LANES: u32 = 32;

/// A process's attachment to the network. Clones are the same one.
#[derive(Clone)]
pub struct Rdma {
    shared: Arc<Shared>,
    card: Arc<str>,
}

impl Rdma {
    /// Attaches process `rank` of `size`, with up to `lanes` lanes, to the ports of adapters that the user names, or to the fastest that are
    /// up. Publish [`card`](Self::card) where the peers' `directory` finds it.
    pub fn new(
        rank: Peer,
        size: u32,
        lanes: u32,
        directory: Arc<dyn Directory>,
        options: Options,
    ) -> Result<Rdma, Unusable> {
        assert!(rank < size && (1..=MOST_LANES).contains(&lanes));
        let adapters = Adapter::open(lanes, &options)?;
        let key = Key::random().map_err(unusable)?;
        let mut file = None;
        let has_xrc = adapters.iter().any(|adapter| adapter.has_xrc);
        let host = options.first_of_host.filter(|_| has_xrc).map(|first| {
            let place = (first == rank).then(|| {
                let (made, place) = domain::make()?;
                file = Some(made);
                Ok(place)
            });
            let place = place
                .transpose()
                .map_err(|error: io::Error| unusable(error))?;
            Ok(HostCard { first, place })
        });
        let host = host.transpose()?;
        let pools = adapters.first().map(|adapter| adapter.pools.clone());
        let pools = pools.ok_or_else(|| unusable(NONE))?;
        let (mut rails, mut ports) = (Vec::new(), Vec::new());
        for adapter in adapters {
            let (rail, port) = attach(adapter)?;
            rails.push(rail);
            ports.push(port);
        }
        let entry = Entry::own();
        #[cfg(test)]
        let entry = entry.map(|entry| Entry {
            view: entry.view ^ u64::from(options.is_elsewhere),
            ..entry
        });
        let card = Card {
            ports,
            key,
            pools,
            host,
            entry,
        };
        let identity = Identity {
            rank,
            size,
            lanes,
            job: JobHash::of(&options.job),
            key,
            timeout: options.timeout,
            host,
            entry,
            host_of: options.host_of,
            poller: Poller::new().map_err(unusable)?,
        };
        let shared = Shared::new(identity, rails, directory, file)?;
        Ok(Rdma {
            shared: Arc::new(shared),
            card: card.to_string().into(),
        })
    }

    /// The line by which peers find this process: printable ASCII without spaces and semicolons, shorter than 900 bytes.
    pub fn card(&self) -> String {
        self.card.to_string()
    }

    /// What this process's ports have in common with those of the process which has this card; nothing with one that is none.
    pub fn common_with(&self, card: &str) -> Vec<Common> {
        let Some(card) = Card::parse(card) else {
            return Vec::new();
        };
        let theirs = card.places();
        let with = |rail: &Rail| {
            let own = rail.adapter.place;
            theirs.iter().map(move |place| own.common_with(place))
        };
        self.shared.rails.iter().flat_map(with).collect()
    }

    /// What lanes share of an adapter.
    pub fn category(&self) -> Category {
        self.shared.rails[0].adapter.category
    }

    /// What each lane receives into.
    pub fn pools(&self) -> &Pools {
        &self.shared.rails[0].adapter.pools
    }

    /// The names of the adapters and ports that are in use, with commas between them.
    pub fn adapters(&self) -> String {
        let names = self.shared.rails.iter().map(|rail| rail.adapter.name());
        names.collect::<Vec<String>>().join(",")
    }

    /// What has gone by each.
    pub fn traffic(&self) -> Vec<Traffic> {
        let of = |(number, rail): (usize, &Rail)| {
            let mut traffic = Traffic {
                adapter: rail.adapter.name(),
                ..Traffic::default()
            };
            let lanes = self.shared.lanes.iter();
            lanes.for_each(|lane| lane.counts.add_traffic(number, &mut traffic));
            traffic
        };
        self.shared.rails.iter().enumerate().map(of).collect()
    }

    pub fn counters(&self) -> Counters {
        let (lanes, by_rail) = self.shared.made_lanes();
        let rails = self.shared.rails.iter();
        let hardware = rails.map(|rail| rail.adapter.hardware().unwrap_or_default());
        let (uars, uuars) = hardware.fold((0, 0), |(uars, uuars), one| {
            (uars + one.uars(), uuars + one.uuars())
        });
        let mut counters = Counters {
            adapters: self.shared.rails.len() as u64,
            lanes: lanes as u64,
            completion_queues: (by_rail + self.shared.rails.len()) as u64,
            uars,
            uuars,
            receive_queue_pairs: self.shared.receive_queue_pairs() as u64,
            datagrams: self.shared.datagrams(),
            ..Counters::default()
        };
        let lanes = self.shared.lanes.iter();
        lanes.for_each(|lane| counters.add(&lane.counts));
        counters
    }

    /// Loses the datagrams that have come, as a network may.
    #[cfg(test)]
    pub(crate) fn lose_datagrams(&self) -> usize {
        self.shared.lose_datagrams()
    }

    /// What has come to the first port: it is taken away.
    #[cfg(test)]
    pub(crate) fn overhear(&self) -> Vec<Vec<u8>> {
        self.shared.rails[0].setup.enter().datagrams().take()
    }

    /// Comes to the first port, whoever has sent it.
    #[cfg(test)]
    pub(crate) fn hear(&self, datagram: &[u8]) {
        self.shared.hear(datagram);
    }

    /// Links that this process has asked for and that do not stand.
    pub fn pending(&self) -> usize {
        self.shared.pending()
    }
}

/// A rail by an adapter, and what the card says of it.
fn attach(adapter: Adapter) -> Result<(Rail, Port), Unusable> {
    let [a, b, c, d, ..]: [u8; 16] = random().map_err(unusable)?;
    // Keys with the highest bit are the kernel's.
    let queue_key = u32::from_le_bytes([a, b, c, d]) >> 1;
    let datagrams = Datagrams::new(&adapter, queue_key).map_err(unusable)?;
    let port = Port {
        place: adapter.place,
        queue_pair: datagrams.number(),
        queue_key,
        mtu: adapter.mtu,
        reads: adapter.reads,
        has_xrc: adapter.has_xrc,
    };
    Ok((Rail::new(adapter, Setup::new(datagrams)), port))
}

impl Fabric for Rdma {
    type Endpoint = RdmaEndpoint;

    fn endpoint(&self, lane: u32) -> RdmaEndpoint {
        RdmaEndpoint::new(self.shared.clone(), lane)
    }

    #[cold]
    fn connect(&self, peer: Peer) {
        self.shared.connect(peer);
    }

    #[cold]
    fn expose(&self, lane: u32, memory: Memory) -> Option<Exposure> {
        self.shared.expose(lane, &memory)
    }

    #[cold]
    fn allocate(&self, lane: u32, bytes: usize) -> Option<Allocation> {
        self.shared.allocate(lane, bytes)
    }

    fn reaches_exposed(&self, _peer: Peer) -> bool {
        true
    }

    #[inline]
    fn signalled(&self) -> u64 {
        self.shared.signalled()
    }

    fn prepare_sleep(&self) -> u32 {
        self.shared.prepare_sleep()
    }

    fn sleep(&self, ticket: u32, timeout_ms: Option<u32>) {
        let timeout_ms = timeout_ms.unwrap_or(u32::MAX).min(LONGEST_SLEEP_MS);
        self.shared.sleep(ticket, timeout_ms as i32);
    }

    fn wake(&self) {
        self.shared.wake();
    }

    #[cold]
    fn serve(&self) -> bool {
        self.shared.serve()
    }
}

impl Far for Rdma {
    fn descriptors(&self) -> Vec<RawFd> {
        vec![self.shared.identity.poller.as_raw_fd()]
    }
}
