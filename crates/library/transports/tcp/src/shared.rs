//! What the lanes of a process share.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use socket2::Socket;
use weft_sync::{Section, Slumber};
use weft_transport::{Directory, Lost, Peer};

use crate::addresses;
use crate::card::Card;
use crate::counters::Counts;
use crate::dialing::Dial;
use crate::handshake::{MOST_STRIPES, Purpose};
use crate::identity::{ConnectionName, Identity};
use crate::interfaces;
use crate::paths::{self, Path};
use crate::setup::{Outcome, Setup};
use crate::system::{Bell, Interest, Poller};
use crate::token::Token;
use weft_transport::endings::{Ending, Endings, lost};
use weft_transport::watching::Watching;

/// Connections for stripes that a lane has to a peer at once, at most.
pub const STRIPES: usize = 3;

/// A process's lanes share this.
pub struct Shared {
    pub identity: Identity,
    pub endings: Endings,
    pub watching: Watching,
    pub lanes: Box<[LaneShared]>,
    /// A bit for each lane for which something has come. Set by whoever finds that, cleared by the lane.
    signalled: AtomicU64,
    directory: Arc<dyn Directory>,
    cards: Section<BTreeMap<Peer, Arc<Card>>>,
    setup: Section<Setup>,
    /// Connections that lanes wait for and nobody has begun.
    wants: Section<Vec<Want>>,
    /// Held while wants are fulfilled: the launcher is asked once for a card.
    connecting: Section<()>,
    slumber: Slumber,
    bell: Bell,
}

/// A connection that is wanted. A stripe's is every way beside those that are `used`; theirs are the numbers from its own on.
struct Want {
    link: ConnectionName,
    used: Vec<Path>,
}

/// What others have for a lane, and what it tells them.
pub struct LaneShared {
    pub counts: Counts,
    inbox: Section<Vec<(ConnectionName, Socket)>>,
    /// Until the lane is used.
    poller: Section<Option<Poller>>,
}

impl LaneShared {
    /// What lane `number` is to wait with is made now, when an error can be told.
    fn new(number: u32, identity: &Identity) -> io::Result<LaneShared> {
        let poller = Poller::new()?;
        let token = Token::Lane(number).bits();
        identity.poller.add(&poller, token, Interest::Reading)?;
        Ok(LaneShared {
            counts: Counts::new(identity.names().len()),
            inbox: Section::new(Vec::new()),
            poller: Section::new(Some(poller)),
        })
    }

    pub fn take_poller(&self) -> Poller {
        let poller = self.poller.enter().take();
        poller.expect("a lane has one endpoint")
    }
}

impl Shared {
    pub fn new(
        identity: Identity,
        setup: Setup,
        bell: Bell,
        directory: Arc<dyn Directory>,
    ) -> io::Result<Shared> {
        let lanes = (0..identity.lanes).map(|lane| LaneShared::new(lane, &identity));
        Ok(Shared {
            endings: Endings::new(),
            watching: Watching::new(),
            lanes: lanes.collect::<io::Result<_>>()?,
            signalled: AtomicU64::new(0),
            directory,
            cards: Section::new(BTreeMap::new()),
            setup: Section::new(setup),
            wants: Section::new(Vec::new()),
            connecting: Section::new(()),
            slumber: Slumber::new(),
            bell,
            identity,
        })
    }

    #[inline]
    pub fn signalled(&self) -> u64 {
        self.signalled.load(Ordering::Acquire)
    }

    #[inline]
    pub fn is_signalled(&self, lane: u32) -> bool {
        self.signalled() >> lane & 1 != 0
    }

    /// The lane looks at all there is for it from here on.
    pub fn take_signal(&self, lane: u32) {
        self.signalled.fetch_and(!(1 << lane), Ordering::AcqRel);
    }

    /// Has lanes look at what was left for them, be it that the process sleeps.
    fn signal(&self, lanes: u64) {
        self.signalled.fetch_or(lanes, Ordering::AcqRel);
        self.wake();
    }

    pub fn take_arrived(&self, lane: u32) -> Vec<(ConnectionName, Socket)> {
        std::mem::take(&mut *self.lanes[lane as usize].inbox.enter())
    }

    /// A lane needs a connection: [`connect`](Self::connect) begins it.
    pub fn want(&self, link: ConnectionName) {
        self.watching.connects(link.peer);
        self.want_beside(link, Vec::new());
    }

    /// A lane has use for further connections by other ways than these: [`connect`](Self::connect) begins them, where there are some.
    pub fn want_beside(&self, link: ConnectionName, used: Vec<Path>) {
        self.wants.enter().push(Want { link, used });
    }

