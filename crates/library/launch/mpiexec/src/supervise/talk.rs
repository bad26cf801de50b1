//! Between the ranks' connections and the PMI server.

use super::connection::Arrival;
use super::ending::Phase;
use super::rank::Client;
use super::supervisor::{Abort, Supervisor};
use weft_kernel::Interest;

use crate::agent::Up;
use crate::pmi::{Event, Standing};
use crate::source::Source;
use crate::sys;
use std::time::{Duration, Instant};

/// What is put goes out in pieces, none of which holds up other frames.
const PUTS_PER_FRAME: usize = 256;
/// Lines taken from one rank before the others have their turn.
const LINES_PER_TURN: usize = 256;
/// For a rank's wrapper to end by itself after the MPI program within it has.
const WRAPPER_TIME: Duration = Duration::from_secs(1);
/// Between two looks at ranks that are ending while an MPI_Abort waits.
const ABORT_LOOK_TIME: Duration = Duration::from_millis(5);

impl Supervisor<'_> {
    /// Reads what a rank has said and answers.
    pub(super) fn serve(&mut self, number: u32) {
        let mut events = Vec::new();
        for _ in 0..LINES_PER_TURN {
            let Some(connection) = &mut self.ranks[number as usize].connection else {
                return;
            };
            connection.flush();
            match connection.next_line() {
                Arrival::Line(line) => self.server.line(number, &line, &mut events),
                Arrival::Nothing => break,
                Arrival::Endless => {
                    events.push(Event::Broken(number, "sent a PMI line without end".into()));
                    break;
                }
                Arrival::End => {
                    self.ranks[number as usize].connection = None;
                    self.expect_end(number);
                    break;
                }
            }
            self.handle(&mut events);
        }
        self.handle(&mut events);
        if let Some(connection) = &mut self.ranks[number as usize].connection {
            // Only an exhausted kernel refuses, and then the rank's end will still be seen.
            let _ = connection.update_interest(&self.epoll);
        }
    }

    pub(super) fn handle(&mut self, events: &mut Vec<Event>) {
        for event in events.drain(..) {
            match event {
                Event::Reply(rank, line) => {
                    if let Some(connection) = &mut self.ranks[rank as usize].connection {
                        connection.send(&line);
                        let _ = connection.update_interest(&self.epoll);
                    }
                }
                Event::Started(rank) => self.watch_client(rank),
                Event::Abort(rank, code, time) => {
                    let now = Instant::now();
                    self.ranks[rank as usize].has_aborted = true;
                    let known = self.abort.as_ref();
                    if known.is_none_or(|known| time < known.time) {
                        self.abort = Some(Abort {
                            rank,
                            code,
                            time,
                            look: now,
                            until: now + WRAPPER_TIME,
                        });
                    }
                }
                Event::Broken(rank, problem) => {
                    self.ranks[rank as usize].connection = None;
                    let shown = self.ranks[rank as usize].show();
                    self.fail(1, &format!("{shown} {problem}; the job is ended"));
                }
                Event::Ask(key) => self.send_up(&Up::Ask(key)),
                Event::Fence(puts) => self.send_fence(puts),
                Event::Note(rank, text) => {
                    let number = self.ranks[rank as usize].number;
                    self.verbose(&format!("rank {number} {text}"));
                }
            }
        }
        let gone = self
            .upward
            .as_ref()
            .is_some_and(|upward| upward.gone.is_some());
        if gone || self.ranks.iter().any(|rank| !rank.is_running()) {
            self.check_barrier();
        }
    }

    fn send_fence(&mut self, puts: Vec<(String, String)>) {
        fence(puts).iter().for_each(|up| self.send_up(up));
    }

    /// Acts on a rank's MPI_Abort unless another rank is just ending: that one's end is then the cause, and is told first.
    pub(super) fn look_at_abort(&mut self) {
        if self.abort.is_some() {
            // One that caused it has been sent before it, and may not have been read.
            (0..self.ranks.len() as u32).for_each(|rank| self.serve(rank));
        }
        let Some(abort) = &mut self.abort else { return };
        let (rank, code, now) = (abort.rank, abort.code, Instant::now());
        abort.look = now + ABORT_LOOK_TIME;
        let late = abort.until <= now;
        self.reap();
        let mut others = (0..).zip(&self.ranks).filter(|(other, _)| *other != rank);
        if late || !others.any(|(_, other)| other.is_running() && other.is_ending()) {
            self.abort = None;
            let shown = self.ranks[rank as usize].show();
            self.fail(
                code,
                &format!("{shown} called MPI_Abort with code {code}; the job is ended"),
            );
        }
    }

    /// Learns which process speaks for the rank. Its end without `finalize` is a failure that the end of the rank itself
    /// tells too late when a wrapper lives on.
    fn watch_client(&mut self, number: u32) {
        let rank = &mut self.ranks[number as usize];
        let Some(pid) = rank
            .connection
            .as_ref()
            .and_then(|connection| connection.peer)
        else {
            return;
        };
        let mut pidfd = None;
        if pid != rank.pid {
            // Old kernels have none, and a program that has ended already needs none.
            pidfd = sys::open_pidfd(pid).ok();
            if let Some(pidfd) = &pidfd {
                let _ = self
                    .epoll
                    .add(pidfd, Source::Client(number).token(), Interest::Reading);
            }
        }
        rank.client = Some(Client { pid, pidfd });
        let world = rank.number;
        self.verbose(&format!(
            "rank {world} has called MPI_Init in process {pid}"
        ));
        self.tell_process(number as usize);
    }

    pub(super) fn client_ended(&mut self, number: u32) {
        // Its last words may not have been read yet.
        self.serve(number);
        if let Some(client) = &mut self.ranks[number as usize].client {
            client.pidfd = None;
        }
        self.expect_end(number);
    }

    /// The rank's MPI program has gone: if it has not said `finalize`, the rank is to end too, and soon.
    fn expect_end(&mut self, number: u32) {
        let known = self.losses.iter().any(|(other, _)| *other == number);
        let active = self.server.standing(number) == Standing::Active;
        if active && !known && self.ranks[number as usize].is_running() {
            self.losses.push((number, Instant::now() + WRAPPER_TIME));
        }
    }

    pub(super) fn lost(&mut self, number: u32) {
        if self.server.standing(number) == Standing::Active {
            let shown = self.ranks[number as usize].show();
            self.fail(1, &format!("the MPI program of {shown} ended without calling MPI_Finalize; the job is ended"));
        }
    }

    /// For whom those wait that are in a fence: each of them says itself in which call.
    fn who_is_late(&self) -> Option<String> {
        let (waiting, late) = self.server.in_fence();
        if waiting == 0 {
            return None;
        }
        let named = late.iter().take(NAMED);
        let named: Vec<String> = named
            .map(|&rank| self.ranks[rank as usize].show())
            .collect();
        let whom = match late.len() {
            0 => "ranks of other hosts".to_string(),
            count if count > NAMED => format!("{} and {} more", named.join(", "), count - NAMED),
            _ => named.join(", "),
        };
        let who = match waiting {
            1 => "1 rank here waits".to_string(),
            _ => format!("{waiting} ranks here wait"),
        };
        Some(format!(
            "mpiexec: {who} in MPI_Init or MPI_Finalize for {whom}"
        ))
    }

    /// Asks every rank that can to print what it waits for, and says what else is known of the others. Answers whether any
    /// can.
    pub(super) fn ask_for_reports(&mut self) -> bool {
        let mut asked = false;
        let mut lines = Vec::new();
        for (number, rank) in self
            .ranks
            .iter()
            .enumerate()
            .filter(|(_, rank)| rank.is_running())
        {
            let pid = rank.client.as_ref().map_or(rank.pid, |client| client.pid);
            let known = match self.server.standing(number as u32) {
                Standing::Lost => continue,
                Standing::New => "has not called MPI_Init",
                Standing::Finalized => "has called MPI_Finalize",
                // The signal would end a program that does not handle it.
                Standing::Active if !sys::catches(pid, libc::SIGUSR2) => {
                    "runs, and its MPI library does not report"
                }
                Standing::Active => {
                    sys::kill(pid, libc::SIGUSR2);
                    asked = true;
                    continue;
                }
            };
            lines.push(format!("mpiexec: {} {known}", rank.show()));
        }
        lines.extend(self.who_is_late());
        lines.iter().for_each(|line| self.say(line));
        asked && self.ending.phase() != Phase::Killed
    }
}

/// Ranks that are named where some wait for them; more are counted.
const NAMED: usize = 8;

/// What mpiexec is told once all ranks of a host are in the fence.
pub fn fence(mut puts: Vec<(String, String)>) -> Vec<Up> {
    let mut told = Vec::new();
    while !puts.is_empty() {
        let rest = puts.split_off(puts.len().min(PUTS_PER_FRAME));
        told.push(Up::Puts(std::mem::replace(&mut puts, rest)));
    }
    told.push(Up::Fence);
    told
}
