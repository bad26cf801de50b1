//! A collective access by two phases: data travel between each process and the aggregators, which read and write.
//!
//! `weft_file::Domains` says what lies where. In each turn an aggregator works on one window of its domain, and each process sends
//! it, or receives from it, what it has there: a range of its packed data. At the aggregator the process's view is the layout of
//! the message, so data go between the program's memory and the window in one step, and only what the processes gave is
//! written. A process takes part in all domains at once, and an aggregator does so beside its own work: so the
//! one that drives an access learns of every message that is over, not of one alone, which operations do.
//!
//! An error stops no process: it takes part to the end, so that none waits, and then all processes learn of it.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::ops::Range;
use std::pin::Pin;
use std::task::Poll;

use weft_collective::{Channel, Outcome, PointToPoint};
use weft_collective_calls::{Peers, agree_over, gather_words_over, largest_over};
use weft_error::told::{Reader, Teller};
use weft_error::{Class, Error, Result};
use weft_file::{Coverage, Cursor, Domains, GAP_BYTES, View, write_covered};
use weft_memory::Memory;
use weft_messages::request::Request;

use super::access::Access;
use super::aggregation::{Told, aggregators, domains};
use super::disk::Disk;
use super::errors::elsewhere;
use super::form::Direction;
use super::hints::Switch;
use super::kept::{Exchanged, Part};
use super::lists::Lists;
use super::seen::Seen;

/// Carries out an access together with the other processes. Returns how many bytes of the file there were.
pub(super) async fn carry_out(
    access: Access,
    peers: &Peers<'_>,
    tag: u32,
    disk: Disk<'_>,
) -> Result<(Access, usize)> {
    let outcome = Outcome::default();
    let channel = Channel::new(peers, tag, &outcome);
    let seen = access.seen.clone();
    let aggregators = aggregators(&access.file.comm, &seen.settings);
    let planned = plan(&access, &channel, &aggregators).await?;
    let Some((told, domains)) = planned.filter(|_| !access.file.is_atomic()) else {
        let direction = access.direction;
        let work = move || access.carry_out().map(|bytes| (access, bytes));
        let outcome = disk.run(work).await;
        return match direction {
            Direction::Read => outcome,
            Direction::Write => agreed(&channel, outcome).await,
        };
    };
    weft_file::count_two_phase_access();
    let in_order = seen.view.in_order(&access.positions);
    let (view, positions) = in_order.expect("domains are for accesses in order");
    let rank = access.file.comm.rank() as usize;
    let lists = Lists {
        seen: &seen,
        part: (&view, &positions),
        told: &told,
        aggregators: &aggregators,
        domains: &domains,
        peers,
        tag,
    };
    // Accesses that are not made in their call are under way beside others.
    let keeps = matches!(disk, Disk::Here);
    let (exchanged, failed) = lists.learn(rank, keeps).await;
    let parts = match aggregators.contains(&rank) {
        true => parts(&seen, &told, &exchanged),
        false => Vec::new(),
    };
    let phases = Phases {
        access: &access,
        positions: positions.clone(),
        peers,
        tag,
        disk,
        domains,
        parts: &parts,
        failed: RefCell::new(failed),
        ended: Cell::new(positions.end),
    };
    let served = served(&parts, rank, &aggregators, &domains);
    let mut roles: Vec<Role<'_>> = Vec::new();
    for (number, &aggregator) in aggregators.iter().enumerate() {
        let cursor = Cursor::new(&view, &positions, &domains.domain(number));
        roles.push(Box::pin(phases.take_part(number, aggregator, cursor)));
    }
    if let Some(served) = served {
        match access.direction {
            Direction::Read => roles.push(Box::pin(phases.read_for(served))),
            Direction::Write => roles.push(Box::pin(phases.write_for(served))),
        }
    }
    all(roles).await;
    let (failed, ended) = (phases.failed.take(), phases.ended.get());
    let bytes = (ended - positions.start) as usize;
    let outcome = failed.map_or(Ok((access, bytes)), Err);
    let outcome = agreed(&channel, outcome).await;
    if keeps && seen.of_all.some_are_listed && outcome.is_ok() {
        seen.of_all.kept.put(exchanged);
    }
    outcome
}

/// Whether an access may go by two phases at all, as all processes know without being told: dense views never do by
/// themselves.
fn may_go_together(seen: &Seen, direction: Direction, processes: usize) -> bool {
    let wanted = match seen.settings.of(direction) {
        Switch::Enable => true,
        Switch::Disable => false,
        Switch::Automatic => !seen.of_all.are_plain,
    };
    wanted && processes > 1
}

