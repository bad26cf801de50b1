//! XRC receive queue pairs whose peers are on other hosts. They belong to no process (`fabric::target`): the process that the kernel
//! hands a packet to takes the queue pair's state, executes the packet against the process whose shared receive queue the
//! packet names, and answers. A target whose executor dies over a packet is abandoned: nobody knows how much of it is done. The peer is
//! told so (a NAK, `IBV_WC_REM_OP_ERR`) when it next says something, and the queue pair hears no more. A process that ends as usual
//! executes no more packets for others before it ends ([`Targets::leave`]); what the kernel still hands to it, it hands on.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use weft_verbs_abi::*;

use super::exposed::{self, Exposed};
use crate::call::{Errno, Result as CallResult};
use crate::fabric::target::{Found, Target, WORDS};
use crate::fabric::{FABRIC_SLOT, Number, PATIENT, Peer, QpRecord, Reach};
use crate::path::agent_message::{self, AffiliatedError};
use crate::path::clock;
use crate::path::process::Process;
use crate::path::queue_pair::QueuePair;
use crate::path::receiver::Receiver;
use crate::path::state::State;
use weft_roce::packet::View;
use weft_roce::{
    Access, Arrival, Atomic, Batch, Bundles, Connection, Fault, Host, LocalError, Path, Port,
    Receive, ReceiveDone, Region, RemoteError, ResponderConfig, SHARED_SLOT, SavedResponder,
    SendDone, Service, Sge,
};

const _: () = assert!(FABRIC_SLOT == SHARED_SLOT && size_of::<SavedResponder>() == 8 * WORDS);

/// How long a packet may wait for a target that somebody else is at; then it is lost.
const PATIENCE: Duration = Duration::from_millis(10);

/// Packets after which peers are answered although more are there: they would come to stand still.
pub const ANSWER_EVERY: usize = 128;

/// The targets that the packets of one inbox concern, taken until all of them are answered.
pub struct Targets {
    process: &'static Process,
    taken: Vec<LockedTarget>,
    /// Those whose peers wait for no more than an acknowledgement, and the packets since one was sent.
    owed: Vec<Number>,
    owed_packets: usize,
    batch: Batch,
    /// Packets that their owners have to execute.
    others: Bundles,
    /// This process is about to end.
    is_leaving: bool,
}

/// A target in this process's hands.
struct LockedTarget {
    host: TargetHost,
    target: Target<'static>,
    connection: Connection,
}

impl Targets {
    pub fn new(process: &'static Process) -> Targets {
        Targets {
            process,
            taken: Vec::new(),
            owed: Vec::new(),
            owed_packets: 0,
            batch: Batch::new(),
            others: Bundles::default(),
            is_leaving: false,
        }
    }

    /// From now on the owners execute what is for other processes; this one is at no packet now, as the caller has it.
    pub fn leave(&mut self) {
        self.is_leaving = true;
    }

    /// A packet for target `number` has arrived.
    pub fn receive(
        &mut self,
        now: u64,
        number: Number,
        (arrival, bytes): (&Arrival, &[u8]),
        view: &View<'_>,
    ) {
        // Where the kernel does not let this process reach the memory, its owner executes.
        let owner = Number::from_bits(view.header().xrc_srq).slot();
        let owner = self.process.fabric.peer(owner);
        let is_own = owner.as_ref().is_none_or(|owner| owner.is_own());
        let executes = |owner: &Arc<Peer>| {
            owner.reach() != Reach::Agent && (owner.is_own() || !self.is_leaving)
        };
        if let Some(owner) = owner.filter(|owner| !executes(owner)) {
            let slot = owner.owner().slot();
            self.others.push(slot, arrival, 0, bytes);
        } else if let Some(taken) = self.take(number) {
            taken.receive(now, arrival.route.source, view, is_own);
            self.owed_packets += 1;
        }
    }

    fn take(&mut self, number: Number) -> Option<&mut LockedTarget> {
        let known = self.taken.iter();
        let known = known.into_iter().position(|t| t.host.number == number);
        let index = match known {
            Some(index) => index,
            None => {
                let taken = LockedTarget::take(self.process, number, PATIENCE)?;
                self.taken.push(taken);
                self.taken.len() - 1
            }
        };
        self.taken.get_mut(index)
    }

    /// Answers what must be answered at once, and lets go of all targets; what others execute is passed on. Acknowledgements wait for
    /// [`acknowledge`](Self::acknowledge).
    pub fn answer(&mut self, port: &Port, now: u64) {
        port.pass_on(&mut self.others);
        for mut taken in self.taken.drain(..) {
            let number = taken.host.number;
            if taken.is_urgent() {
                taken.pump(port, now, &mut self.batch);
                self.owed.retain(|owed| *owed != number);
            } else if !self.owed.contains(&number) {
                self.owed.push(number);
            }
        }
        if self.owed_packets >= ANSWER_EVERY {
            self.acknowledge(port, now);
        }
    }

