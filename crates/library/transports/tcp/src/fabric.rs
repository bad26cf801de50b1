//! A process's attachment to the network.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use weft_credentials::{JobHash, Key};
use weft_transport::{Directory, Fabric, Far, LONGEST_SLEEP_MS, Peer};

use crate::addresses;
use crate::card::Card;
use crate::counters::{Counters, Traffic};
use crate::endpoint::TcpEndpoint;
use crate::identity::Identity;
use crate::interfaces::{self, Interface};
use crate::listener::Listener;
use crate::options::Options;
use crate::setup::Setup;
use crate::shared::Shared;
use crate::system::{Bell, Interest, Poller, Ticker, explained};
use crate::token::Token;

/// Lanes that a fabric may have.
const MOST_LANES: u32 = 63;

/// A process's attachment to the network. Clones are the same one.
#[derive(Clone)]
pub struct Tcp {
    shared: Arc<Shared>,
    card: Arc<str>,
}

impl Tcp {
    /// Attaches process `rank` of `size`, with up to `lanes` lanes, and listens. Publish [`card`](Self::card) where the peers'
    /// `directory` finds it. All that the lanes need beside connections is made here.
    pub fn new(
        rank: Peer,
        size: u32,
        lanes: u32,
        directory: Arc<dyn Directory>,
        options: Options,
    ) -> io::Result<Tcp> {
        Tcp::attach(rank, size, lanes, directory, options).map_err(explained)
    }

    fn attach(
        rank: Peer,
        size: u32,
        lanes: u32,
        directory: Arc<dyn Directory>,
        options: Options,
    ) -> io::Result<Tcp> {
        assert!(rank < size && (1..=MOST_LANES).contains(&lanes));
        let interfaces = interfaces::all()?;
        let within = addresses::within_host(&interfaces);
        let told = match within.filter(|_| options.is_one_host && options.interfaces.is_empty()) {
            Some(loopback) => Ok(vec![loopback]),
            None => addresses::choose(&interfaces, &options.interfaces),
        };
        Tcp::with(
            rank,
            size,
            lanes,
            directory,
            &options,
            interfaces,
            told.map_err(io::Error::other)?,
        )
    }

    /// As [`attach`](Self::attach), on a host with such interfaces, of which peers are told some.
    pub(crate) fn with(
        rank: Peer,
        size: u32,
        lanes: u32,
        directory: Arc<dyn Directory>,
        options: &Options,
        interfaces: Vec<Interface>,
        told: Vec<Interface>,
    ) -> io::Result<Tcp> {
        let within = match &told[..] {
            [one] if one.is_loopback => Some(one.address),
            _ => None,
        };
        let (listener, port) = Listener::new(within)?;
        let key = Key::random()?;
        let (poller, ticker, bell) = (Poller::new()?, Ticker::new()?, Bell::new()?);
        listener.watch(&poller, Token::Listener.bits())?;
        poller.add(&ticker, Token::Ticker.bits(), Interest::Reading)?;
        poller.add(&bell, Token::Bell.bits(), Interest::Reading)?;
        let card = Card {
            port,
            key,
            interfaces: addresses::lists(&told),
        };
        let interfaces = addresses::usable(interfaces);
        let identity = Identity {
            rank,
            size,
            lanes,
            job: JobHash::of(&options.job),
            key,
            timeout: options.timeout,
            interfaces,
            told,
            poller,
            ticker,
        };
        let shared = Shared::new(identity, Setup::new(listener), bell, directory)?;
        Ok(Tcp {
            shared: Arc::new(shared),
            card: card.to_string().into(),
        })
    }

    #[cfg(test)]
    pub(crate) fn rank(&self) -> Peer {
        self.shared.identity.rank
    }

    /// The line by which peers find this process: printable ASCII without spaces and semicolons, shorter than 800 bytes.
    pub fn card(&self) -> String {
        self.card.to_string()
    }

    /// Is ready for reading when a lane has something to do or [`wake`](Fabric::wake) was called after
    /// [`prepare_sleep`](Fabric::prepare_sleep), so that a sleeper can wait for it beside others.
    pub fn descriptor(&self) -> RawFd {
        self.shared.identity.poller.as_raw_fd()
    }

    pub fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        let lanes = self.shared.lanes.iter();
        lanes.for_each(|lane| counters.add(&lane.counts));
        counters
    }

    /// What has gone by each interface whose addresses peers are told.
    pub fn traffic(&self) -> Vec<Traffic> {
        let names = self.shared.identity.names().into_iter().enumerate();
        let of_one = |(interface, name): (usize, &str)| {
            let lanes = self.shared.lanes.iter();
            let all = lanes.map(|lane| lane.counts.traffic(interface));
            let (sent_bytes, received_bytes) =
                all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            Traffic {
                interface: name.to_owned(),
                sent_bytes,
                received_bytes,
            }
        };
        names.map(of_one).collect()
    }

    /// Connections that are being made, by this process or to it.
    pub fn pending(&self) -> usize {
        self.shared.pending()
    }
}

impl Fabric for Tcp {
    type Endpoint = TcpEndpoint;

    fn endpoint(&self, lane: u32) -> TcpEndpoint {
        TcpEndpoint::new(self.shared.clone(), lane)
    }

    #[cold]
    fn connect(&self, peer: Peer) {
        self.shared.connect(peer);
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
}

impl Far for Tcp {
    fn descriptors(&self) -> Vec<RawFd> {
        vec![self.descriptor()]
    }
}
