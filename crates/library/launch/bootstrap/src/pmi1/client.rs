//! The process's side of PMI-1.

use super::{LineBuffer, Message};
use crate::error::{Error, Result};
use crate::fence::TURN;
use crate::job::{Job, Launcher};
use crate::mapping::Mapping;
use crate::{card, ffi, host, hosts::Hosts};
use std::io::{self, Read};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Answers are bounded by the server's longest value, at most a few KiB.
const LINE_MAX_BYTES: usize = 1 << 20;

/// Bytes that are read of them at once, into memory that is not on the stack, which may be small.
const MOST_AT_ONCE: usize = 4096;

/// Servers keep whole lines in buffers of 1 KiB (Slurm), so a value leaves room for command, key-value space and key even
/// where `vallen_max` does not.
const VALUE_MAX_BYTES: usize = 640;

/// How many facts are asked for in one line: a key and its value are some 30 bytes.
const KEYS_AT_ONCE: usize = 128;

/// The server's word that all ranks have joined a fence.
const FENCE_END: &str = "barrier_out";

/// The fact that names a rank's host.
const HOST: &str = "host";

type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

pub(crate) struct Client {
    /// The socket is of the Unix family or TCP; `UnixStream` reads either.
    socket: UnixStream,
    /// One exchange of question and answer at a time. Only `abort` writes without it.
    answers: Mutex<Answers>,
    key_value_space: String,
    value_max_bytes: usize,
    /// Whether it gives several values at once, as our launcher does.
    takes_lists: bool,
}

/// The lines that the server sends: one answer to each request, and the end of a fence between any two of them.
struct Answers {
    lines: LineBuffer,
    /// This process has joined a fence, whose end has not come.
    is_in_fence: bool,
}

impl Client {
    /// Connects by `PMI_FD` or, failing that, `PMI_PORT`, and learns the job.
    pub fn connect(variable: Variables) -> Result<(Client, Job)> {
        match variable("PMI_FD") {
            Some(fd) => {
                let socket = inherited_socket(&fd)?;
                let rank = number(variable, "PMI_RANK")?;
                let size = number(variable, "PMI_SIZE")?;
                Client::start(socket, |_| Ok((rank, size)), variable)
            }
            None => {
                let socket = connected_socket(variable)?;
                let id = variable("PMI_ID").ok_or_else(|| {
                    Error::environment("PMI_PORT", "PMI_ID, which belongs with it, is not")
                })?;
                Client::start(socket, |client| client.announce(&id), variable)
            }
        }
    }

    fn start(
        socket: OwnedFd,
        place: impl FnOnce(&Client) -> Result<(u32, u32)>,
        variable: Variables,
    ) -> Result<(Client, Job)> {
        let mut client = Client {
            socket: UnixStream::from(socket),
            answers: Mutex::new(Answers {
                lines: LineBuffer::new(LINE_MAX_BYTES),
                is_in_fence: false,
            }),
            key_value_space: String::new(),
            value_max_bytes: 0,
            takes_lists: false,
        };
        let (rank, size) = place(&client)?;
        if rank >= size {
            return Err(Error::launcher(format!(
                "it says that this is rank {rank} of {size}"
            )));
        }
        client.negotiate()?;
        let hosts = client.hosts(rank, size, variable)?;
        let local_ranks: Vec<u32> = hosts.ranks(hosts.of(rank)).collect();
        let local_rank = local_ranks.iter().position(|&other| other == rank);
        let job = Job {
            id: client.key_value_space.clone(),
            rank,
            size,
            local_rank: local_rank
                .ok_or_else(|| Error::launcher("it leaves this rank out of its host"))?
                as u32,
            local_size: local_ranks.len() as u32,
            local_ranks,
            app_num: client
                .ask_number(&Message::new("get_appnum"), "appnum", "appnum")?
                .unwrap_or(-1),
            universe_size: client
                .ask_number(&Message::new("get_universe_size"), "universe_size", "size")?
                .and_then(|size| u32::try_from(size).ok()),
            host_cores: variable("WEFT_HOST_CORES").and_then(|cores| cores.parse().ok()),
            launcher: Launcher::Pmi1,
            hosts,
        };
        Ok((client, job))
    }

    /// The first words over `PMI_PORT`, by which the server tells this process its rank and the size of the job.
    fn announce(&self, id: &str) -> Result<(u32, u32)> {
        let mut answers = self.answers();
        self.send(&Message::new("initack").with("pmiid", id))?;
        self.receive(&mut answers, "initack")?;
        let (mut rank, mut size) = (None, None);
        for _ in 0..3 {
            let setting = self.receive(&mut answers, "set")?;
            let value = |key| setting.field(key).and_then(|text| text.parse().ok());
            rank = rank.or(value("rank"));
            size = size.or(value("size"));
        }
        rank.zip(size).ok_or_else(|| {
            Error::launcher("it does not tell this process its rank and the size of the job")
        })
    }

