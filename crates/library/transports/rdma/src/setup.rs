//! Making links: what is asked of peers, and what they ask. Called outside of all lanes' sections.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use weft_credentials::{Key, Nonce, random_nonce};
use weft_transport::Peer;

use crate::adapter::{Adapter, Unusable, unusable};
use crate::address::Contact;
use crate::datagrams::{Datagram, Datagrams};
use crate::handshake::{End, LinkStep, Message, Refusal, psn};
use crate::identity::Identity;
use crate::left::{Made, Name};
use crate::parts::MadePair;
use crate::pool_pair::{PoolPair, selected};
use crate::routes::Known;
use crate::xrc::LaneXrc;

/// Between the first two requests; then twice as long, up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(4);
/// A peer that computes answers no request, so there is no end of repeating them.
const LAST_PAUSE: Duration = Duration::from_millis(500);

/// A link that was asked for.
struct Dial {
    pairs: Vec<MadePair>,
    nonce: Nonce,
    request: Datagram,
    way: Contact,
    next: Instant,
    pause: Duration,
}

/// A link that a peer has asked for, and what it was told.
struct Answered {
    nonce: Nonce,
    answer: Datagram,
}

pub struct Setup {
    datagrams: Datagrams,
    dials: BTreeMap<Name, Dial>,
    answered: BTreeMap<Name, Answered>,
    /// Links that were asked for, and stand.
    standing: BTreeSet<Name>,
    /// By lane: connections over XRC.
    pub xrc: BTreeMap<u32, LaneXrc>,
}

/// What has become of a request for a link.
pub enum Outcome {
    Made(Made),
    /// Why the peer gives no link.
    Refused(Name, Refusal),
    /// Why this process's adapter has none.
    Failed(Name, String),
}

impl Setup {
    pub fn new(datagrams: Datagrams) -> Setup {
        Setup {
            datagrams,
            dials: BTreeMap::new(),
            answered: BTreeMap::new(),
            standing: BTreeSet::new(),
            xrc: BTreeMap::new(),
        }
    }

    pub fn datagrams(&mut self) -> &mut Datagrams {
        &mut self.datagrams
    }

    pub fn way(
        &self,
        adapter: &Adapter,
        known: &Known,
        port: usize,
        timeout: Option<Duration>,
    ) -> Result<Contact, Unusable> {
        let Known { card, routes } = known.clone();
        let handle = self.datagrams.handle(adapter, &card.ports[port]);
        Ok(Contact {
            handle: handle.map_err(unusable)?,
            card,
            port,
            routes,
            timeout,
        })
    }

    /// Links that are asked for.
    pub fn pending(&self) -> usize {
        self.dials.len()
    }

    /// When the next request is to be repeated.
    pub fn due(&self) -> Option<Instant> {
        let dials = self.dials.values().map(|dial| dial.next);
        dials
            .chain(self.xrc.values().filter_map(LaneXrc::due))
            .min()
    }

    /// Whether a link is asked for, or was made.
    pub fn knows(&self, name: Name) -> bool {
        let is_made = self.answered.contains_key(&name) || self.standing.contains(&name);
        is_made || self.dials.contains_key(&name)
    }

    /// Peers that have not answered so far what they were asked.
    pub fn unanswered(&self) -> impl Iterator<Item = Peer> {
        let dials = self.dials.keys().map(|name| name.0);
        dials.chain(self.xrc.values().flat_map(LaneXrc::unanswered))
    }

    /// Asks for a link. Out of line: a thread's stack may be small, and queue pairs are made before.
    #[inline(never)]
    pub fn dial(
        &mut self,
        name: Name,
        pairs: Vec<MadePair>,
        way: Contact,
        identity: &Identity,
    ) -> Result<(), Unusable> {
        let nonce = random_nonce().map_err(unusable)?;
        let step = LinkStep::Request(end(&pairs, &nonce));
        let request = message(step, name, nonce, identity);
        let request = request.put(&way.card.key);
        self.datagrams.send(&way.handle, way.to(), &request);
        let dial = Dial {
            pairs,
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
                .send(&dial.way.handle, dial.way.to(), &dial.request);
            dial.pause = (dial.pause * 2).min(LAST_PAUSE);
            dial.next = now + dial.pause;
        }
    }

