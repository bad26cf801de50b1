//! The simulation. Each event is one rank's next act, or a part of one: so what ranks do to each other happens in the
//! order of time.

mod board;
mod cores;
mod messages;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use board::Board;
use cores::{Cores, Random};
use messages::Messages;

use crate::software::*;
use crate::{Act, Host};

/// A rank that is held up at the end of an operation, as by other work on its core.
#[derive(Clone, Copy, Debug)]
pub struct Disturbance {
    pub rank: usize,
    pub operation: usize,
    pub ns: f64,
}

#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// When the last rank was through each operation.
    pub ends_ns: Vec<f64>,
    /// By operation, of all ranks: what they did, and what sleepers and their wakers lost by wakes.
    pub worked_ns: Vec<f64>,
    pub waking_ns: Vec<f64>,
}

impl Outcome {
    /// What an operation takes, of those behind the first ones.
    pub fn mean_ns(&self, first: usize) -> f64 {
        let count = self.ends_ns.len() - first;
        (self.ends_ns[self.ends_ns.len() - 1] - self.ends_ns[first - 1]) / count as f64
    }

    fn at(list: &mut Vec<f64>, operation: usize) -> &mut f64 {
        if list.len() <= operation {
            list.resize(operation + 1, 0.0);
        }
        &mut list[operation]
    }
}

/// Runs what the ranks do to its end; the seed chooses where ranks that share a core are in their turns.
///
/// # Panics
/// If ranks wait for what never comes.
pub fn run(host: &Host, ranks: &[Vec<Act>], seed: u64, disturbs: Option<Disturbance>) -> Outcome {
    let count = ranks.len();
    let mut simulation = Simulation {
        host,
        disturbs,
        board: Board::new(ranks),
        messages: Messages::new(count),
        cores: Cores::new(host, count, Random::new(seed)),
        readers: vec![0.0; count],
        events: BinaryHeap::new(),
        ranks: (ranks.iter().zip(received(ranks)))
            .map(|(acts, received)| Rank::new(acts, received))
            .collect(),
        outcome: Outcome::default(),
    };
    for rank in 0..count {
        simulation.push(0.0, rank, What::IsReady);
    }
    while let Some(Reverse((Ns(ns), rank, what))) = simulation.events.pop() {
        match what {
            What::IsReady => simulation.is_ready(rank, ns),
            What::Runs => simulation.turn(rank, ns),
        }
    }
    let stuck = simulation
        .ranks
        .iter()
        .position(|rank| rank.at < rank.acts.len());
    assert!(stuck.is_none(), "rank {stuck:?} waits for ever");
    simulation.outcome
}

/// How many bytes of an operation's the kernel copies for each rank.
fn received(ranks: &[Vec<Act>]) -> Vec<usize> {
    let mut received = vec![0; ranks.len()];
    let mut operations = 0;
    for (rank, acts) in ranks.iter().enumerate() {
        operations = acts.iter().filter(|act| **act == Act::End).count();
        for act in acts {
            match *act {
                Act::Read { bytes, .. } => received[rank] += bytes,
                Act::Send { to, bytes } if bytes > PACKET_BYTES => received[to] += bytes,
                _ => {}
            }
        }
    }
    for bytes in &mut received {
        *bytes /= operations.max(1);
    }
    received
}

/// A time in an order.
#[derive(Clone, Copy, PartialEq)]
struct Ns(f64);

impl Eq for Ns {}

impl PartialOrd for Ns {
    fn partial_cmp(&self, other: &Ns) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ns {
    fn cmp(&self, other: &Ns) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

struct Rank<'a> {
    acts: &'a [Act],
    at: usize,
    operation: usize,
    /// Since when it waits, if it does.
    waits_since: Option<f64>,
    /// It has just waited: what it waited for has come to its core.
    has_waited: bool,
    /// It has just looked for another's line.
    has_looked: bool,
    /// It has waited for what it takes next, or looked for that first: further lines of it come behind the first one.
    has_seen_first: bool,
    /// Bytes of an operation's that the kernel copies for it.
    received: usize,
}

impl Rank<'_> {
    fn new(acts: &[Act], received: usize) -> Rank<'_> {
        Rank {
            acts,
            at: 0,
            operation: 0,
            waits_since: None,
            has_waited: false,
            has_looked: false,
            has_seen_first: false,
            received,
        }
    }
}