    fn initialize(&self) -> Result<()> {
        let init = Message::new("init")
            .with("pmi_version", 1)
            .with("pmi_subversion", 1);
        self.ask(&init, "response_to_init").map(drop)
    }

    fn negotiate(&mut self) -> Result<()> {
        self.initialize()?;
        let maxima = self.ask(&Message::new("get_maxes"), "maxes")?;
        self.takes_lists = maxima.field("keys_max").is_some();
        let value_max = maxima
            .field("vallen_max")
            .and_then(|text| text.parse::<usize>().ok());
        // The server counts the terminating zero of a C string.
        self.value_max_bytes = value_max
            .ok_or_else(|| Error::launcher("it does not say how long a value may be"))?
            .saturating_sub(1)
            .min(VALUE_MAX_BYTES);
        let name = self.ask(&Message::new("get_my_kvsname"), "my_kvsname")?;
        let name = name
            .field("kvsname")
            .ok_or_else(|| Error::launcher("it names no key-value space"))?;
        self.key_value_space = name.to_owned();
        Ok(())
    }

    fn hosts(&self, rank: u32, size: u32, variable: Variables) -> Result<Hosts> {
        let told = self.get("PMI_process_mapping")?;
        if let Some(text) = told.filter(|text| !text.is_empty()) {
            let mapping = Mapping::parse(&text).ok_or_else(|| {
                Error::launcher(format!("its PMI_process_mapping `{text}` is malformed"))
            })?;
            return Ok(Hosts::named((0..size).map(|rank| mapping.node(rank))));
        }
        let all_here = variable("MPI_LOCALNRANKS").and_then(|text| text.parse().ok()) == Some(size);
        if all_here {
            return Ok(Hosts::one(size));
        }
        self.tell(HOST, rank, &host::identity())?;
        self.fence(&mut || ())?;
        let names = (0..size).map(|other| self.told(HOST, other));
        Ok(Hosts::named(names.collect::<Result<Vec<String>>>()?))
    }

    /// Has a card of this rank's known by its name.
    pub fn publish(&self, name: &str, rank: u32, text: &str) -> Result<()> {
        for (part, value) in card::split(text, self.value_max_bytes)?.iter().enumerate() {
            self.put(&card::key(name, rank, part), value)?;
        }
        Ok(())
    }

    pub fn card(&self, name: &str, rank: u32) -> Result<String> {
        card::join(name, rank, |key| self.require(key, rank))
    }

    /// Waits for all ranks. Whenever that takes [`TURN`] longer, `turn` is called, which may ask the server for something.
    pub fn fence(&self, turn: &mut dyn FnMut()) -> Result<()> {
        let mut answers = self.answers();
        self.send(&Message::new("barrier_in"))?;
        answers.is_in_fence = true;
        loop {
            // An answer to what a turn asked for may have had the end before it, or behind it.
            if !answers.is_in_fence {
                return Ok(());
            }
            if answers.lines.has_line() || ffi::is_readable_within(&self.socket, Duration::ZERO) {
                return self.receive(&mut answers, FENCE_END).map(drop);
            }
            drop(answers);
            if !ffi::is_readable_within(&self.socket, TURN) {
                turn();
            }
            answers = self.answers();
        }
    }

    pub fn rejoin(&self) -> Result<()> {
        self.initialize()
    }

    pub fn finalize(&self) -> Result<()> {
        self.ask(&Message::new("finalize"), "finalize_ack")
            .map(drop)
    }

    /// Sends without waiting for the lock: another thread may hold it inside a fence that will never end. A line goes out
    /// in one `send`, so it does not mix with another thread's.
    pub fn abort(&self, code: i32) {
        // A launcher that is gone cannot be told; this process ends all the same.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let abort = Message::new("abort").with("exitcode", code);
        // Others may abort because of this process's end: our launcher goes by the first.
        let _ = self.send(&abort.with("time_ns", now.unwrap_or_default().as_nanos()));
    }

    /// Has this rank's `fact` known to all from the next fence on.
    pub fn tell(&self, fact: &str, rank: u32, value: &str) -> Result<()> {
        self.put(&fact_key(fact, rank), value)
    }

    /// What `rank` told.
    pub fn told(&self, fact: &str, rank: u32) -> Result<String> {
        self.require(&fact_key(fact, rank), rank)
    }

    /// What each of these told, in one question for many where the launcher takes a list of keys.
    pub fn told_by_all(&self, fact: &str, ranks: &[u32]) -> Result<Vec<String>> {
        if !self.takes_lists {
            return ranks.iter().map(|&rank| self.told(fact, rank)).collect();
        }
        let told = ranks
            .chunks(KEYS_AT_ONCE)
            .map(|some| self.told_together(fact, some));
        Ok(told.collect::<Result<Vec<_>>>()?.concat())
    }

