//! The process's port for datagrams: where peers ask for links.

use std::os::fd::RawFd;

use weft_verbs::abi::IBV_ACCESS_LOCAL_WRITE;
use weft_verbs::{
    AddressHandle, Channel, Completion, CompletionQueue, Error, MemoryRegion, Operation, PostError,
    ProtectionDomain, QpType, QueuePair, QueuePairAttributes, ReceiveList, SendList,
};

use crate::adapter::Adapter;
use crate::buffers::region;
use crate::card::Port;
use crate::handshake::MOST_BYTES;

/// Datagrams begin behind the place of a GRH.
const GRH_BYTES: usize = 40;
const RECEIVE_BYTES: usize = GRH_BYTES + MOST_BYTES;
const RECEIVES: usize = 128;
const SENDS: usize = 64;
const RECEIVED: u64 = 1 << 63;

pub type Datagram = Vec<u8>;

pub struct Datagrams {
    pair: QueuePair,
    completions: CompletionQueue,
    channel: Channel,
    domain: ProtectionDomain,
    received: MemoryRegion,
    sent: MemoryRegion,
    free: Vec<usize>,
    sends: SendList,
    receives: ReceiveList,
    /// Those that nobody has taken.
    come: Vec<Datagram>,
    /// Until now.
    pub posted: u64,
}

impl Datagrams {
    pub fn new(adapter: &Adapter, queue_key: u32) -> Result<Datagrams, Error> {
        let context = &adapter.context;
        let domain = ProtectionDomain::new(context)?;
        let channel = Channel::new(context)?;
        channel.set_nonblocking()?;
        let entries = (RECEIVES + SENDS) as u32;
        let completions = CompletionQueue::new(context, entries, Some((&channel, 0)))?;
        let attributes = QueuePairAttributes {
            kind: QpType::Ud,
            send_depth: SENDS as u32,
            receive_depth: RECEIVES as u32,
            ..QueuePairAttributes::default()
        };
        let queue = || completions.clone();
        let pair = QueuePair::new(domain.clone(), queue(), queue(), None, &attributes)?;
        pair.start_datagrams(adapter.port, queue_key, 0)?;
        let mut port = Datagrams {
            received: region(&domain, RECEIVES * RECEIVE_BYTES, IBV_ACCESS_LOCAL_WRITE)?,
            sent: region(&domain, SENDS * MOST_BYTES, 0)?,
            free: (0..SENDS).collect(),
            sends: SendList::with_room(1),
            receives: ReceiveList::with_room(RECEIVES),
            come: Vec::new(),
            posted: 0,
            completions,
            channel,
            pair,
            domain,
        };
        port.post(0..RECEIVES).map_err(|refused| refused.error)?;
        Ok(port)
    }

    pub fn number(&self) -> u32 {
        self.pair.number()
    }

    /// Readable once there is an event, after [`arm`](Self::arm).
    pub fn descriptor(&self) -> RawFd {
        self.channel.descriptor()
    }

    /// The way to this port of a peer's.
    pub fn handle(&self, adapter: &Adapter, to: &Port) -> Result<AddressHandle, Error> {
        AddressHandle::new(&self.domain, adapter.port, &adapter.path(&to.place))
    }

    fn post(&mut self, pieces: impl Iterator<Item = usize>) -> Result<(), PostError> {
        self.receives.clear();
        for piece in pieces {
            let part = self.received.part(piece * RECEIVE_BYTES, RECEIVE_BYTES);
            self.receives.push(RECEIVED | piece as u64, part);
        }
        self.pair.post_receive(&mut self.receives)
    }

    /// Sends a datagram, or loses it: whoever sends one repeats it.
    pub fn send(&mut self, to: &AddressHandle, port: &Port, datagram: &[u8]) {
        let Some(piece) = self.free.pop() else {
            return;
        };
        self.sent.write(piece * MOST_BYTES, datagram);
        self.sends.clear();
        let part = self.sent.part(piece * MOST_BYTES, datagram.len());
        let request = self.sends.push(Operation::Send, part);
        request
            .id(piece as u64)
            .signalled(true)
            .to(to, port.queue_pair, port.queue_key);
        match self.pair.post_send(&mut self.sends) {
            Ok(()) => self.posted += 1,
            Err(_) => self.free.push(piece),
        }
    }

    /// Whether datagrams have come: [`take`](Self::take) has them.
    pub fn has_any(&mut self) -> bool {
        self.poll();
        !self.come.is_empty()
    }

    /// The datagrams that have come.
    pub fn take(&mut self) -> Vec<Datagram> {
        self.poll();
        std::mem::take(&mut self.come)
    }

    fn poll(&mut self) {
        loop {
            let mut found = [Completion::default(); 16];
            let Ok(found) = self.completions.poll(&mut found) else {
                return;
            };
            if found.is_empty() {
                return;
            }
            let mut again = Vec::new();
            for completion in found {
                let piece = (completion.id() & !RECEIVED) as usize;
                if completion.id() & RECEIVED == 0 {
                    self.free.push(piece);
                    continue;
                }
                again.push(piece);
                let bytes = (completion.bytes() as usize).checked_sub(GRH_BYTES);
                if let Some(bytes) = bytes.filter(|_| completion.is_success()) {
                    let mut datagram = vec![0; bytes];
                    self.received
                        .read(piece * RECEIVE_BYTES + GRH_BYTES, &mut datagram);
                    self.come.push(datagram);
                }
            }
            // What is not posted again only makes the port narrower.
            let _ = self.post(again.into_iter());
        }
    }

    /// Has the descriptor become readable with the next datagram.
    pub fn arm(&self) {
        // Without an event, the sleep ends by its time-out.
        let _ = self.completions.arm(false);
    }

    /// Takes the events that have made the descriptor readable.
    pub fn take_events(&self) {
        while self.channel.wait().is_ok() {}
    }
}
