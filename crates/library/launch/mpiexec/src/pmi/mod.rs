//! The server of PMI-1: what ranks say and what they are told. Takes lines and gives events; it opens no socket.
//!
//! A rank is *new* until it says `init`, then *active* until `finalize`. A finalized rank may say `init` again: a script may
//! run one MPI program after another.
//!
//! A server has the ranks of one host, by their index there. Where the job has ranks elsewhere too, what is put here goes
//! out with the fence, a fence ends when the caller says that all hosts are in it, and a value that nobody here has put is
//! asked for, once, and kept: what a rank never needs never reaches its host.
//!
//! Beyond PMI-1, `get` of several keys with commas between them, none of which is a key itself, gives their values likewise, if all
//! are there: one question of a rank that wants something of each host. `keys_max` among the maxima says that it is understood.

mod space;

use space::Space;
use std::collections::HashMap;
use weft_bootstrap::pmi1::Message;

/// Longest key and value that ranks are told; a line is bounded by [`LINE_MAX_BYTES`].
const KEY_MAX_BYTES: usize = 64;
const VALUE_MAX_BYTES: usize = 1024;
/// Longest list of keys.
const KEYS_MAX_BYTES: usize = 8 * 1024;
pub const LINE_MAX_BYTES: usize = 64 * 1024;

const VERSION: u32 = 1;
const SUBVERSION: u32 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    New,
    Active,
    Finalized,
    /// It has died, and the others go on: no barrier waits for it.
    Lost,
}

/// What the caller is to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// Send a rank this line.
    Reply(u32, String),
    /// A rank has said `init`.
    Started(u32),
    /// A rank asks for the end of the job with this exit code.
    /// With a code, and when by the rank's clock; 0 if it does not say.
    Abort(u32, i32, u64),
    /// A rank has broken the protocol: end its connection, and the job.
    Broken(u32, String),
    /// Worth telling whoever watches closely.
    Note(u32, String),
    /// Find the value of this key on other hosts and give it to [`Server::answer`].
    Ask(String),
    /// Every rank here is in the fence: make these known, and call [`Server::release`] when the ranks of all hosts are in it.
    Fence(Vec<(String, String)>),
}

/// The job as its ranks are told of it.
pub struct Job {
    pub name: String,
    /// Ranks on all hosts.
    pub size: u32,
    /// The value of `PMI_process_mapping`.
    pub mapping: String,
}

pub struct Server {
    job: Job,
    ranks: Vec<Rank>,
    space: Space,
    in_barrier: u32,
    /// Put since the last fence; only where there are other hosts.
    fresh: Vec<(String, String)>,
    /// Ranks that wait for a value from another host.
    asking: HashMap<String, Vec<u32>>,
}

struct Rank {
    application: usize,
    standing: Standing,
    in_barrier: bool,
    /// Waits for a value from another host.
    asks: bool,
    /// Within a command of several lines, which ends at `endcmd`.
    in_lines: bool,
}

impl Server {
    /// `applications` has the index of the application of each rank here.
    pub fn new(job: Job, applications: impl Iterator<Item = usize>) -> Server {
        let ranks: Vec<Rank> = applications
            .map(|application| Rank {
                application,
                standing: Standing::New,
                in_barrier: false,
                asks: false,
                in_lines: false,
            })
            .collect();
        Server {
            job,
            space: Space::new(ranks.len()),
            ranks,
            in_barrier: 0,
            fresh: Vec::new(),
            asking: HashMap::new(),
        }
    }

    fn has_others(&self) -> bool {
        self.job.size as usize > self.ranks.len()
    }

    pub fn standing(&self, rank: u32) -> Standing {
        self.ranks[rank as usize].standing
    }

    /// A rank that waits in a barrier, if there is one.
    pub fn waiting(&self) -> Option<u32> {
        self.ranks
            .iter()
            .position(|rank| rank.in_barrier)
            .map(|rank| rank as u32)
    }

    /// How many ranks here wait in a fence, and those that have not come there.
    pub fn in_fence(&self) -> (u32, Vec<u32>) {
        let ranks = (0..).zip(&self.ranks);
        let late = ranks.filter(|(_, rank)| !rank.in_barrier);
        (self.in_barrier, late.map(|(rank, _)| rank).collect())
    }