    /// Sends the acknowledgements that wait.
    pub fn acknowledge(&mut self, port: &Port, now: u64) {
        self.owed_packets = 0;
        for number in self.owed.drain(..) {
            if let Some(mut taken) = LockedTarget::take(self.process, number, PATIENCE) {
                taken.connection.acknowledge();
                taken.pump(port, now, &mut self.batch);
            }
        }
    }
}

impl LockedTarget {
    /// None if the queue pair has no peer on another host.
    fn take(process: &'static Process, number: Number, patience: Duration) -> Option<LockedTarget> {
        let record = process.fabric.shared_qp(number.index());
        let target = process.fabric.shared_target(number.index());
        let target = target.take(process.fabric.processes(), patience).ok()?;
        let generation = record.generation.load(Ordering::Acquire);
        let found = target.found(generation);
        if found == Found::Closed || !crate::fabric::xrc::is_open(record) {
            return None;
        }
        let path = Path {
            local: process.config.ip,
            remote: target.peer(),
            port: process.config.udp_port,
            remote_qpn: record.dest_qpn.load(Ordering::Relaxed),
            mtu: target.mtu(),
        };
        let connection = Connection::resume(path, responder(record, 0), &target.words());
        let mut taken = LockedTarget {
            host: TargetHost {
                process,
                record,
                number,
                failed: false,
            },
            target,
            connection,
        };
        if found == Found::Abandoned {
            agent_message::fail_shared(process, record, number, AffiliatedError::Abandoned);
            taken.connection.abandon();
            taken.host.failed = true;
            return Some(taken);
        }
        if record.state.load(Ordering::Acquire) == IBV_QPS_ERR {
            taken.close();
            return None;
        }
        Some(taken)
    }

    /// Executes a packet, for a queue of this process's own or another's.
    fn receive(&mut self, now: u64, source: Ipv4Addr, view: &View<'_>, is_own: bool) {
        let state = State::from_abi(self.host.record.state.load(Ordering::Acquire));
        if !state.is_some_and(State::receives) {
            return;
        }
        self.target.begin();
        self.connection.receive(now, source, view, &mut self.host);
        if !is_own {
            self.host.process.config.faults.executed_for_another();
        }
        if self.host.failed {
            self.connection.flush(&mut self.host);
        }
        if let Some(saved) = self.connection.save() {
            self.target.end(&saved);
        }
    }

    /// Whether more is to be said than that all was done.
    fn is_urgent(&self) -> bool {
        self.host.failed || self.connection.is_urgent()
    }

    /// Sends the answers; the last ones if the queue pair has failed.
    fn pump(&mut self, port: &Port, now: u64, batch: &mut Batch) {
        while self.connection.transmit(now, batch, &mut self.host) {
            port.send(now, batch);
        }
        if self.host.failed {
            self.close();
        }
    }

    /// The queue pair hears no more: a receive request that a message had begun to fill ends as flushed.
    fn close(&mut self) {
        self.connection.flush(&mut self.host);
        self.target.close();
    }
}

fn responder(record: &QpRecord, psn: u32) -> ResponderConfig {
    let access = record.access.load(Ordering::Relaxed);
    ResponderConfig {
        psn,
        max_dest_rd_atomic: record.max_dest_rd_atomic.load(Ordering::Relaxed) as u8,
        min_rnr_timer: record.min_rnr_timer.load(Ordering::Relaxed) as u8,
        // What goes from process to process holds nothing.
        window: 0,
        write: access & IBV_ACCESS_REMOTE_WRITE != 0,
        read: access & IBV_ACCESS_REMOTE_READ != 0,
        atomic: access & IBV_ACCESS_REMOTE_ATOMIC != 0,
    }
}

/// The state RTR of a target whose peer is on another host.
pub fn open(qp: &QueuePair, settings: &ibv_qp_attr, path: &Path) -> CallResult {
    let process = qp.process;
    let record = qp.record();
    let fresh = Connection::new(
        Service::ExtendedReliable,
        *path,
        Some(responder(record, settings.rq_psn)),
    );
    let target = process.fabric.shared_target(qp.number.index());
    let target = target.take(process.fabric.processes(), PATIENT);
    let target = target.map_err(|_| Errno::EBUSY)?;
    let generation = record.generation.load(Ordering::Acquire);
    let saved = fresh.save().ok_or(Errno::EINVAL)?;
    target.open(generation, path.remote, path.mtu, &saved);
    Ok(())
}

/// Says the last that the peer must hear of a target, which stays as it is.
pub fn part(qp: &QueuePair, port: &Port) {
    if let Some(mut taken) = LockedTarget::take(qp.process, qp.number, PATIENT) {
        let mut batch = Batch::new();
        taken.connection.part(&mut batch, &mut taken.host);
        port.send(clock::monotonic_ns(), &mut batch);
    }
}

