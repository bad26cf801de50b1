//! A tracer: a line for each packet, and for all else that passes between an engine and its network; for people.
//!
//! [`Tracer`] stands before another fabric and changes nothing. What a packet says is the engine's: a [`Describe`] tells it. The
//! lines, whose form `docs/finding-faults.md` tells, go to [`Lines`]: to a file, or, in tests, to [`Recent`], which shows the last
//! ones when a test fails.
//!
//! Nothing here is generic over the sink or the filling of a packet, so that a fabric can stand behind a tracer which the same
//! fabric holds.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use weft_memory::Memory;

use crate::{
    Access, Allocation, BulkDescriptor, Cookie, Direction, Endpoint, Exposure, Fabric, Header,
    Lost, Peer, Refused, Sink,
};

/// What a packet says, in words: one text for the packet, and one more for each message that it holds where it is made of several.
/// The packet may have come from a peer that lies.
pub type Describe = fn(Header, &[u8]) -> Vec<String>;

/// Where the lines of a trace go.
pub trait Lines: Send + Sync {
    /// Takes one line, which has no end of line. Called by any thread, also inside a lane's section.
    fn line(&self, line: &str);
}

/// The process that is traced.
struct Process {
    rank: Peer,
    start: Instant,
    describe: Describe,
    lines: Arc<dyn Lines>,
}

impl Process {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn line(&self, at: Duration, lane: impl fmt::Display, text: fmt::Arguments<'_>) {
        let (seconds, rank) = (at.as_secs_f64(), self.rank);
        let line = format!("weft: trace {seconds:.6} rank={rank} lane={lane} {text}");
        self.lines.line(&line);
    }
}

/// The trace of a process, which its lanes share.
#[derive(Clone)]
pub struct Trace(Arc<Process>);

impl Trace {
    /// Tells `lines` what process `rank` does, packets as `describe` says them.
    pub fn new(rank: Peer, describe: Describe, lines: Arc<dyn Lines>) -> Trace {
        Trace(Arc::new(Process {
            rank,
            start: Instant::now(),
            describe,
            lines,
        }))
    }

    /// `inner`, of which all is told as lane `lane`.
    pub fn endpoint<E>(&self, inner: E, lane: u32) -> TracerEndpoint<E> {
        let seen = Seen {
            process: self.0.clone(),
            lane,
            transfers: BTreeMap::new(),
            refused: BTreeSet::new(),
        };
        TracerEndpoint { inner, seen }
    }

    /// The link to `peer` is about to be made.
    pub fn connect(&self, peer: Peer) {
        self.note(peer, format_args!("connect"));
    }

    /// Something about `peer` that belongs to no lane.
    pub fn note(&self, peer: Peer, text: fmt::Arguments<'_>) {
        let now = self.0.now();
        self.0.line(now, '-', format_args!("-- {peer} {text}"));
    }
}

/// A fabric of which all is told.
pub struct Tracer<F> {
    inner: F,
    trace: Trace,
}

impl<F> Tracer<F> {
    /// `inner`, of which `trace` tells all.
    pub fn new(inner: F, trace: Trace) -> Tracer<F> {
        Tracer { inner, trace }
    }
}

impl<F: Fabric> Fabric for Tracer<F> {
    type Endpoint = TracerEndpoint<F::Endpoint>;

    fn endpoint(&self, lane: u32) -> Self::Endpoint {
        self.trace.endpoint(self.inner.endpoint(lane), lane)
    }

    fn connect(&self, peer: Peer) {
        self.trace.connect(peer);
        self.inner.connect(peer);
    }

    fn expose(&self, lane: u32, memory: Memory) -> Option<Exposure> {
        self.inner.expose(lane, memory)
    }

    fn allocate(&self, lane: u32, bytes: usize) -> Option<Allocation> {
        self.inner.allocate(lane, bytes)
    }

    fn reaches_exposed(&self, peer: Peer) -> bool {
        self.inner.reaches_exposed(peer)
    }

    fn signalled(&self) -> u64 {
        self.inner.signalled()
    }

    fn prepare_sleep(&self) -> u32 {
        self.inner.prepare_sleep()
    }

    fn sleep(&self, ticket: u32, timeout_ms: Option<u32>) {
        self.inner.sleep(ticket, timeout_ms);
    }

    fn wake(&self) {
        self.inner.wake();
    }

    fn rung_at(&self) -> Option<u64> {
        self.inner.rung_at()
    }

    fn serve(&self) -> bool {
        self.inner.serve()
    }
}

/// One lane of a [`Tracer`].
pub struct TracerEndpoint<E> {
    inner: E,
    seen: Seen,
}

impl<E> TracerEndpoint<E> {
    /// The endpoint of which all is told.
    pub fn inner(&self) -> &E {
        &self.inner
    }
}

