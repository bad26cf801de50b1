//! Steps of send requests that the target's agent executes, where the kernel lets this process not reach the target's memory.
//!
//! The agent that asks sends all that a [`Requester`] has, and the bytes of the step; the one that is asked executes the step as if it
//! were the requester's, on its own memory, and answers with the outcome. So all checks, the order, and the completions are the same,
//! and atomics are atomic with everyone's. What has no answer for a while is withdrawn and counts as a time-out of the
//! acknowledgement; a stopped target is to its peer what an adapter without power is.

use std::sync::Arc;
use std::time::Duration;

use weft_verbs_abi::*;

use super::clock;
use super::delivery::{Delivered, deliver};
use super::execute::{Outcome, Requester};
use super::pieces::Pieces;
use super::process::Process;
use super::receiver::{CHUNK, Message};
use super::request::{Operation, Request, Target};
use super::route::Route;
use super::state::QpKind;
use crate::fabric::proxy::{
    Answer, Progress, ProxyChannel, ProxyError, ProxyRequest as Words, ProxyWork,
};
use crate::fabric::{FABRIC_SLOT, MemoryError, Number, Peer};

/// A proxied step unanswered for so long was lost: longer than an agent that has work takes on a machine that has work.
const UNANSWERED_NS: u64 = 1_000_000_000;

/// How long who executes a proxied step waits for a lock.
const PATIENCE: Duration = Duration::from_millis(1);

/// What a request that waits has sent to its target's agent.
#[derive(Default)]
pub struct ProxiedStep {
    proxy: Option<ProxyChannel>,
    /// When it was sent, while the answer is not there.
    sent_ns: Option<u64>,
}

impl ProxiedStep {
    /// Whether something was sent and its outcome is not known.
    pub fn is_out(&self) -> bool {
        self.sent_ns.is_some()
    }

    /// Whether [`look`](Self::look) would find an answer.
    pub fn is_answered(&self) -> bool {
        self.is_out() && self.proxy.as_ref().is_some_and(ProxyChannel::is_answered)
    }

    /// Asks for the next step of a request over a connection.
    pub fn send(&mut self, requester: &Requester<'_>, route: &Route) -> Outcome {
        let peer = match route.shared_peer() {
            Some(peer) => Some(peer),
            None => {
                let srq = Number::from_bits(requester.request.remote_srqn);
                requester.process.fabric.peer(srq.slot())
            }
        };
        let Some(peer) = peer else {
            return Outcome::Silent;
        };
        let length = CHUNK.min(requester.local.bytes() - requester.done);
        let part = match requester.request.operation.fetches() {
            true => Pieces::new(),
            false => requester.local.slice(requester.done, length),
        };
        let words = Step::of(requester, route).words();
        self.ask(requester, peer, &words, &part, length)
    }

    /// Asks for the delivery of a datagram: `whole` is header and payload.
    pub fn send_datagram(
        &mut self,
        requester: &Requester<'_>,
        peer: Arc<Peer>,
        delivery: &Delivered<'_>,
        whole: &Pieces,
    ) -> Outcome {
        let words = delivery.words(whole.bytes());
        self.ask(requester, peer, &words, whole, whole.bytes())
    }

    fn ask(
        &mut self,
        requester: &Requester<'_>,
        peer: Arc<Peer>,
        words: &Words,
        part: &Pieces,
        room: u64,
    ) -> Outcome {
        if !self
            .proxy
            .as_ref()
            .is_some_and(|proxy| proxy.suits(&peer, room))
        {
            self.proxy = ProxyChannel::new(requester.process.fabric, peer, room);
        }
        let Some(proxy) = &self.proxy else {
            return Outcome::Failed(IBV_WC_GENERAL_ERR);
        };
        // SAFETY: local memory was checked against its keys, or is the poster's to read.
        match unsafe { proxy.ask(words, part.list(), requester.patience) } {
            Ok(()) => {
                self.sent_ns = Some(clock::monotonic_ns());
                Outcome::Asked
            }
            Err(ProxyError::Mail(_)) => Outcome::Again,
            Err(ProxyError::Memory(_)) => Outcome::Failed(IBV_WC_LOC_PROT_ERR),
        }
    }

    /// What became of it.
    pub fn look(&mut self, requester: &Requester<'_>, timeout_ns: u64) -> Outcome {
        let (Some(proxy), Some(sent)) = (&self.proxy, self.sent_ns) else {
            return Outcome::Again;
        };
        match proxy.progress() {
            Progress::Waits => {
                let patience = UNANSWERED_NS.max(timeout_ns);
                if clock::monotonic_ns() < sent + patience || !proxy.withdraw() {
                    return Outcome::Asked;
                }
                *self = ProxiedStep::default();
                Outcome::Silent
            }
            Progress::Gone => {
                *self = ProxiedStep::default();
                Outcome::Silent
            }
            Progress::Done(answer) => {
                self.sent_ns = None;
                let outcome = outcome(answer);
                match requester.request.operation.fetches() {
                    true => fetched(proxy, requester, outcome),
                    false => outcome,
                }
            }
        }
    }