/// What all processes access, and the domains if they do so together. All plan alike, or all have an error.
async fn plan(
    access: &Access,
    channel: &Channel<'_, Peers<'_>>,
    aggregators: &[usize],
) -> Result<Option<(Vec<Told>, Domains)>> {
    let (seen, direction) = (&access.seen, access.direction);
    if !may_go_together(seen, direction, channel.size()) {
        return Ok(None);
    }
    let hull = seen.view.hull(&access.positions).unwrap_or(0..0);
    let mine = Told::words(&seen.view, &access.positions, &hull);
    let words = gather_words_over(channel, mine).await;
    let told = words
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|words| Told::all(words));
    let told = agree_over(channel, words.as_deref().unwrap_or(&[]), told).await?;
    let one_host = access.file.comm.hosts().is_none();
    let domains = domains(
        &told,
        &seen.settings,
        direction,
        aggregators.len(),
        one_host,
    );
    Ok(domains.map(|domains| (told, domains)))
}

/// An error of one process is an error of all.
async fn agreed<T>(channel: &Channel<'_, Peers<'_>>, outcome: Result<T>) -> Result<T> {
    let class = outcome.as_ref().err().map_or(0, |error| error.class as i64);
    let worst = largest_over(channel, [class], |mut words| words.class().map(drop)).await;
    let value = outcome?;
    match Reader::new(Teller::Anybody, &worst?).class()? {
        None => Ok(value),
        Some(class) => Err(elsewhere(class)),
    }
}

/// What a process does for one aggregator, or as one. Each goes at its own pace: none waits for another's window.
type Role<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Goes on with all roles until all are over.
async fn all(mut roles: Vec<Role<'_>>) {
    poll_fn(|context| {
        roles.retain_mut(|role| role.as_mut().poll(context).is_pending());
        match roles.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
}

/// What each process accesses.
fn parts(seen: &Seen, told: &[Told], exchanged: &Exchanged) -> Vec<Part> {
    let part = |(rank, told): (usize, &Told)| match seen.view_of(rank) {
        Some(view) => shown(&view, &told.positions),
        None => exchanged.parts[rank].clone().unwrap_or_else(nothing),
    };
    told.iter().enumerate().map(part).collect()
}

/// An access that a process told of, as one of a view whose offsets grow; nothing where the process told of more than its view shows.
fn shown(view: &View, positions: &Range<u64>) -> Part {
    let in_order = view.in_order(positions);
    let shown = in_order.filter(|(view, inside)| view.hull(inside).is_some());
    shown.unwrap_or_else(nothing)
}

fn nothing() -> Part {
    (View::bytes(0), 0..0)
}

/// What each process has in this one's domain, if it is an aggregator.
fn served<'a>(
    parts: &'a [Part],
    rank: usize,
    aggregators: &[usize],
    domains: &Domains,
) -> Option<Served<'a>> {
    let number = aggregators.iter().position(|&other| other == rank)?;
    let domain = domains.domain(number);
    let cursor = |(view, positions): &'a Part| Cursor::new(view, positions, &domain);
    Some(Served {
        number,
        cursors: parts.iter().map(cursor).collect(),
    })
}

/// What an aggregator has yet to do.
struct Served<'a> {
    number: usize,
    /// By rank.
    cursors: Vec<Cursor<'a>>,
}

/// One turn of an aggregator: a window, and what processes have in it, by rank.
struct Turn {
    window: Range<u64>,
    parts: Vec<(usize, Range<u64>)>,
}

impl Turn {
    fn bytes(&self) -> usize {
        (self.window.end - self.window.start) as usize
    }

    /// Counts what it moves for others than `rank`.
    fn count(&self, rank: usize) {
        let others = self.parts.iter().filter(|(other, _)| *other != rank);
        weft_file::count_aggregated(others.map(|(_, part)| part.end - part.start).sum());
    }
}

impl Served<'_> {
    fn next(&mut self, domains: &Domains) -> Option<Turn> {
        let offset = self.cursors.iter().filter_map(Cursor::offset).min()?;
        let window = domains.window(self.number, offset);
        let taken = self
            .cursors
            .iter_mut()
            .map(|cursor| cursor.take(window.end));
        let parts = taken.enumerate().filter(|(_, part)| !part.is_empty());
        let parts = parts.collect();
        Some(Turn { window, parts })
    }
}