/// What a lane's lines need to know of what has been before.
struct Seen {
    process: Arc<Process>,
    lane: u32,
    /// Whose bulk transfers and accesses these are, which have begun, and how their ends are told.
    transfers: BTreeMap<Cookie, (Peer, &'static str)>,
    /// Peers that a packet was refused for since the last one that was taken: each is told once.
    refused: BTreeSet<Peer>,
}

impl Seen {
    fn line(&self, at: Duration, text: fmt::Arguments<'_>) {
        self.process.line(at, self.lane, text);
    }

    fn line_now(&self, text: fmt::Arguments<'_>) {
        self.line(self.process.now(), text);
    }

    fn packet(&self, at: Duration, way: &str, peer: Peer, texts: &[String]) {
        for text in texts {
            self.line(at, format_args!("{way} {peer} {text}"));
        }
    }

    /// What became of something that was asked for of a peer.
    fn asked<T>(&mut self, peer: Peer, result: Result<T, Refused>) -> Result<T, Refused> {
        let why = match result {
            Ok(_) => {
                self.refused.remove(&peer);
                return result;
            }
            Err(Refused::Busy) => "room",
            Err(Refused::Connecting) => "a link",
            // The packet that goes instead, the other way or the line that the peer is lost says it.
            Err(Refused::Throttled | Refused::Elsewhere | Refused::Lost) => return result,
        };
        if self.refused.insert(peer) {
            self.line_now(format_args!("-- {peer} waits for {why}"));
        }
        result
    }

    /// A bulk transfer or an access has ended.
    fn ended(&mut self, cookie: Cookie, way: &str) {
        let begun = self.transfers.remove(&cookie);
        let (peer, what) = begun.expect("a transfer that was begun and has not ended");
        self.line_now(format_args!("{way} {peer} {what}={cookie:#x}"));
    }

    fn forget(&mut self, peer: Peer) {
        self.transfers.retain(|_, (other, _)| *other != peer);
        self.refused.remove(&peer);
    }
}

impl<E: Endpoint> Endpoint for TracerEndpoint<E> {
    const EAGER_TO_ALL: usize = E::EAGER_TO_ALL;

    fn eager_limit(&self, peer: Peer) -> usize {
        self.inner.eager_limit(peer)
    }

    fn send(
        &mut self,
        peer: Peer,
        header: Header,
        payload: &[u8],
        throttled: bool,
    ) -> Result<(), Refused> {
        let now = self.seen.process.now();
        let sent = self.inner.send(peer, header, payload, throttled);
        if sent.is_ok() {
            let texts = (self.seen.process.describe)(header, payload);
            self.seen.packet(now, "->", peer, &texts);
        }
        self.seen.asked(peer, sent)
    }