    /// Leaves it to be done; nobody asks for the outcome.
    pub fn let_go(mut self) {
        if let Some(proxy) = self.proxy.take() {
            proxy.let_go();
        }
    }
}

/// Brings what was read, or what an atomic found, to where the request wants it.
fn fetched(proxy: &ProxyChannel, requester: &Requester<'_>, outcome: Outcome) -> Outcome {
    let (Outcome::Partly(end) | Outcome::Done(end)) = outcome else {
        return outcome;
    };
    let length = end.saturating_sub(requester.done);
    let part = requester.local.slice(requester.done, length);
    // SAFETY: the pieces were checked against their keys for writing.
    match unsafe { proxy.fetch(part.list()) } {
        Ok(()) => outcome,
        Err(MemoryError::Fault | MemoryError::Gone | MemoryError::Agent) => {
            Outcome::Failed(IBV_WC_LOC_PROT_ERR)
        }
    }
}

const CONNECTED: u64 = 1;
const DATAGRAM: u64 = 2;

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn parts(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// A step of a request over a connection, without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    operation: Operation,
    flags: ibv_send_flags,
    immediate: u32,
    remote_srqn: u32,
    /// Zeros where the operation names no memory.
    address: u64,
    rkey: u32,
    operand: u64,
    swap: u64,
    total: u64,
    done: u64,
    /// The responder.
    number: Number,
    /// The requester.
    kind: QpKind,
    qpn: u32,
    sender: u64,
    lid: u16,
}

impl Step {
    fn of(requester: &Requester<'_>, route: &Route) -> Step {
        let request = requester.request;
        let (address, rkey, operand, swap) = match request.target {
            Target::Memory { address, rkey } => (address, rkey, 0, 0),
            Target::Atomic {
                address,
                rkey,
                operand,
                swap,
            } => (address, rkey, operand, swap),
            _ => (0, 0, 0, 0),
        };
        Step {
            operation: request.operation,
            flags: request.flags,
            immediate: request.immediate,
            remote_srqn: request.remote_srqn,
            address,
            rkey,
            operand,
            swap,
            total: requester.local.bytes(),
            done: requester.done,
            number: route.number(),
            kind: route.kind(),
            qpn: requester.qpn,
            sender: requester.sender,
            lid: requester.lid,
        }
    }

    fn words(&self) -> Words {
        [
            CONNECTED,
            pair(self.operation.opcode(), self.flags),
            pair(self.immediate, self.remote_srqn),
            pair(self.rkey, self.number.bits()),
            self.address,
            self.operand,
            self.swap,
            self.total,
            self.done,
            pair(self.qpn, u32::from(self.lid)),
            self.kind as u64,
            self.sender,
        ]
    }

    /// None for nonsense.
    fn from_words(words: &Words) -> Option<Step> {
        let [
            _,
            what,
            data,
            to,
            address,
            operand,
            swap,
            total,
            done,
            from,
            kind,
            sender,
        ] = *words;
        let (opcode, flags) = parts(what);
        let (immediate, remote_srqn) = parts(data);
        let (rkey, number) = parts(to);
        let (qpn, lid) = parts(from);
        let step = Step {
            operation: Operation::from_abi(opcode)?,
            flags,
            immediate,
            remote_srqn,
            address,
            rkey,
            operand,
            swap,
            total,
            done,
            number: Number::from_bits(number),
            kind: QpKind::from_abi(kind as u32)?,
            qpn,
            sender,
            lid: lid as u16,
        };
        let connected = matches!(step.kind, QpKind::Rc | QpKind::Uc | QpKind::XrcSend);
        // What fits into one step is one step (`Receiver::deliver`).
        let sound = done <= total && (done == 0 || total > CHUNK);
        let whole = !step.operation.is_atomic() || total == 8;
        (connected && sound && whole).then_some(step)
    }

    /// Whether process `slot` has what it is for.
    fn is_for(&self, slot: u8) -> bool {
        let shared = self.number.slot() == FABRIC_SLOT;
        self.number.slot() == slot || shared && Number::from_bits(self.remote_srqn).slot() == slot
    }

    fn request(&self) -> Request {
        let (address, rkey) = (self.address, self.rkey);
        let target = match self.operation {
            Operation::CompareAndSwap | Operation::FetchAndAdd => Target::Atomic {
                address,
                rkey,
                operand: self.operand,
                swap: self.swap,
            },
            Operation::Read | Operation::Write | Operation::WriteWithImmediate => {
                Target::Memory { address, rkey }
            }
            _ => Target::None,
        };
        Request {
            wr_id: 0,
            operation: self.operation,
            flags: self.flags,
            immediate: self.immediate,
            remote_srqn: self.remote_srqn,
            target,
            index: 0,
        }
    }
}

impl Delivered<'_> {
    fn words(&self, bytes: u64) -> Words {
        let message = self.message;
        [
            DATAGRAM,
            pair(message.wc_flags, message.immediate),
            pair(message.src_qp, u32::from(message.slid)),
            pair(u32::from(message.sl), u32::from(message.solicited)),
            pair(self.number.bits(), self.qkey),
            bytes,
            u64::from(message.byte_len),
            0,
            0,
            0,
            0,
            0,
        ]
    }
}