/// The states ERR and RESET, by who has the queue pair open.
pub fn close(qp: &QueuePair) {
    if let Some(mut taken) = LockedTarget::take(qp.process, qp.number, PATIENT) {
        taken.close();
    }
}

/// A target, for the time that it is taken.
struct TargetHost {
    process: &'static Process,
    record: &'static QpRecord,
    number: Number,
    failed: bool,
}

impl TargetHost {
    /// The process that has the shared receive queue that a request names.
    fn owner(&self, srq: Number) -> Result<Arc<Peer>, RemoteError> {
        let owner = self.process.owner_of_queue(srq);
        owner.ok_or(RemoteError::Request)
    }

    fn receiver<'a>(&'a self, owner: &'a Peer, srq: Number) -> Result<Receiver<'a>, RemoteError> {
        Receiver::of_shared_queue(owner, self.record, self.number, srq).ok_or(RemoteError::Request)
    }

    /// Does `what` with the memory that goes with a request's shared receive queue.
    fn with_memory<T>(
        &self,
        srq: Option<u32>,
        what: impl FnOnce(&Exposed<'_>) -> Result<T, RemoteError>,
    ) -> Result<T, RemoteError> {
        let srq = Number::from_bits(srq.ok_or(RemoteError::Request)?);
        let owner = self.owner(srq)?;
        what(&Exposed {
            process: self.process,
            owner: &owner,
            record: self.record,
            number: self.number,
            pd: self.receiver(&owner, srq)?.pd,
        })
    }
}

impl Host for TargetHost {
    /// A target asks for nothing: it has no memory of its own, and no send requests.
    fn gather(&mut self, _: &[Sge], _: u64, _: &mut [u8]) -> Result<(), LocalError> {
        Err(LocalError::Protection)
    }

    fn scatter(&mut self, _: &[Sge], _: u64, _: &[u8]) -> Result<(), LocalError> {
        Err(LocalError::Protection)
    }

    fn send_done(&mut self, _: SendDone) {}

    fn check(&mut self, region: &Region, access: Access) -> Result<(), RemoteError> {
        self.with_memory(region.srq, |memory| memory.check(region, access))
    }

    fn read(&mut self, region: &Region, out: &mut [u8]) -> Result<(), RemoteError> {
        self.with_memory(region.srq, |memory| memory.read(region, out))
    }

    fn write(&mut self, region: &Region, data: &[u8]) -> Result<(), RemoteError> {
        self.with_memory(region.srq, |memory| memory.write(region, data))
    }

    fn atomic(&mut self, region: &Region, atomic: Atomic) -> Result<u64, RemoteError> {
        self.with_memory(region.srq, |memory| memory.atomic(region, atomic))
    }

    fn check_queue(&mut self, srq: u32) -> Result<(), RemoteError> {
        let srq = Number::from_bits(srq);
        let owner = self.owner(srq)?;
        self.receiver(&owner, srq).map(drop)
    }

    fn invalidate(&mut self, srq: Option<u32>, rkey: u32) -> Result<(), RemoteError> {
        self.with_memory(srq, |memory| memory.invalidate(rkey))
    }

    fn take_receive(&mut self, srq: Option<u32>) -> Result<Option<Receive>, RemoteError> {
        let srq = Number::from_bits(srq.ok_or(RemoteError::Request)?);
        let owner = self.owner(srq)?;
        let taken = exposed::take(self.process, &self.receiver(&owner, srq)?);
        Ok(taken.map(|capacity| Receive {
            token: u64::from(srq.bits()),
            capacity,
        }))
    }

    fn fill_receive(
        &mut self,
        receive: &Receive,
        offset: u64,
        data: &[u8],
    ) -> Result<(), LocalError> {
        let srq = Number::from_bits(receive.token as u32);
        let owner = self.owner(srq).map_err(|_| LocalError::Protection)?;
        let receiver = self.receiver(&owner, srq);
        let receiver = receiver.map_err(|_| LocalError::Protection)?;
        exposed::fill(self.process, &receiver, offset, data)
    }

    /// The process that had the receive request may be gone meanwhile, and the request with it.
    fn receive_done(&mut self, receive: Receive, done: ReceiveDone) {
        let srq = Number::from_bits(receive.token as u32);
        if let Ok(owner) = self.owner(srq)
            && let Ok(receiver) = self.receiver(&owner, srq)
        {
            exposed::finish(self.process, &receiver, done, 0);
        }
    }

    fn fail(&mut self, fault: Fault) {
        self.failed = true;
        let error = match fault {
            Fault::Access => AffiliatedError::Access,
            Fault::Request => AffiliatedError::Request,
            Fault::Receive | Fault::Requester => AffiliatedError::Receive,
        };
        agent_message::fail_shared(self.process, self.record, self.number, error);
    }
}
