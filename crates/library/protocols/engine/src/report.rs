//! Saying what this process waits for, when someone asks (`mpiexec --timeout`, a signal).

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::Ordering;

use weft_transport::{Endpoint, Fabric};

use crate::engine::Engine;
use crate::pending::Pending;
use crate::slot::Role;
use crate::state::State;

/// Lines of a kind after which the rest is only counted.
const LINES: usize = 16;

impl<F: Fabric> Engine<F> {
    /// Asks for a report by the next thread that waits. Callable from a signal handler.
    pub fn ask_report(&self) {
        self.report_asked.store(true, Ordering::SeqCst);
        self.fabric.wake();
    }

    /// Threads that wait and have done so for more than a moment.
    pub fn waiters(&self) -> u32 {
        self.watch.waiters()
    }

    pub(crate) fn is_report_asked(&self) -> bool {
        self.report_asked.load(Ordering::Relaxed)
    }

    #[inline(never)]
    pub(crate) fn report_if_asked(&self) {
        if self.is_report_asked() && self.report_asked.swap(false, Ordering::SeqCst) {
            eprint!("{}", self.report());
        }
    }

    /// What is pending, a line each.
    pub fn report(&self) -> String {
        let mut out = format!("weft: rank {}: waiting; pending:\n", self.me);
        for lane in self.lanes.made() {
            let mut state = lane.enter_soon();
            // Writing to a string does not fail.
            let _ = state.describe(lane.number(), self.me, &mut out);
            self.leave(lane, state);
        }
        let count = self.operations.count();
        if count > 0 {
            let me = self.me;
            let _ = writeln!(
                out,
                "weft: rank {me}: {count} operations of several messages under way"
            );
        }
        let notes = self.watch.notes.lock();
        for (_, note) in notes.iter().filter(|(_, note)| !note.is_empty()) {
            let _ = writeln!(out, "weft: rank {}: {note}", self.me);
        }
        out
    }
}

impl<E: Endpoint> State<E> {
    fn describe(&mut self, lane: u32, me: u32, out: &mut String) -> std::fmt::Result {
        let mut lines = Vec::new();
        for (_, pattern, posted) in self.core.matching.posted_iter() {
            let source = wildcard(pattern.source);
            let tag = wildcard(pattern.tag);
            let (context, bytes) = (pattern.context, posted.buffer().1);
            lines.push(format!(
                "receive from {source} tag {tag} context {context} ({bytes} B): no message yet"
            ));
        }
        let in_flight: Vec<Pending> = self.core.in_flight.iter().copied().collect();
        for slot in in_flight {
            let cells = self.core.cells(slot);
            let (peer, tag, bytes) = (cells.peer, cells.tag, cells.bytes);
            lines.push(match cells.role {
                Role::Send => format!(
                    "send to world rank {peer} tag {tag} ({bytes} B): announced, not taken yet"
                ),
                Role::Access(direction) => {
                    let what = format!("{direction:?}").to_lowercase();
                    format!("{what} of {bytes} B of world rank {peer}'s memory: under way")
                }
                _ => format!(
                    "receive from world rank {peer} tag {tag} ({bytes} B): transfer under way"
                ),
            });
        }
        for (peer, queue) in self.core.outbound.peers() {
            let count = queue.iter(&self.core.slots).count();
            lines.push(format!(
                "{count} sends to world rank {peer}: no room at the receiver"
            ));
        }
        let lines = counted(lines);
        for (line, times) in lines.iter().take(LINES) {
            match times {
                1 => writeln!(out, "weft: rank {me}: lane {lane}: {line}")?,
                _ => writeln!(out, "weft: rank {me}: lane {lane}: {line}, {times} times")?,
            }
        }
        if lines.len() > LINES {
            writeln!(
                out,
                "weft: rank {me}: lane {lane}: and {} more",
                lines.len() - LINES
            )?;
        }
        let (bytes, messages) = self.core.throttle.totals();
        if messages > 0 {
            writeln!(
                out,
                "weft: rank {me}: lane {lane}: {messages} unexpected messages, {bytes} B stored"
            )?;
        }
        self.endpoint.describe(out)
    }
}

/// Lines that say the same as one, in the order in which each came first, and how often each came.
fn counted(lines: Vec<String>) -> Vec<(String, usize)> {
    let mut places = HashMap::new();
    let mut counted: Vec<(String, usize)> = Vec::new();
    for line in lines {
        let place = *places.entry(line.clone()).or_insert(counted.len());
        match counted.get_mut(place) {
            Some((_, times)) => *times += 1,
            None => counted.push((line, 1)),
        }
    }
    counted
}

fn wildcard(value: i32) -> String {
    if value < 0 {
        "any".into()
    } else {
        value.to_string()
    }
}