/// For the agent that is asked: executes the step. What is nonsense has no answer but silence.
pub fn execute(process: &Process, asked: &ProxyWork<'_>) -> Answer {
    let outcome = match asked.request[0] {
        CONNECTED => execute_connected(process, asked),
        DATAGRAM => execute_datagram(process, asked),
        _ => None,
    };
    answer(outcome.unwrap_or(Outcome::Silent))
}

fn execute_connected(process: &Process, asked: &ProxyWork<'_>) -> Option<Outcome> {
    let step = Step::from_words(&asked.request)?;
    if !step.is_for(process.fabric.me().slot()) {
        return None;
    }
    let bytes = asked.bytes(CHUNK.min(step.total - step.done))?;
    // As if the whole payload were there: a step touches its own bytes only.
    let mut local = Pieces::new();
    local.push((bytes as u64).checked_sub(step.done)?, step.total);
    let route = Route::find(process, step.kind, step.number)?;
    let requester = Requester {
        process,
        qpn: step.qpn,
        sender: step.sender,
        lid: step.lid,
        request: &step.request(),
        local: &local,
        done: step.done,
        patience: PATIENCE,
    };
    Some(requester.execute(&route))
}

fn execute_datagram(process: &Process, asked: &ProxyWork<'_>) -> Option<Outcome> {
    let [_, flags, source, service, to, bytes, byte_len, ..] = asked.request;
    let (wc_flags, immediate) = parts(flags);
    let (src_qp, slid) = parts(source);
    let (sl, solicited) = parts(service);
    let (number, qkey) = parts(to);
    let message = Message {
        opcode: IBV_WC_RECV,
        wc_flags,
        immediate,
        src_qp,
        slid: slid as u16,
        sl: sl as u8,
        solicited: solicited != 0,
        byte_len: byte_len as u32,
    };
    let number = Number::from_bits(number);
    if number.slot() != process.fabric.me().slot() || bytes > CHUNK {
        return None;
    }
    let mut whole = Pieces::new();
    whole.push(asked.bytes(bytes)? as u64, bytes);
    let delivered = Delivered {
        message: &message,
        number,
        qkey,
    };
    let own = process.fabric.own();
    Some(deliver(process, own, &delivered, &whole, PATIENCE))
}

const DONE: u64 = 1;
const FAILED: u64 = 2;
const PARTLY: u64 = 3;
const AGAIN: u64 = 4;
const NOT_READY: u64 = 5;
const SILENT: u64 = 6;

fn answer(outcome: Outcome) -> Answer {
    match outcome {
        Outcome::Done(bytes) => [DONE, bytes],
        Outcome::Failed(status) => [FAILED, status.into()],
        Outcome::Partly(done) => [PARTLY, done],
        Outcome::NotReady { timer } => [NOT_READY, timer.into()],
        // What this process must ask for in turn has moved meanwhile: the requester finds out where.
        Outcome::Again | Outcome::ByAgent | Outcome::Asked | Outcome::Left => [AGAIN, 0],
        Outcome::Silent => [SILENT, 0],
    }
}

fn outcome([kind, value]: Answer) -> Outcome {
    match kind {
        DONE => Outcome::Done(value),
        FAILED => Outcome::Failed(value as u32),
        PARTLY => Outcome::Partly(value),
        AGAIN => Outcome::Again,
        NOT_READY => Outcome::NotReady {
            timer: value as u32,
        },
        _ => Outcome::Silent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_survive_their_words_and_nonsense_does_not() {
        let step = Step {
            operation: Operation::FetchAndAdd,
            flags: 5,
            immediate: 0xdead_beef,
            remote_srqn: 0x0b_0002,
            address: 0x1234_5678_9abc,
            rkey: 77,
            operand: 3,
            swap: u64::MAX,
            total: 8,
            done: 0,
            number: Number::new(FABRIC_SLOT, 9),
            kind: QpKind::XrcSend,
            qpn: 0x0a_0001,
            sender: 1 << 63 | 6,
            lid: 12,
        };
        assert_eq!(Step::from_words(&step.words()), Some(step));
        assert!(step.is_for(0x0b) && !step.is_for(0x0a));
        let nonsense = [
            Step { total: 7, ..step },
            Step { done: 9, ..step },
            Step { done: 1, ..step },
            Step {
                kind: QpKind::Ud,
                ..step
            },
        ];
        for nonsense in nonsense {
            assert_eq!(Step::from_words(&nonsense.words()), None);
        }
    }

    #[test]
    fn outcomes_survive_their_words() {
        for known in [
            Outcome::Done(1 << 31),
            Outcome::Failed(IBV_WC_REM_ACCESS_ERR),
            Outcome::Partly(CHUNK),
            Outcome::Again,
            Outcome::NotReady { timer: 12 },
            Outcome::Silent,
        ] {
            assert_eq!(outcome(answer(known)), known);
        }
        assert_eq!(outcome([0, 0]), Outcome::Silent);
    }
}
