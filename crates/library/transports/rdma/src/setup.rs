//! Making links: what is asked of peers, and what they ask. Called outside of all lanes' sections.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_sync::kernel::random;
use weft_transport::Peer;
use weft_verbs::AddressHandle;

use crate::adapter::{Adapter, Unusable, unusable};
use crate::card::Card;
use crate::datagrams::{Datagram, Datagrams};
use crate::handshake::{End, Message, Nonce, Refusal, Step, psn};
use crate::identity::Identity;
use crate::parts::LanePair;

/// Between the first two requests; then twice as long, up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(4);
/// A peer that computes answers no request, so there is no end of repeating them.
const LAST_PAUSE: Duration = Duration::from_millis(500);

/// A lane's link to a peer: there is one at most.
pub type Name = (Peer, u32);

/// A peer's card, and the way to it.
#[derive(Clone)]
pub struct Way {
    pub card: Arc<Card>,
    pub handle: AddressHandle,
}

/// A link that was asked for.
struct Dial {
    pair: LanePair,
    own: End,
    nonce: Nonce,
    request: Datagram,
    way: Way,
    next: Instant,
    pause: Duration,
}

/// A link that a peer has asked for, and what it was told.
struct Answered {
    nonce: Nonce,
    answer: Datagram,
}

/// A link that stands.
pub struct Made {
    pub name: Name,
    pub pair: LanePair,
    /// The peer knows of it.
    pub is_open: bool,
}

pub struct Setup {
    datagrams: Datagrams,
    dials: BTreeMap<Name, Dial>,
    answered: BTreeMap<Name, Answered>,
    /// Links that were asked for, and stand.
    standing: BTreeSet<Name>,
}

/// What has become of a request for a link.
pub enum Outcome {
    Made(Made),
    Lost(Peer, String),
}

impl Setup {
    pub fn new(datagrams: Datagrams) -> Setup {
        Setup {
            datagrams,
            dials: BTreeMap::new(),
            answered: BTreeMap::new(),
            standing: BTreeSet::new(),
        }
    }

    pub fn datagrams(&mut self) -> &mut Datagrams {
        &mut self.datagrams
    }

    pub fn way(&self, adapter: &Adapter, card: Arc<Card>) -> Result<Way, Unusable> {
        let handle = self.datagrams.handle(adapter, &card).map_err(unusable)?;
        Ok(Way { card, handle })
    }

    /// Links that are asked for.
    pub fn pending(&self) -> usize {
        self.dials.len()
    }

    /// When the next request is to be repeated.
    pub fn due(&self) -> Option<Instant> {
        self.dials.values().map(|dial| dial.next).min()
    }

    /// Whether a link is asked for, or was made.
    pub fn knows(&self, name: Name) -> bool {
        let is_made = self.answered.contains_key(&name) || self.standing.contains(&name);
        is_made || self.dials.contains_key(&name)
    }

    /// Asks for a link.
    pub fn dial(
        &mut self,
        name: Name,
        pair: LanePair,
        way: Way,
        identity: &Identity,
        adapter: &Adapter,
    ) -> Result<(), Unusable> {
        let nonce = random().map_err(unusable)?;
        let own = end(&pair, &nonce, adapter);
        let request = message(Step::Request, name, own, nonce, identity);
        let request = request.put(&way.card.key);
        self.datagrams.send(&way.handle, &way.card, &request);
        let dial = Dial {
            pair,
            own,
            nonce,
            request,
            way,
            next: Instant::now() + FIRST_PAUSE,
            pause: FIRST_PAUSE,
        };
        self.dials.insert(name, dial);
        Ok(())
    }

    /// Repeats the requests whose time has come.
    pub fn repeat(&mut self, now: Instant) {
        for dial in self.dials.values_mut().filter(|dial| dial.next <= now) {
            self.datagrams
                .send(&dial.way.handle, &dial.way.card, &dial.request);
            dial.pause = (dial.pause * 2).min(LAST_PAUSE);
            dial.next = now + dial.pause;
        }
    }