    /// Begins the connections to `peer` that lanes wait for. Asks the launcher, and waits for nobody else.
    pub fn connect(&self, peer: Peer) {
        let _connecting = self.connecting.enter();
        let wants: Vec<Want> = self
            .wants
            .enter()
            .extract_if(.., |want| want.link.peer == peer)
            .collect();
        if wants.is_empty() || self.endings.find(peer).is_some() {
            return;
        }
        match self.card(peer) {
            Ok(card) => {
                let now = Instant::now();
                let dials = wants.iter().flat_map(|want| self.dials(want, &card, now));
                let dials: Vec<Dial> = dials.collect();
                let mut setup = self.setup.enter();
                for dial in dials {
                    setup.dial(dial, now, &self.identity);
                }
                let outcomes = setup.take_outcomes();
                drop(setup);
                self.tell(outcomes);
            }
            Err(why) => drop(self.lose(peer, lost(peer, why), true)),
        }
    }

    /// The searches that a want comes to.
    fn dials(&self, want: &Want, card: &Arc<Card>, now: Instant) -> Vec<Dial> {
        let (link, own) = (want.link, &self.identity.told);
        let Purpose::Stripe(first) = link.purpose else {
            let order = addresses::order(&card.addresses(), &self.identity.interfaces);
            return vec![Dial::new(link, card.clone(), order, now)];
        };
        let paths = paths::further(own, &card.interfaces, &want.used, interfaces::speed_mbit);
        let numbered = (first..MOST_STRIPES).zip(paths).take(STRIPES);
        let dial = |(number, path)| {
            let purpose = Purpose::Stripe(number);
            Dial::by(path, ConnectionName { purpose, ..link }, card.clone(), now)
        };
        numbered.map(dial).collect()
    }

    fn card(&self, peer: Peer) -> Result<Arc<Card>, String> {
        if let Some(card) = self.cards.enter().get(&peer) {
            return Ok(card.clone());
        }
        let line = self.directory.card(peer)?;
        let card = Card::parse(&line).ok_or_else(|| format!("its card is none of tcp: {line}"))?;
        let card = Arc::new(card);
        self.cards.enter().insert(peer, card.clone());
        Ok(card)
    }

    /// Hands on what has become of connections.
    fn tell(&self, outcomes: Vec<Outcome>) {
        for outcome in outcomes {
            match outcome {
                Outcome::Stands(link, socket) => {
                    self.watching.connects(link.peer);
                    let lane = &self.lanes[link.lane as usize];
                    lane.inbox.enter().push((link, socket));
                    self.signal(1 << link.lane);
                }
                Outcome::Lost(peer, lost) => drop(self.lose(peer, lost, true)),
            }
        }
    }

    /// Loses a peer, for all lanes. Why: the first reason counts.
    pub fn lose(&self, peer: Peer, lost: Lost, died: bool) -> Lost {
        let (first, is_new) = self.endings.enter(Ending { peer, lost, died });
        if is_new {
            self.setup.enter().forget(peer);
            self.signal((1 << self.identity.lanes) - 1);
        }
        first.lost
    }

    /// Waits so long for the process's descriptors, and does what those ask for that belong to no lane. What belongs to a lane is
    /// signalled. How many were ready.
    pub fn look(&self, timeout_ms: i32) -> usize {
        let (mut lanes, mut others) = (0, Vec::new());
        let count = self
            .identity
            .poller
            .wait(timeout_ms, |bits| match Token::of(bits) {
                Token::Lane(lane) => lanes |= 1u64 << lane,
                other => others.push(other),
            });
        self.slumber.end();
        if lanes != 0 {
            self.signalled.fetch_or(lanes, Ordering::AcqRel);
        }
        if !others.is_empty() {
            self.handle(others);
        }
        count
    }

    #[cold]
    fn handle(&self, tokens: Vec<Token>) {
        let is_ended = |peer| self.endings.find(peer).is_some();
        let mut setup = self.setup.enter();
        let now = Instant::now();
        for token in tokens {
            match token {
                Token::Bell => self.bell.clear(),
                other => setup.handle(other, now, is_ended, &self.identity),
            }
        }
        let outcomes = setup.take_outcomes();
        drop(setup);
        self.tell(outcomes);
    }

    /// Connections of this process that do not stand yet.
    pub fn pending(&self) -> usize {
        self.setup.enter().pending()
    }

    pub fn prepare_sleep(&self) -> u32 {
        self.slumber.prepare()
    }

    pub fn sleep(&self, ticket: u32, timeout_ms: i32) {
        if self.slumber.may_sleep(ticket) {
            self.look(timeout_ms);
        }
        self.stay_awake();
    }

    /// From here on nobody needs to ring.
    pub fn stay_awake(&self) {
        self.slumber.end();
    }

    pub fn wake(&self) {
        if self.slumber.wake() {
            self.bell.ring();
        }
    }
}
