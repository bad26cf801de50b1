//! The server of PMI-1: what ranks say and what they are told. Takes lines and gives events; it opens no socket.
//!
//! A rank is *new* until it says `init`, then *active* until `finalize`. A finalized rank may say `init` again: a script may
//! run one MPI program after another.

mod space;

use space::Space;
use weft_bootstrap::Mapping;
use weft_bootstrap::pmi1::Message;

/// Longest key and value that ranks are told; a line is bounded by [`LINE_MAX_BYTES`].
const KEY_MAX_BYTES: usize = 64;
const VALUE_MAX_BYTES: usize = 1024;
pub const LINE_MAX_BYTES: usize = 64 * 1024;

const VERSION: u32 = 1;
const SUBVERSION: u32 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    New,
    Active,
    Finalized,
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
}

pub struct Server {
    name: String,
    mapping: Mapping,
    ranks: Vec<Rank>,
    space: Space,
    in_barrier: u32,
}

struct Rank {
    application: usize,
    standing: Standing,
    in_barrier: bool,
    /// Within a command of several lines, which ends at `endcmd`.
    in_lines: bool,
}

impl Server {
    /// `applications` has the index of each rank's application.
    pub fn new(name: &str, applications: impl Iterator<Item = usize>) -> Server {
        let ranks: Vec<Rank> = applications
            .map(|application| Rank {
                application,
                standing: Standing::New,
                in_barrier: false,
                in_lines: false,
            })
            .collect();
        let mapping = Mapping::one_node(ranks.len() as u32);
        Server {
            name: name.to_owned(),
            mapping,
            space: Space::new(ranks.len()),
            ranks,
            in_barrier: 0,
        }
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
                        .with("vallen_max", VALUE_MAX_BYTES),
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
                        .with("size", self.ranks.len()),
                    events,
                );
            }
            "get_my_kvsname" => {
                reply(
                    rank,
                    &Message::new("my_kvsname")
                        .with("rc", 0)
                        .with("kvsname", &self.name),
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
            (Some(key), Some(value)) => self.space.put(rank, key, value),
            _ => Err("key_or_value_missing"),
        };
        let answer = match result {
            Ok(()) => answer.with("rc", 0),
            Err(problem) => answer.with("rc", -1).with("msg", problem),
        };
        reply(rank, &answer, events);
    }

    fn get(&mut self, rank: u32, message: &Message, events: &mut Vec<Event>) {
        let answer = Message::new("get_result");
        let answer = match message.field("key") {
            _ if !self.names_space(message) => answer.with("rc", -1).with("msg", "no_such_kvsname"),
            None => answer.with("rc", -1).with("msg", "key_missing"),
            Some("PMI_process_mapping") => answer.with("rc", 0).with("value", &self.mapping),
            Some(key) => match self.space.get(key) {
                Some(value) => answer.with("rc", 0).with("value", value),
                None => answer.with("rc", -1).with("msg", "key_not_found"),
            },
        };
        reply(rank, &answer, events);
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
        if self.in_barrier as usize == self.ranks.len() {
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
    }

    /// There is one key-value space; a client that names none means it.
    fn names_space(&self, message: &Message) -> bool {
        message
            .field("kvsname")
            .is_none_or(|name| name == self.name)
    }
}

fn reply(rank: u32, message: &Message, events: &mut Vec<Event>) {
    events.push(Event::Reply(rank, format!("{message}\n")));
}

#[cfg(test)]
mod tests;
