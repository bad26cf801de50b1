//! The wire half of a connected queue pair: its requester, its responder and their common path.

use std::net::Ipv4Addr;

use super::batch::Batch;
use super::host::Host;
use super::link::{Link, Path};
use super::packet::{DEFAULT_PKEY, Service, View};
use super::requester::work::Work;
use super::requester::{Requester, RequesterConfig};
use super::responder::saved::SavedResponder;
use super::responder::{Responder, ResponderConfig};

/// A queue pair's two directions. Either may be missing: an XRC initiator answers nothing, an XRC target asks for
/// nothing, and nothing is asked for before RTS.
#[derive(Debug)]
pub struct Connection {
    link: Link,
    requester: Option<Requester>,
    responder: Option<Responder>,
}

impl Connection {
    /// The state RTR. `responder` is none for an XRC initiator. The service is RC, UC or XRC.
    pub fn new(service: Service, path: Path, responder: Option<ResponderConfig>) -> Connection {
        let link = Link::new(service, path);
        Connection {
            link,
            requester: None,
            responder: responder.map(|config| Responder::new(link, config)),
        }
    }

    /// An XRC target, from what [`save`](Self::save) said of it. The configuration's PSN is not looked at.
    pub fn resume(path: Path, config: ResponderConfig, saved: &SavedResponder) -> Connection {
        let link = Link::new(Service::ExtendedReliable, path);
        Connection {
            link,
            requester: None,
            responder: Some(Responder::resume(link, config, saved)),
        }
    }

    /// What the responder remembers, answers that are not sent yet aside.
    pub fn save(&self) -> Option<SavedResponder> {
        self.responder.as_ref().map(Responder::save)
    }

    /// Payload bytes of a packet.
    pub fn mtu(&self) -> u32 {
        self.link.mtu as u32
    }

    /// The state RTS.
    pub fn start_requester(&mut self, config: RequesterConfig) {
        self.requester = Some(Requester::new(self.link, config));
    }

    /// Takes a send request; it goes out with the next calls of [`transmit`](Self::transmit). In a state that sends
    /// nothing it is flushed.
    pub fn post(&mut self, work: Work, host: &mut impl Host) {
        match &mut self.requester {
            Some(requester) => requester.post(work, host),
            None => host.send_done(work.flushed()),
        }
    }

    /// A packet for this queue pair arrived from this address. Others than the peer's are not heard.
    pub fn receive(&mut self, now: u64, source: Ipv4Addr, view: &View<'_>, host: &mut impl Host) {
        let header = view.header();
        if source != self.link.route.destination
            || header.opcode.service() != self.link.service
            || header.pkey & 0x7fff != DEFAULT_PKEY & 0x7fff
        {
            return;
        }
        if header.opcode.kind().is_response() {
            if let Some(requester) = &mut self.requester {
                requester.receive(now, header, view.payload(), host);
            }
        } else if let Some(responder) = &mut self.responder {
            responder.receive(header, view.payload(), host);
        }
    }

    /// Puts packets that may go out now into the batch, until it is full. False if there were none.
    pub fn transmit(&mut self, now: u64, batch: &mut Batch, host: &mut impl Host) -> bool {
        let before = batch.len();
        if let Some(responder) = &mut self.responder {
            responder.transmit(batch, host);
        }
        if let Some(requester) = &mut self.requester {
            requester.transmit(now, batch, host);
        }
        batch.len() > before
    }

    /// Is there more to transmit than acknowledgements, which may wait a little for what goes the same way?
    pub fn is_urgent(&self) -> bool {
        self.requester.as_ref().is_some_and(Requester::has_packets)
            || self.responder.as_ref().is_some_and(Responder::owes_answers)
    }

    /// Acknowledges all that was done. For a responder that was resumed, which knows no answers that waited.
    pub fn acknowledge(&mut self) {
        if let Some(responder) = &mut self.responder {
            responder.acknowledge_all();
        }
    }

    /// Nobody knows what has become of the expected request: the peer is told that it could not be done, and nothing more is.
    pub fn abandon(&mut self) {
        if let Some(responder) = &mut self.responder {
            responder.abandon_expected();
        }
    }

    /// The queue pair is about to go: puts what its responder still has to say into the batch.
    pub fn part(&mut self, batch: &mut Batch, host: &mut impl Host) {
        if let Some(responder) = &mut self.responder {
            responder.part(batch, host);
        }
    }

    /// When [`expire`](Self::expire) is to be called, unless something else happens first.
    pub fn deadline(&self) -> Option<u64> {
        self.requester.as_ref()?.deadline()
    }

    /// The deadline may have passed.
    pub fn expire(&mut self, now: u64, host: &mut impl Host) {
        if let Some(requester) = &mut self.requester {
            requester.expire(now, host);
        }
    }

    /// The queue pair went to ERR: ends all send requests as flushed, and gives back a receive request that a message
    /// had begun to fill. What the responder owes the peer can still be transmitted.
    pub fn flush(&mut self, host: &mut impl Host) {
        if let Some(requester) = &mut self.requester {
            requester.flush(host);
        }
        if let Some(responder) = &mut self.responder {
            responder.flush(host);
        }
    }

    /// No send request is unfinished: what SQD waits for.
    pub fn is_drained(&self) -> bool {
        self.requester.as_ref().is_none_or(Requester::is_drained)
    }

    /// Changes what the peer may do (`IBV_QP_ACCESS_FLAGS`, `IBV_QP_MIN_RNR_TIMER`).
    pub fn responder_config(&mut self) -> Option<&mut ResponderConfig> {
        self.responder.as_mut().map(Responder::config)
    }

    /// The PSN of the next new request (`sq_psn`).
    pub fn next_psn(&self) -> Option<u32> {
        self.requester.as_ref().map(Requester::next_psn)
    }

    /// The PSN of the next request from the peer (`rq_psn`).
    pub fn expected_psn(&self) -> Option<u32> {
        self.responder.as_ref().map(Responder::expected_psn)
    }
}