struct Phases<'a, 'p> {
    access: &'a Access,
    /// What this process accesses, in a view whose offsets grow.
    positions: Range<u64>,
    peers: &'a Peers<'p>,
    tag: u32,
    disk: Disk<'a>,
    domains: Domains,
    /// What each rank accesses, if this process reads or writes for others.
    parts: &'a [Part],
    /// The first error.
    failed: RefCell<Option<Error>>,
    /// The first position that the file turned out not to have.
    ended: Cell<u64>,
}

impl Phases<'_, '_> {
    fn keep<T>(&self, outcome: Result<T>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(error) => {
                self.failed.borrow_mut().get_or_insert(error);
                None
            }
        }
    }

    fn rank(&self) -> usize {
        self.access.file.comm.rank() as usize
    }

    fn has_failed(&self) -> bool {
        self.failed.borrow().is_some()
    }

    /// The bytes of a message, when it is over.
    async fn finish(&self, request: Request) -> Option<usize> {
        let outcome = poll_fn(|_| match self.peers.poll(request) {
            Some(outcome) => Poll::Ready(outcome),
            None => Poll::Pending,
        });
        self.keep(outcome.await)
    }

    /// Sends an aggregator what this process writes in its domain, or receives what it reads there, window by window.
    async fn take_part(&self, number: usize, aggregator: usize, mut cursor: Cursor<'_>) {
        while let Some(offset) = cursor.offset() {
            let part = cursor.take(self.domains.window(number, offset).end);
            let inside = (part.start - self.positions.start) as usize;
            let length = (part.end - part.start) as usize;
            let memory = self.access.memory.part(inside, length);
            let request = match self.access.direction {
                Direction::Write => self.peers.send(aggregator, self.tag, memory),
                Direction::Read => self.peers.receive(aggregator, self.tag, memory),
            };
            let Some(request) = self.keep(request) else {
                continue;
            };
            if let Some(bytes) = self.finish(request).await
                && self.access.direction == Direction::Read
                && bytes < length
            {
                let end = part.start + bytes as u64;
                self.ended.set(self.ended.get().min(end));
            }
        }
    }

    /// As an aggregator: receives what all write in a window, and writes it.
    async fn write_for(&self, mut served: Served<'_>) {
        let (mut buffer, mut coverage) = (Vec::new(), Coverage::default());
        while let Some(turn) = served.next(&self.domains) {
            turn.count(self.rank());
            let mut received = Vec::new();
            let room = room(&turn, &mut buffer, &mut coverage);
            let has_room = self.keep(room).is_some();
            for (rank, part) in &turn.parts {
                let view = &self.parts[*rank].0;
                // What there is no room for is received still, so that its sender goes on.
                let mut memory = Memory::contiguous(std::ptr::null_mut(), 0);
                if has_room {
                    memory = view.memory(buffer.as_mut_ptr(), turn.window.start, part);
                    coverage.add(view, part.clone(), turn.window.start);
                }
                let request = self.peers.receive(*rank, self.tag, memory);
                let bytes = part.end - part.start;
                received.extend(self.keep(request).map(|request| (request, bytes)));
            }
            for (request, wanted) in received {
                if let Some(bytes) = self.finish(request).await {
                    let whole = bytes as u64 == wanted;
                    self.keep(whole.then_some(()).ok_or_else(too_short));
                }
            }
            if !self.has_failed() {
                (buffer, coverage) = self.store(turn, buffer, coverage).await;
            }
        }
    }

    /// Writes what is covered of a window.
    async fn store(&self, turn: Turn, buffer: Vec<u8>, coverage: Coverage) -> (Vec<u8>, Coverage) {
        let file = self.access.file.clone();
        let may_map = self.access.seen.own_settings.may_map;
        let work = move || {
            let start = turn.window.start;
            let written = write_covered(&file.descriptor, start, &buffer, &coverage, may_map);
            let written = written.map_err(|error| file.failed(&error));
            (written, buffer, coverage)
        };
        let (written, buffer, coverage) = self.disk.run(work).await;
        self.access.file.mark_written();
        self.keep(written);
        (buffer, coverage)
    }

    /// As an aggregator: reads what all have in a window, and sends it to them.
    async fn read_for(&self, mut served: Served<'_>) {
        let (mut buffer, mut coverage) = (Vec::new(), Coverage::default());
        while let Some(turn) = served.next(&self.domains) {
            turn.count(self.rank());
            let end;
            (buffer, coverage, end) = self.load(&turn, buffer, coverage).await;
            let mut sent = Vec::new();
            for (rank, part) in &turn.parts {
                let request = self.answer(*rank, part, &turn, &mut buffer, end);
                sent.extend(self.keep(request));
            }
            for request in sent {
                self.finish(request).await;
            }
        }
    }

    /// Sends a process what the file has of its part of a window; a mark if that could not be read.
    fn answer(
        &self,
        rank: usize,
        part: &Range<u64>,
        turn: &Turn,
        buffer: &mut [u8],
        end: u64,
    ) -> Result<Request> {
        if let Some(error) = &*self.failed.borrow() {
            return self.peers.send_failure(rank, self.tag, Peers::mark(error));
        }
        let view = &self.parts[rank].0;
        let there = part.start..view.below(end).clamp(part.start, part.end);
        let memory = view.memory(buffer.as_mut_ptr(), turn.window.start, &there);
        self.peers.send(rank, self.tag, memory)
    }

    /// Reads what processes have in a window. Also where the file ends, if it does in the window.
    async fn load(
        &self,
        turn: &Turn,
        mut buffer: Vec<u8>,
        mut coverage: Coverage,
    ) -> (Vec<u8>, Coverage, u64) {
        let room = room(turn, &mut buffer, &mut coverage);
        if self.keep(room).is_none() {
            return (buffer, coverage, turn.window.start);
        }
        for (rank, part) in &turn.parts {
            let (view, start) = (&self.parts[*rank].0, turn.window.start);
            coverage.add_along(view, part.clone(), start, GAP_BYTES);
        }
        let (file, window) = (self.access.file.clone(), turn.window.clone());
        let work = move || {
            let mut end = window.end;
            for run in near(coverage.runs(0..buffer.len())) {
                let offset = window.start + run.start as u64;
                let bytes = run.len();
                match file.descriptor.read_at(offset, &mut buffer[run]) {
                    Ok(there) if there == bytes => {}
                    Ok(there) => {
                        end = offset + there as u64;
                        break;
                    }
                    Err(error) => return (Err(file.failed(&error)), buffer, coverage, end),
                }
            }
            (Ok(()), buffer, coverage, end)
        };
        let (loaded, buffer, coverage, end) = self.disk.run(work).await;
        self.keep(loaded);
        (buffer, coverage, end)
    }
}