    /// A peer, whose words these certainly are, asks for a link. `make` makes a queue pair for it. With both sides asking at once, it is the
    /// request of the lower rank that is answered.
    pub fn asked(
        &mut self,
        asks: &Message,
        way: &Way,
        identity: &Identity,
        adapter: &Adapter,
        make: impl FnOnce() -> Result<LanePair, Unusable>,
    ) -> Option<Made> {
        let name = (asks.from, asks.lane);
        if let Some(known) = self.answered.get(&name) {
            if known.nonce == asks.nonce {
                self.datagrams.send(&way.handle, &way.card, &known.answer);
            }
            return None;
        }
        let is_first = self.dials.contains_key(&name) && identity.rank < asks.from;
        if is_first || self.standing.contains(&name) {
            return None;
        }
        let pair = match self.dials.remove(&name) {
            Some(dial) => Ok(dial.pair),
            None => make(),
        };
        let connected = pair.and_then(|pair| {
            let own = end(&pair, &asks.nonce, adapter);
            let to = adapter.connection(&way.card.place, &own, &asks.end, identity.timeout);
            pair.connect(&to).map_err(unusable)?;
            Ok((pair, own))
        });
        let Ok((pair, own)) = connected else {
            self.refuse(asks, way, Refusal::Full, identity);
            return None;
        };
        let answer = message(Step::Answer, name, own, asks.nonce, identity);
        let answer = answer.put(&identity.key);
        self.datagrams.send(&way.handle, &way.card, &answer);
        let nonce = asks.nonce;
        self.answered.insert(name, Answered { nonce, answer });
        Some(Made {
            name,
            pair,
            is_open: false,
        })
    }

    pub fn refuse(&mut self, asks: &Message, way: &Way, why: Refusal, identity: &Identity) {
        let name = (asks.from, asks.lane);
        let refusal = message(
            Step::Refused(why),
            name,
            End::default(),
            asks.nonce,
            identity,
        );
        let refusal = refusal.put(&identity.key);
        self.datagrams.send(&way.handle, &way.card, &refusal);
    }

    /// A peer, whose words these certainly are, answers.
    pub fn answered(
        &mut self,
        says: &Message,
        identity: &Identity,
        adapter: &Adapter,
    ) -> Option<Outcome> {
        let name = (says.from, says.lane);
        if self.dials.get(&name)?.nonce != says.nonce {
            return None;
        }
        let dial = self.dials.remove(&name)?;
        if let Step::Refused(why) = says.step {
            return Some(Outcome::Lost(says.from, why.to_string()));
        }
        let place = &dial.way.card.place;
        let to = adapter.connection(place, &dial.own, &says.end, identity.timeout);
        self.standing.insert(name);
        Some(match dial.pair.connect(&to) {
            Ok(()) => Outcome::Made(Made {
                name,
                pair: dial.pair,
                is_open: true,
            }),
            Err(error) => Outcome::Lost(says.from, error.to_string()),
        })
    }

    /// The key that a peer which was asked has, by which its answers are known.
    pub fn key_of(&self, name: Name) -> Option<[u8; 16]> {
        self.dials.get(&name).map(|dial| dial.way.card.key)
    }

    /// Asks nothing of a lost peer.
    pub fn forget(&mut self, peer: Peer) {
        self.dials.retain(|name, _| name.0 != peer);
        self.answered.retain(|name, _| name.0 != peer);
        self.standing.retain(|name| name.0 != peer);
    }
}

fn end(pair: &LanePair, nonce: &Nonce, adapter: &Adapter) -> End {
    End {
        queue_pair: pair.number(),
        psn: psn(nonce),
        mtu: adapter.mtu,
        reads: adapter.reads,
    }
}

fn message(step: Step, name: Name, end: End, nonce: Nonce, identity: &Identity) -> Message {
    Message {
        step,
        from: identity.rank,
        to: name.0,
        lane: name.1,
        job: identity.job,
        nonce,
        end,
    }
}