struct Simulation<'a> {
    host: &'a Host,
    disturbs: Option<Disturbance>,
    board: Board,
    messages: Messages,
    cores: Cores<'a>,
    /// Until when the kernel copies from each rank's memory.
    readers: Vec<f64>,
    events: BinaryHeap<Reverse<(Ns, usize, What)>>,
    ranks: Vec<Rank<'a>>,
    outcome: Outcome,
}

/// What happens to a rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// It could run.
    IsReady,
    /// It has its core.
    Runs,
}

/// What has become of an act.
enum Done {
    /// It is over then.
    At(f64),
    /// A part of it is.
    PartAt(f64),
    /// The rank waits.
    Pending,
}

impl Simulation<'_> {
    fn turn(&mut self, rank: usize, ns: f64) {
        let Some(&act) = self.ranks[rank].acts.get(self.ranks[rank].at) else {
            return self.leave_core(rank, ns);
        };
        let operation = self.ranks[rank].operation;
        match self.act(rank, act, ns) {
            Done::Pending => {
                self.ranks[rank].waits_since = Some(ns);
                self.cores.waits(rank, true);
                self.leave_core(rank, ns);
            }
            Done::PartAt(end) => self.goes_on(rank, operation, (ns, end)),
            Done::At(end) => {
                self.ranks[rank].at += 1;
                self.goes_on(rank, operation, (ns, end));
            }
        }
    }

    fn goes_on(&mut self, rank: usize, operation: usize, (begin, end): (f64, f64)) {
        *Outcome::at(&mut self.outcome.worked_ns, operation) += end - begin;
        self.push(end, rank, What::Runs);
    }

    fn push(&mut self, ns: f64, rank: usize, what: What) {
        self.events.push(Reverse((Ns(ns), rank, what)));
    }

    fn leave_core(&mut self, rank: usize, ns: f64) {
        if let Some((next, ns)) = self.cores.leave(rank, ns) {
            self.push(ns, next, What::Runs);
        }
    }

    fn is_ready(&mut self, rank: usize, ns: f64) {
        if let Some(ns) = self.cores.enter(rank, ns) {
            self.push(ns, rank, What::Runs);
        }
    }

    /// At `ns` a rank has done what these may wait for. When it goes on.
    fn come(&mut self, by: usize, ns: f64, waiting: &[usize]) -> f64 {
        let mut sleepers = Vec::new();
        for &rank in waiting {
            let Some(since) = self.ranks[rank].waits_since.take() else {
                continue;
            };
            self.ranks[rank].has_waited = true;
            self.cores.waits(rank, false);
            match ns - since - self.cores.awake_ns() {
                asleep if asleep > 0.0 => sleepers.push((rank, self.host.wake.between_ns(asleep))),
                _ => self.push(ns + self.line_ns(by, rank), rank, What::IsReady),
            }
        }
        match sleepers.is_empty() {
            true => ns,
            false => self.wake(by, ns, &sleepers),
        }
    }

    /// Those that are woken help to wake the others, before they go on (`weft_sync::board`, sleeping, rule 4).
    /// What a wake takes stands with each. When the first waker goes on.
    fn wake(&mut self, by: usize, ns: f64, sleepers: &[(usize, f64)]) -> f64 {
        let call = self.host.wake_call_ns;
        let mut wakers = BinaryHeap::from([Reverse((Ns(ns), by))]);
        for &(rank, wake) in sleepers {
            let Some(Reverse((Ns(ns), waker))) = wakers.pop() else {
                break;
            };
            let operations = [rank, waker].map(|rank| self.ranks[rank].operation);
            *Outcome::at(&mut self.outcome.waking_ns, operations[0]) += wake;
            *Outcome::at(&mut self.outcome.waking_ns, operations[1]) += call;
            wakers.push(Reverse((Ns(ns + call), waker)));
            wakers.push(Reverse((Ns(ns + wake), rank)));
        }
        let mut goes_on = ns;
        for Reverse((Ns(ns), rank)) in wakers {
            match rank == by {
                true => goes_on = ns,
                false => self.push(ns, rank, What::IsReady),
            }
        }
        goes_on
    }

    fn act(&mut self, rank: usize, act: Act, ns: f64) -> Done {
        if matches!(
            act,
            Act::Send { .. } | Act::Post { .. } | Act::Enter(_) | Act::Read { .. } | Act::End
        ) {
            self.ranks[rank].has_looked = false;
        }
        match act {
            Act::Combine(bytes) => Done::At(ns + COMBINE_FACTOR * self.host.own_copy.ns(bytes)),
            Act::Enter(step) => self.enter(rank, step, ns),
            Act::Post { step, bytes } => self.post(rank, (step, bytes), ns),
            Act::Await { rank: of, step } => match self.board.posted(of, step) {
                None => {
                    self.board.await_post(of, step, rank);
                    Done::Pending
                }
                Some(posted) => {
                    let seen = posted + self.line_ns(of, rank);
                    self.ranks[rank].has_seen_first = !self.ranks[rank].has_looked || seen > ns;
                    Done::At(seen.max(ns + self.look_ns(rank, of)))
                }
            },
            Act::Take { rank: of, bytes } => {
                let copy = TAKE_FACTOR * self.host.shared_copy.ns(bytes);
                Done::At(ns + self.lines_behind_ns((rank, of), bytes) + self.far(of, rank) * copy)
            }
            Act::Fold { rank: of, bytes } => {
                let lines = (bytes / LINE_BYTES).min(FOLDED_LINES) as f64;
                let copy = FOLD_FACTOR * self.host.shared_copy.ns(bytes);
                let each = lines * self.host.further_line_ns + self.far(of, rank) * copy;
                Done::At(ns + self.lines_behind_ns((rank, of), bytes) + each)
            }
            Act::Copy(bytes) => {
                let copy = self.beyond_cache(rank, bytes) * self.host.own_copy.ns(bytes);
                Done::At(ns + TAKE_NS + copy)
            }
            Act::Read { rank: of, bytes } => Done::At(self.read((rank, of), bytes, ns)),
            Act::Send { to, bytes } => self.send((rank, to), bytes, ns),
            Act::Receive { from } => {
                self.messages.receive(from, rank);
                Done::At(ns)
            }
            Act::Wait(request) => self.wait(rank, request, ns),
            Act::End => self.end(rank, ns),
        }
    }

    fn line_ns(&self, from: usize, to: usize) -> f64 {
        let cores = self.host.cores;
        self.host.line_between_ns(from % cores, to % cores)
    }

    /// Until the lines of a post are on their way that follow the first.
    fn lines_behind_ns(&mut self, (rank, of): (usize, usize), bytes: usize) -> f64 {
        let has_seen_first = std::mem::take(&mut self.ranks[rank].has_seen_first);
        match has_seen_first && bytes > ONE_LINE_BYTES {
            true => TAKE_NS + self.line_ns(of, rank),
            false => TAKE_NS,
        }
    }

    /// By how much longer bytes take than from a core of this socket.
    fn far(&self, from: usize, to: usize) -> f64 {
        (self.line_ns(from, to) / self.host.line_ns).max(1.0)
    }

    /// Until a line of another rank's is there that was written before.
    fn look_ns(&mut self, rank: usize, of: usize) -> f64 {
        let line = self.line_ns(of, rank);
        let looking = &mut self.ranks[rank];
        match (
            std::mem::take(&mut looking.has_waited),
            std::mem::replace(&mut looking.has_looked, true),
        ) {
            (true, _) => 0.0,
            (false, true) => self.host.further_line_ns,
            (false, false) => line,
        }
    }

    fn enter(&mut self, rank: usize, step: u64, ns: f64) -> Done {
        let waiting = self.board.enter(rank, step);
        Done::At(self.come(rank, ns, &waiting))
    }

    fn post(&mut self, rank: usize, (step, bytes): (u64, usize), ns: f64) -> Done {
        let further = self.host.further_line_ns;
        let asked = match self.board.has_room(rank, step, bytes) {
            Ok(false) => ns,
            Ok(true) => ns + self.host.line_ns + (self.ranks.len() - 2) as f64 * further,
            Err(late) => {
                self.board.await_entry(late, rank);
                return Done::Pending;
            }
        };
        self.ranks[rank].has_waited = false;
        let readers = self.board.readers(rank, step).max(1) as f64;
        let held = (readers - 1.0) / (readers + 1.0);
        let lines = held * (bytes / LINE_BYTES).min(POSTED_LINES) as f64 * further;
        let copy = POST_FACTOR * self.host.shared_copy.ns(bytes);
        let written = asked + POST_NS + lines + copy;
        // Its stores leave the core in their order, each when those who hold its line have let go of it.
        let left = self.board.last(rank).map_or(0.0, |(posted, readers)| {
            posted + self.host.line_ns + readers as f64 * further
        });
        let waiting = self.board.post(rank, step, written.max(left));
        let goes_on = self.come(rank, written.max(left), &waiting);
        Done::At(match waiting.is_empty() {
            true => written,
            false => goes_on - (written.max(left) - written),
        })
    }

    /// When the kernel has copied for a rank from another's memory.
    fn read(&mut self, (rank, of): (usize, usize), bytes: usize, ns: f64) -> f64 {
        let asked = ns + READ_NS;
        let free = self.readers[of];
        let (begin, table) = match free > asked {
            true => (free, &self.host.kernel_read_contended),
            false => (asked, &self.host.kernel_read),
        };
        let end = begin + table.call_ns(bytes) * self.beyond_cache(rank, bytes);
        self.readers[of] = end;
        end
    }

    /// By how much longer a copy takes as the rank's core has to keep all that the rank receives in an operation.
    fn beyond_cache(&self, rank: usize, bytes: usize) -> f64 {
        let own = &self.host.own_copy;
        let rate = |bytes: usize| own.ns(bytes) / bytes as f64;
        match bytes {
            0 => 1.0,
            bytes => (rate(self.ranks[rank].received.max(bytes)) / rate(bytes)).max(1.0),
        }
    }

    fn send(&mut self, (from, to): (usize, usize), bytes: usize, ns: f64) -> Done {
        let done = ns + messages::send_ns(self.host, bytes);
        match self.messages.send((from, to), bytes, done) {
            true => Done::At(self.come(from, done, &[to])),
            false => Done::At(done),
        }
    }

    fn wait(&mut self, rank: usize, request: usize, ns: f64) -> Done {
        let over = self.messages.over(rank, request);
        if let Some(over) = over {
            let turn = self.turn_ns(rank, over > ns);
            return Done::At(ns.max(over) + turn);
        }
        let Some((receive, taken)) = self.messages.take(rank) else {
            self.ranks[rank].has_waited = false;
            return Done::Pending;
        };
        let from = taken.from;
        let line = self.line_ns(from, rank);
        let seen = taken.at + line;
        let is_first = !self.ranks[rank].has_looked;
        let has_more = self.messages.has_more(from, rank);
        let turn = match self.turn_ns(rank, seen > ns) {
            turn if turn > 0.0 => turn,
            _ if is_first => TURN_NS + line,
            _ if has_more => self.host.further_line_ns,
            _ => FURTHER_NS + line,
        };
        self.ranks[rank].has_looked = true;
        let begin = seen.max(ns) + turn;
        let is_short = taken.bytes <= PACKET_BYTES;
        let end = match is_short {
            true if taken.bytes > ONE_LINE_BYTES => {
                begin + line + messages::receive_ns(self.host, taken.bytes)
            }
            true => begin + messages::receive_ns(self.host, taken.bytes),
            false => self.read((rank, from), taken.bytes, begin),
        };
        self.messages.set_over(rank, receive, end);
        if is_short {
            return Done::PartAt(end);
        }
        let told = end + self.line_ns(rank, from);
        self.messages.set_over(from, taken.sent, told);
        Done::PartAt(self.come(rank, end, &[from]))
    }

    /// What turns of progress take a rank that has waited, or does so until it goes on.
    fn turn_ns(&mut self, rank: usize, waits: bool) -> f64 {
        let has_waited = std::mem::take(&mut self.ranks[rank].has_waited);
        self.ranks[rank].has_looked |= has_waited;
        match has_waited || waits {
            true => TURN_NS,
            false => 0.0,
        }
    }

    fn end(&mut self, rank: usize, ns: f64) -> Done {
        let operation = self.ranks[rank].operation;
        let mut end = ns + CALL_NS;
        if let Some(disturbance) = self.disturbs
            && (disturbance.rank, disturbance.operation) == (rank, operation)
        {
            end += disturbance.ns;
        }
        let last = Outcome::at(&mut self.outcome.ends_ns, operation);
        *last = last.max(end);
        self.ranks[rank].operation += 1;
        Done::At(end)
    }
}