/// Makes room for a window, of which nothing is there yet.
fn room(turn: &Turn, buffer: &mut Vec<u8>, coverage: &mut Coverage) -> Result<()> {
    weft_reserve::lengthen(buffer, turn.bytes())?;
    Ok(coverage.clear(turn.bytes())?)
}

/// The runs, those that are near each other as one.
fn near(mut runs: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = runs.next().into_iter().collect();
    for run in runs {
        match joined.last_mut() {
            Some(last) if (run.start - last.end) as u64 <= GAP_BYTES => last.end = run.end,
            _ => joined.push(run),
        }
    }
    joined
}

#[cold]
fn too_short() -> Error {
    Error::new(Class::Intern, "a process sent less than its view shows")
}

/// An access to views that processes tell of, as an aggregator goes through it: nothing lies outside of its windows.
#[cfg(fuzzing)]
pub fn fuzz(words: &[i64]) {
    let (accesses, pattern) = words.split_at(words.len().min(2 * Told::WORDS));
    let Ok(told) = Told::all(accesses.as_chunks().0) else {
        return;
    };
    let tiling = weft_datatype::Tiling::from_words(pattern);
    let Some(view) = tiling.and_then(|tiling| View::of(told.len() as u64, tiling)) else {
        return;
    };
    let settings = super::hints::Settings {
        window_bytes: 1 << 16,
        ..super::hints::Hints::none(2).settings()
    };
    let parts: Vec<Part> = told
        .iter()
        .map(|told| shown(&view, &told.positions))
        .collect();
    let Some(domains) = domains(&told, &settings, Direction::Write, 2, true) else {
        return;
    };
    for rank in 0..2 {
        let Some(mut served) = served(&parts, rank, &[0, 1], &domains) else {
            continue;
        };
        let mut coverage = Coverage::default();
        for _ in 0..16 {
            let Some(turn) = served.next(&domains) else {
                break;
            };
            assert!(turn.bytes() <= 1 << 17);
            coverage.clear(turn.bytes()).expect("a window is short");
            for (rank, part) in &turn.parts {
                let hull = parts[*rank].0.hull(part).expect("it was checked");
                assert!(turn.window.start <= hull.start && hull.end <= turn.window.end);
                coverage.add(&parts[*rank].0, part.clone(), turn.window.start);
            }
        }
    }
}