    fn send_with(
        &mut self,
        peer: Peer,
        header: Header,
        bytes: usize,
        throttled: bool,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Refused> {
        let now = self.seen.process.now();
        let describe = self.seen.process.describe;
        let (mut fill, mut texts) = (Some(fill), Vec::new());
        let mut fill_and_read = |out: &mut [u8]| {
            let fill = fill.take().expect("a packet is filled once");
            fill(out);
            texts = describe(header, out);
        };
        let fill_and_read: &mut dyn FnMut(&mut [u8]) = &mut fill_and_read;
        let sent = self
            .inner
            .send_with(peer, header, bytes, throttled, fill_and_read);
        if sent.is_ok() {
            self.seen.packet(now, "->", peer, &texts);
        }
        self.seen.asked(peer, sent)
    }

    fn poll(&mut self, sink: &mut impl Sink) -> bool {
        let seen = &mut self.seen;
        self.inner.poll(&mut TracerSink { seen, sink })
    }

    fn flush(&mut self) {
        self.inner.flush();
    }

    fn bulk_send(
        &mut self,
        peer: Peer,
        source: Memory,
        cookie: Cookie,
    ) -> Result<BulkDescriptor, Refused> {
        let (now, bytes) = (self.seen.process.now(), source.bytes);
        let begun = self.inner.bulk_send(peer, source, cookie);
        if begun.is_ok() {
            let begun = (peer, "bulk-sent sender");
            self.seen.transfers.insert(cookie, begun);
            let why = self.inner.way_of_last(peer);
            let why = why.map_or_else(String::new, |why| format!(" {why}"));
            self.seen.line(
                now,
                format_args!("-> {peer} bulk-open sender={cookie:#x} bytes={bytes}{why}"),
            );
        }
        self.seen.asked(peer, begun)
    }

    fn bulk_cancel(&mut self, peer: Peer, cookie: Cookie) {
        self.seen.transfers.remove(&cookie);
        self.seen
            .line_now(format_args!("-> {peer} bulk-cancel sender={cookie:#x}"));
        self.inner.bulk_cancel(peer, cookie);
    }

    fn bulk_receive(
        &mut self,
        peer: Peer,
        descriptor: BulkDescriptor,
        bytes: usize,
        target: Memory,
        cookie: Cookie,
    ) -> Result<(), Refused> {
        let (now, room) = (self.seen.process.now(), target.bytes);
        let begun = self
            .inner
            .bulk_receive(peer, descriptor, bytes, target, cookie);
        if begun.is_ok() {
            let begun = (peer, "bulk-received receiver");
            self.seen.transfers.insert(cookie, begun);
            self.seen.line(
                now,
                format_args!("<- {peer} bulk-take receiver={cookie:#x} bytes={bytes} room={room}"),
            );
        }
        self.seen.asked(peer, begun)
    }

    fn access(&mut self, peer: Peer, access: Access, cookie: Cookie) -> Result<(), Refused> {
        let (now, bytes, offset) = (self.seen.process.now(), access.memory.bytes, access.offset);
        let (way, what, end) = match access.direction {
            Direction::Write => ("->", "write", "written origin"),
            Direction::Read => ("<-", "read", "has-read origin"),
        };
        let begun = self.inner.access(peer, access, cookie);
        if begun.is_ok() {
            self.seen.transfers.insert(cookie, (peer, end));
            self.seen.line(
                now,
                format_args!(
                    "{way} {peer} {what} origin={cookie:#x} bytes={bytes} offset={offset}"
                ),
            );
        }
        self.seen.asked(peer, begun)
    }

    fn end(&mut self, peer: Peer, why: &Lost) {
        self.seen.forget(peer);
        self.seen.line_now(format_args!("-- {peer} end: {why}"));
        self.inner.end(peer, why);
    }

    fn throttle(&mut self, peer: Peer, on: bool) {
        let state = if on { "on" } else { "off" };
        self.seen
            .line_now(format_args!("-- {peer} throttle {state}"));
        self.inner.throttle(peer, on);
    }

    fn expect(&mut self, peer: Peer, one_of_many: bool) -> Result<(), Refused> {
        self.inner.expect(peer, one_of_many)
    }

    fn arm(&mut self) -> bool {
        self.inner.arm()
    }

    fn look(&mut self) {
        self.inner.look();
    }

    fn disarm(&mut self) {
        self.inner.disarm();
    }

    fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        self.inner.describe(out)
    }
}

/// Tells what the fabric behind tells, and hands it on.
struct TracerSink<'a> {
    seen: &'a mut Seen,
    sink: &'a mut dyn Sink,
}

impl Sink for TracerSink<'_> {
    fn looks_ahead(&self) -> bool {
        self.sink.looks_ahead()
    }

    fn expects_nothing(&self) -> bool {
        self.sink.expects_nothing()
    }

    fn upcoming(&mut self, from: Peer, header: Header) {
        self.sink.upcoming(from, header);
    }

    fn packet(&mut self, from: Peer, header: Header, payload: &[u8]) {
        let texts = (self.seen.process.describe)(header, payload);
        let now = self.seen.process.now();
        self.seen.packet(now, "<-", from, &texts);
        self.sink.packet(from, header, payload);
    }

    fn sent(&mut self, cookie: Cookie) {
        self.seen.ended(cookie, "->");
        self.sink.sent(cookie);
    }

    fn received(&mut self, cookie: Cookie) {
        self.seen.ended(cookie, "<-");
        self.sink.received(cookie);
    }

    fn writable(&mut self, peer: Peer) {
        self.seen.refused.remove(&peer);
        self.seen.line_now(format_args!("-- {peer} writable"));
        self.sink.writable(peer);
    }

    fn connect(&mut self, peer: Peer) {
        self.seen.line_now(format_args!("-- {peer} needs a link"));
        self.sink.connect(peer);
    }

    fn lost(&mut self, peer: Peer, lost: &Lost) {
        self.seen.forget(peer);
        self.seen.line_now(format_args!("-- {peer} lost: {lost}"));
        self.sink.lost(peer, lost);
    }
}

/// The last lines of a trace, shown when the test fails that dropped them.
pub struct Recent {
    lines: Mutex<VecDeque<String>>,
    count: usize,
}

impl Recent {
    /// Keeps the last `count` lines.
    pub fn new(count: usize) -> Arc<Recent> {
        let lines = Mutex::new(VecDeque::with_capacity(count));
        Arc::new(Recent { lines, count })
    }

    /// The lines, the oldest first.
    pub fn lines(&self) -> Vec<String> {
        let lines = self.lines.lock().expect("no panic inside");
        lines.iter().cloned().collect()
    }

    /// Shows them if this thread panics. For a test that never drops its engines.
    pub fn show_if_panicking(&self) {
        if std::thread::panicking() {
            eprintln!("the last lines of the trace:\n{}", self.lines().join("\n"));
        }
    }
}

impl Lines for Recent {
    fn line(&self, line: &str) {
        let mut lines = self.lines.lock().expect("no panic inside");
        if lines.len() == self.count {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }
}

impl Drop for Recent {
    fn drop(&mut self) {
        self.show_if_panicking();
    }
}