    /// A peer, whose words these certainly are, asks for a link. `make` makes the queue pairs for it. With both sides asking at once, it is the
    /// request of the lower rank that is answered.
    pub fn asked(
        &mut self,
        (asks, theirs): (&Message, &End),
        way: &Contact,
        identity: &Identity,
        adapter: &Adapter,
        make: impl FnOnce() -> Result<Vec<MadePair>, Unusable>,
    ) -> Option<Made> {
        let name = (asks.from, asks.lane);
        if let Some(known) = self.answered.get(&name) {
            if known.nonce == asks.nonce {
                self.datagrams.send(&way.handle, way.to(), &known.answer);
            }
            return None;
        }
        let is_first = self.dials.contains_key(&name) && identity.rank < asks.from;
        if is_first || self.standing.contains(&name) {
            return None;
        }
        let pairs = match self.dials.remove(&name) {
            Some(dial) => Ok(dial.pairs),
            None => make(),
        };
        let connected = pairs.and_then(|mut pairs| {
            let own = end(&pairs, &asks.nonce);
            connect(&mut pairs, (&own, theirs), way, adapter)?;
            Ok((pairs, own))
        });
        let Ok((pairs, own)) = connected else {
            self.refuse(asks, way, Refusal::Full, identity);
            return None;
        };
        let answer = message(LinkStep::Answer(own), name, asks.nonce, identity);
        let answer = answer.put(&identity.key);
        self.datagrams.send(&way.handle, way.to(), &answer);
        let nonce = asks.nonce;
        self.answered.insert(name, Answered { nonce, answer });
        Some(made(name, pairs, false))
    }

    pub fn refuse(&mut self, asks: &Message, way: &Contact, why: Refusal, identity: &Identity) {
        let name = (asks.from, asks.lane);
        let refusal = message(LinkStep::Refused(why), name, asks.nonce, identity);
        let refusal = refusal.put(&identity.key);
        self.datagrams.send(&way.handle, way.to(), &refusal);
    }

    /// A peer, whose words these certainly are, answers.
    pub fn answered(&mut self, says: &Message, adapter: &Adapter) -> Option<Outcome> {
        let name = (says.from, says.lane);
        if self.dials.get(&name)?.nonce != says.nonce {
            return None;
        }
        let dial = self.dials.remove(&name)?;
        let theirs = match &says.step {
            LinkStep::Answer(end) => end,
            LinkStep::Refused(why) => return Some(Outcome::Refused(name, *why)),
            _ => return None,
        };
        let Dial { mut pairs, way, .. } = dial;
        let own = end(&pairs, &says.nonce);
        self.standing.insert(name);
        Some(match connect(&mut pairs, (&own, theirs), &way, adapter) {
            Ok(()) => Outcome::Made(made(name, pairs, true)),
            Err(why) => Outcome::Failed(name, why.to_string()),
        })
    }

    /// The key that a peer which was asked has, by which its answers are known.
    pub fn key_of(&self, name: Name) -> Option<Key> {
        self.dials.get(&name).map(|dial| dial.way.card.key)
    }

    /// Asks nothing of a lost peer.
    pub fn forget(&mut self, peer: Peer) {
        self.dials.retain(|name, _| name.0 != peer);
        self.answered.retain(|name, _| name.0 != peer);
        self.standing.retain(|name| name.0 != peer);
    }
}

/// Of queue pairs that all begin with the same packet.
fn end(pairs: &[MadePair], nonce: &Nonce) -> End {
    End {
        psn: psn(nonce),
        queue_pairs: pairs.iter().map(|made| made.pair.number()).collect(),
    }
}

/// Connects queue pairs to those that a peer has for them. The buffers of their own are posted before anything can come: the peer has credits for
/// them, and one that has answered may send as soon as its own end stands.
fn connect(
    pairs: &mut [MadePair],
    (own, theirs): (&End, &End),
    way: &Contact,
    adapter: &Adapter,
) -> Result<(), Unusable> {
    if theirs.queue_pairs.len() != pairs.len() {
        let (own, theirs) = (pairs.len(), theirs.queue_pairs.len());
        return Err(unusable(format_args!(
            "it has {theirs} queue pairs for a link that takes {own}"
        )));
    }
    let pools = pool_pairs(way, adapter);
    for ((made, pools), &number) in pairs.iter_mut().zip(pools).zip(&theirs.queue_pairs) {
        let mut to = adapter.connection(way.to(), own.psn, (number, theirs.psn), way.timeout);
        if pools.is_promised() {
            to.receiver_not_ready_retries = 0;
        }
        made.pair.initialise(&to).map_err(unusable)?;
        if let Some(own) = &mut made.own {
            own.post_all(&made.pair).map_err(unusable)?;
        }
        made.pair.connect_initialised(&to).map_err(unusable)?;
    }
    Ok(())
}

/// The pools at the ends of a link's queue pairs (RC).
pub fn pool_pairs(way: &Contact, adapter: &Adapter) -> Vec<PoolPair> {
    let reach = adapter.reach(&way.card, way.port);
    let [own, peer] = [&adapter.pools, &way.card.pools].map(|pools| selected(pools, reach));
    PoolPair::all(&own, &peer)
}

fn made(name: Name, pairs: Vec<MadePair>, is_open: bool) -> Made {
    Made {
        name,
        pairs,
        is_open,
    }
}

pub fn message(step: LinkStep, name: Name, nonce: Nonce, identity: &Identity) -> Message {
    Message {
        step,
        from: identity.rank,
        to: name.0,
        lane: name.1,
        job: identity.job,
        nonce,
    }
}