    /// Takes one line, without its newline.
    pub fn line(&mut self, rank: u32, line: &[u8], events: &mut Vec<Event>) {
        let state = &mut self.ranks[rank as usize];
        if state.in_lines {
            state.in_lines = line != b"endcmd";
            if !state.in_lines {
                let refusal = Message::new("spawn_result")
                    .with("rc", -1)
                    .with("errmsg", "spawn_is_not_supported");
                reply(rank, &refusal, events);
            }
            return;
        }
        if line.starts_with(b"mcmd=") {
            state.in_lines = true;
            events.push(Event::Note(
                rank,
                "asks for more processes (MPI_Comm_spawn), which is refused".into(),
            ));
            return;
        }
        match Message::parse(line) {
            Ok(message) => self.message(rank, &message, events),
            Err(malformed) => {
                let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
                events.push(Event::Broken(
                    rank,
                    format!("sent the malformed PMI line {shown:?}: {malformed}"),
                ));
            }
        }
    }

    fn message(&mut self, rank: u32, message: &Message, events: &mut Vec<Event>) {
        match message.command() {
            "init" => self.init(rank, message, events),
            "get_maxes" => {
                let maxima = Message::new("maxes").with("rc", 0).with("kvsname_max", 256);
                reply(
                    rank,
                    &maxima
                        .with("keylen_max", KEY_MAX_BYTES)
                        .with("vallen_max", VALUE_MAX_BYTES)
                        .with("keys_max", KEYS_MAX_BYTES),
                    events,
                );
            }
            "get_appnum" => {
                let number = self.ranks[rank as usize].application;
                reply(
                    rank,
                    &Message::new("appnum").with("rc", 0).with("appnum", number),
                    events,
                );
            }
            // No process can be added, so the universe is the job.
            "get_universe_size" => {
                reply(
                    rank,
                    &Message::new("universe_size")
                        .with("rc", 0)
                        .with("size", self.job.size),
                    events,
                );
            }
            "get_my_kvsname" => {
                reply(
                    rank,
                    &Message::new("my_kvsname")
                        .with("rc", 0)
                        .with("kvsname", &self.job.name),
                    events,
                );
            }
            "put" => self.put(rank, message, events),
            "get" => self.get(rank, message, events),
            "barrier_in" => self.barrier(rank, events),
            "finalize" => {
                self.ranks[rank as usize].standing = Standing::Finalized;
                reply(rank, &Message::new("finalize_ack").with("rc", 0), events);
            }
            "abort" => {
                let code = message
                    .field("exitcode")
                    .and_then(|code| code.parse().ok())
                    .unwrap_or(1);
                let time = message.field("time_ns").and_then(|time| time.parse().ok());
                events.push(Event::Abort(rank, code, time.unwrap_or(0)));
            }
            unknown => {
                events.push(Event::Note(
                    rank,
                    format!("sent the unknown PMI command `{unknown}`, which is refused"),
                ));
                let refusal = Message::new(&format!("{unknown}_result")).with("rc", -1);
                reply(rank, &refusal.with("msg", "unknown_command"), events);
            }
        }
    }

    fn init(&mut self, rank: u32, message: &Message, events: &mut Vec<Event>) {
        let spoken = message.field("pmi_version") == Some("1");
        let answer = Message::new("response_to_init")
            .with("pmi_version", VERSION)
            .with("pmi_subversion", SUBVERSION);
        reply(
            rank,
            &answer.with("rc", if spoken { 0 } else { -1 }),
            events,
        );
        if spoken {
            self.ranks[rank as usize].standing = Standing::Active;
            events.push(Event::Started(rank));
        }
    }

    fn put(&mut self, rank: u32, message: &Message, events: &mut Vec<Event>) {
        let answer = Message::new("put_result");
        let result = match (message.field("key"), message.field("value")) {
            _ if !self.names_space(message) => Err("no_such_kvsname"),
            (Some(key), _) if key.is_empty() || key.len() > KEY_MAX_BYTES => {
                Err("key_of_wrong_length")
            }
            (_, Some(value)) if value.len() > VALUE_MAX_BYTES => Err("value_too_long"),
            (Some(key), Some(value)) => self.store(rank, key, value),
            _ => Err("key_or_value_missing"),
        };
        let answer = match result {
            Ok(()) => answer.with("rc", 0),
            Err(problem) => answer.with("rc", -1).with("msg", problem),
        };
        reply(rank, &answer, events);
    }