    fn told_together(&self, fact: &str, ranks: &[u32]) -> Result<Vec<String>> {
        let keys: Vec<String> = ranks.iter().map(|&rank| fact_key(fact, rank)).collect();
        let answer = self.require(&keys.join(","), ranks[0])?;
        let values: Vec<String> = answer.split(',').map(str::to_owned).collect();
        match values.len() == ranks.len() {
            true => Ok(values),
            false => Err(Error::launcher(format!(
                "it gives {} values for {} keys",
                values.len(),
                ranks.len()
            ))),
        }
    }

    fn put(&self, key: &str, value: &str) -> Result<()> {
        let put = self.about("put", key).with("value", value);
        let answer = self.ask(&put, "put_result")?;
        if answer.succeeded() {
            Ok(())
        } else {
            Err(Error::launcher(format!("it refuses `{put}`")))
        }
    }

    /// The value under `key`, or `None` where there is none.
    fn get(&self, key: &str) -> Result<Option<String>> {
        let answer = self.ask(&self.about("get", key), "get_result")?;
        Ok(answer
            .field("value")
            .filter(|_| answer.succeeded())
            .map(str::to_owned))
    }

    fn require(&self, key: &str, rank: u32) -> Result<String> {
        self.get(key)?
            .ok_or_else(|| Error::Card(format!("rank {rank} has published nothing under {key}")))
    }

    fn about(&self, command: &str, key: &str) -> Message {
        Message::new(command)
            .with("kvsname", &self.key_value_space)
            .with("key", key)
    }

    fn ask_number(&self, question: &Message, answer: &str, key: &str) -> Result<Option<i32>> {
        let answer = self.ask(question, answer)?;
        Ok(answer
            .field(key)
            .filter(|_| answer.succeeded())
            .and_then(|text| text.parse().ok()))
    }

    fn ask(&self, question: &Message, answer: &str) -> Result<Message> {
        let mut answers = self.answers();
        self.send(question)?;
        self.receive(&mut answers, answer)
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, message: &Message) -> Result<()> {
        ffi::send_all(&self.socket, format!("{message}\n").as_bytes())
            .map_err(|error| Error::launcher(format!("its connection is lost ({error})")))
    }

    /// The next message, which is that command. The end of a fence that comes before it is noted.
    fn receive(&self, answers: &mut Answers, command: &str) -> Result<Message> {
        loop {
            let line = self.receive_line(&mut answers.lines)?;
            let shown = || String::from_utf8_lossy(&line[..line.len().min(100)]).into_owned();
            let message = Message::parse(&line).map_err(|malformed| {
                let shown = shown();
                Error::launcher(format!("its answer {shown:?} is malformed: {malformed}"))
            })?;
            let ends_fence = answers.is_in_fence && message.command() == FENCE_END;
            answers.is_in_fence &= !ends_fence;
            if message.command() == command {
                return Ok(message);
            }
            if !ends_fence {
                let shown = shown();
                return Err(Error::launcher(format!(
                    "it answers {shown:?} where {command} is due"
                )));
            }
        }
    }

    fn receive_line(&self, lines: &mut LineBuffer) -> Result<Vec<u8>> {
        loop {
            if let Some(line) = lines.next_line() {
                return Ok(line);
            }
            if lines.too_long() {
                return Err(Error::launcher("it sends a line without end"));
            }
            let mut bytes = vec![0; MOST_AT_ONCE];
            match (&self.socket).read(&mut bytes) {
                Ok(0) => return Err(Error::launcher("it has closed the connection")),
                Ok(count) => lines.push(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(Error::launcher(format!("its connection is lost ({error})")));
                }
            }
        }
    }
}

fn fact_key(fact: &str, rank: u32) -> String {
    format!("weft-{fact}-{rank}")
}

fn inherited_socket(text: &str) -> Result<OwnedFd> {
    let fd = text.parse().ok().filter(|fd| *fd >= 0);
    let fd =
        fd.ok_or_else(|| Error::environment("PMI_FD", format!("`{text}` is not a descriptor")))?;
    ffi::adopt_socket(fd).map_err(|error| {
        let problem = format!(
            "descriptor {fd} is not an open socket of the launcher in this process ({error})"
        );
        Error::environment("PMI_FD", problem)
    })
}

fn connected_socket(variable: Variables) -> Result<OwnedFd> {
    let address = variable("PMI_PORT").unwrap_or_default();
    let stream = TcpStream::connect(&address).map_err(|error| {
        Error::environment(
            "PMI_PORT",
            format!("nothing can be reached at `{address}` ({error})"),
        )
    })?;
    // Each exchange is one short line: waiting to gather more only delays it. Failing that, it is merely slower.
    let _ = stream.set_nodelay(true);
    Ok(stream.into())
}

fn number(variable: Variables, name: &'static str) -> Result<u32> {
    let text = variable(name).ok_or_else(|| {
        Error::environment("PMI_FD", format!("{name}, which belongs with it, is not"))
    })?;
    text.parse()
        .map_err(|_| Error::environment(name, format!("`{text}` is not a number of ranks")))
}