    fn store(&mut self, rank: u32, key: &str, value: &str) -> Result<(), &'static str> {
        self.space.put(rank, key, value)?;
        if self.has_others() {
            self.fresh.push((key.to_owned(), value.to_owned()));
        }
        Ok(())
    }

    fn get(&mut self, rank: u32, message: &Message, events: &mut Vec<Event>) {
        let refusal = |problem: &str| {
            Message::new("get_result")
                .with("rc", -1)
                .with("msg", problem)
        };
        let key = match message.field("key") {
            _ if !self.names_space(message) => {
                return reply(rank, &refusal("no_such_kvsname"), events);
            }
            None => return reply(rank, &refusal("key_missing"), events),
            Some(key) => key,
        };
        let known = match key {
            "PMI_process_mapping" => Some(self.job.mapping.clone()),
            key => values_of(key, |key| self.space.get(key)),
        };
        let is_askable = key.split(',').all(|key| key.len() <= KEY_MAX_BYTES);
        if known.is_none() && self.has_others() && is_askable && key.len() <= KEYS_MAX_BYTES {
            return self.ask(rank, key, events);
        }
        reply(rank, &found(known.as_deref()), events);
    }

    fn ask(&mut self, rank: u32, key: &str, events: &mut Vec<Event>) {
        if std::mem::replace(&mut self.ranks[rank as usize].asks, true) {
            let problem = "asked for a PMI value before it was told another".to_owned();
            events.push(Event::Broken(rank, problem));
            return;
        }
        let waiting = self.asking.entry(key.to_owned()).or_default();
        waiting.push(rank);
        if waiting.len() == 1 {
            events.push(Event::Ask(key.to_owned()));
        }
    }

    /// The value that other hosts have under a key that was asked for.
    pub fn answer(&mut self, key: &str, value: Option<&str>, events: &mut Vec<Event>) {
        // A list is asked for once; kept, there would be no bound on what is.
        if let Some(value) = value.filter(|_| !key.contains(',')) {
            self.space.learn(key, value);
        }
        for rank in self.asking.remove(key).unwrap_or_default() {
            self.ranks[rank as usize].asks = false;
            reply(rank, &found(value), events);
        }
    }

    fn barrier(&mut self, rank: u32, events: &mut Vec<Event>) {
        if std::mem::replace(&mut self.ranks[rank as usize].in_barrier, true) {
            events.push(Event::Broken(
                rank,
                "joined a PMI barrier that it is already in".into(),
            ));
            return;
        }
        self.in_barrier += 1;
        self.end_barrier_if_complete(events);
    }

    fn end_barrier_if_complete(&mut self, events: &mut Vec<Event>) {
        let lost = |rank: &&Rank| rank.standing == Standing::Lost;
        let lost = self.ranks.iter().filter(lost).count();
        if self.in_barrier == 0 || (self.in_barrier as usize) + lost < self.ranks.len() {
            return;
        }
        match self.has_others() {
            true => events.push(Event::Fence(std::mem::take(&mut self.fresh))),
            false => self.release(false, events),
        }
    }

    /// A rank has died, and the others go on.
    pub fn lose(&mut self, rank: u32, events: &mut Vec<Event>) {
        let state = &mut self.ranks[rank as usize];
        state.standing = Standing::Lost;
        if std::mem::take(&mut state.in_barrier) {
            self.in_barrier -= 1;
        }
        self.end_barrier_if_complete(events);
    }

    /// The ranks of all hosts are in the fence. `changed` says that a value that may be known here has been put anew.
    pub fn release(&mut self, changed: bool, events: &mut Vec<Event>) {
        if changed {
            self.space.forget_learned();
        }
        self.in_barrier = 0;
        for (rank, state) in self.ranks.iter_mut().enumerate() {
            state.in_barrier = false;
            reply(
                rank as u32,
                &Message::new("barrier_out").with("rc", 0),
                events,
            );
        }
    }

    /// There is one key-value space; a client that names none means it.
    fn names_space(&self, message: &Message) -> bool {
        message
            .field("kvsname")
            .is_none_or(|name| name == self.job.name)
    }
}

/// The value under a key; if there is none, those under all keys between its commas.
pub fn values_of<'s>(key: &str, get: impl Fn(&str) -> Option<&'s str>) -> Option<String> {
    if let Some(value) = get(key) {
        return Some(value.to_owned());
    }
    let values: Vec<&str> = key.split(',').map(get).collect::<Option<_>>()?;
    Some(values.join(","))
}

fn found(value: Option<&str>) -> Message {
    let answer = Message::new("get_result");
    match value {
        Some(value) => answer.with("rc", 0).with("value", value),
        None => answer.with("rc", -1).with("msg", "key_not_found"),
    }
}

fn reply(rank: u32, message: &Message, events: &mut Vec<Event>) {
    events.push(Event::Reply(rank, format!("{message}\n")));
}

#[cfg(test)]
mod tests;
