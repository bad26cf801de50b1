//! The operation that handles what other processes ask of this one's part of a window.
//!
//! It has a few receives posted, in whose order messages are matched, and handles the message of the first when it has come. It rests
//! in what it waits for: the first of those receives, transfers, and, while somebody waits for the lock, news of its holders' deaths.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use weft_engine::Awaited;
use weft_error::{Class, Result};
use weft_memory::Memory;
use weft_messages::operation;
use weft_messages::request::{Request, Status};
use weft_messages::start::start_receive;
use weft_objects::ANY_SOURCE;
use weft_objects::comm::Traffic;
use weft_process::engine::engine;
use weft_rma::LockKind;
use weft_rma::far::{Command, Commands, Grant, LockQueue, Owed};

use super::line::{DATA_TAGS, NO_TAG};
use super::path::{MESSAGE_BYTES, NOTHING};
use super::target::class_of;
use super::waited::{Transfer, Waited};
use crate::object::Window;

/// Receives that are posted.
const RING: usize = 8;

/// Begins it. It ends after a command to stop.
pub fn serve(window: Arc<Window>) -> Result<Request> {
    let (lane, context) = (
        window.comm.lane(),
        window.comm.context(Traffic::OneSidedCommands),
    );
    let mut ring = VecDeque::with_capacity(RING);
    for _ in 0..RING {
        ring.push_back(post(&window, vec![0; MESSAGE_BYTES].into())?);
    }
    operation::begin_in_background(lane, context, |awaited| {
        if let Some(far) = &window.far {
            far.gathered.sent_by(&awaited);
        }
        let mut server = Server {
            window,
            awaited,
            ring,
            answers: Vec::new(),
            arrivals: Vec::new(),
            origins: BTreeMap::new(),
            locks: LockQueue::default(),
            watched: Vec::new(),
            is_stopping: false,
        };
        async move {
            poll_fn(move |_| server.poll()).await;
            Ok(Status::EMPTY)
        }
    })
}

/// A receive for a message with commands.
struct Posted {
    id: Waited,
    message: Box<[u8]>,
}

fn post(window: &Window, mut message: Box<[u8]>) -> Result<Posted> {
    let memory = Memory::contiguous(message.as_mut_ptr(), message.len());
    let traffic = Traffic::OneSidedCommands;
    let posted = start_receive(&window.comm, traffic, memory, ANY_SOURCE, 0)?;
    let id = Waited::new(posted.as_engine().expect("a receive has a request"));
    Ok(Posted { id, message })
}

/// The data of an announced put, on their way.
struct Arrival {
    origin: u32,
    id: Waited,
}

/// A receive that fails when a holder of the lock dies.
struct Watched {
    holder: u32,
    id: Waited,
}

/// What is known of an origin.
#[derive(Default)]
struct Origin {
    /// Its announced puts whose data have not come yet.
    arriving: u32,
    /// What it has asked for since, that waits for those.
    held: VecDeque<Held>,
    /// Answers to it on their way, and the bytes of results among them.
    answers: Owed,
    /// Why an access of its was not made; it is told with its next flush.
    failed: Option<Class>,
}

impl Origin {
    fn owed(&self) -> Owed {
        Owed {
            messages: self.arriving as usize + self.held.len() + self.answers.messages,
            bytes: self.answers.bytes,
        }
    }
}

/// An answer on its way.
struct Answer {
    origin: u32,
    transfer: Transfer,
}

/// What comes after all data.
enum Held {
    Flush(u32),
    Lock(LockKind, u32),
    Unlock,
}

struct Server {
    window: Arc<Window>,
    awaited: Awaited,
    ring: VecDeque<Posted>,
    answers: Vec<Answer>,
    arrivals: Vec<Arrival>,
    /// By rank, those that have announced puts or made mistakes.
    origins: BTreeMap<u32, Origin>,
    locks: LockQueue,
    watched: Vec<Watched>,
    is_stopping: bool,
}

impl Server {
    fn poll(&mut self) -> Poll<()> {
        if let Some(far) = &self.window.far {
            far.send_gathered(&self.window.comm);
        }
        loop {
            self.handle_messages();
            self.handle_arrivals();
            self.watch_holders();
            self.handle_answers();
            let (is_stopping, awaited) = (self.is_stopping, self.awaited.clone());
            let mut waits = self.waits_for().peekable();
            if is_stopping && waits.peek().is_none() {
                return Poll::Ready(());
            }
            // Left in all of them, of which each calls.
            if waits.all(|id| id.leave(&awaited)) {
                return Poll::Pending;
            }
        }
    }

    fn waits_for(&mut self) -> impl Iterator<Item = &mut Waited> {
        let first = self.ring.front_mut().map(|posted| &mut posted.id);
        let answers = self.answers.iter_mut();
        let answers = answers.map(|answer| &mut answer.transfer.id);
        let arrivals = self.arrivals.iter_mut().map(|arrival| &mut arrival.id);
        let watched = self.watched.iter_mut().map(|watched| &mut watched.id);
        first
            .into_iter()
            .chain(answers)
            .chain(arrivals)
            .chain(watched)
    }

    fn handle_messages(&mut self) {
        while let Some(first) = self.ring.front()
            && let Some(status) = first.id.finish_complete()
        {
            let Posted { message, .. } = self.ring.pop_front().expect("it is there");
            if !status.cancelled && status.check().is_ok() {
                self.handle_message(status.source as u32, &message[..status.bytes as usize]);
            }
            if !self.is_stopping
                && let Ok(posted) = post(&self.window, message)
            {
                self.ring.push_back(posted);
            }
        }
    }

    fn handle_message(&mut self, origin: u32, message: &[u8]) {
        if origin >= self.window.comm.size() {
            return;
        }
        for command in Commands::new(message) {
            if !self.may_ask(origin) {
                return;
            }
            match command {
                Ok(command) => self.handle(origin, command),
                Err(_) => self.fail(origin, Class::Intern),
            }
        }
    }

    /// Whether an origin may ask for more. One that is owed more than any that keeps to the rules is ended.
    fn may_ask(&mut self, origin: u32) -> bool {
        if self.is_within(origin) {
            return true;
        }
        // Some of it may be over.
        self.handle_arrivals();
        self.handle_answers();
        let is_within = self.is_within(origin);
        if !is_within {
            let comm = &self.window.comm;
            let why = "asked for more accesses of a window at once than a target keeps";
            engine().end_peer(comm.lane(), comm.peer(origin), why);
        }
        is_within
    }

    fn is_within(&self, origin: u32) -> bool {
        let from = self.origins.get(&origin);
        from.is_none_or(|from| from.owed().is_within())
    }

    fn handle(&mut self, origin: u32, command: Command) {
        match command {
            Command::Put { access, data } => {
                if let Err(fault) = self.window.put_here(&access, data) {
                    self.fail(origin, class_of(&fault));
                }
            }
            Command::Announce { access, tag } => {
                let into = self.window.memory_here(&access);
                if let Err(fault) = &into {
                    self.fail(origin, class_of(fault));
                }
                if tag >= DATA_TAGS {
                    self.await_data(origin, tag, into.ok());
                }
            }
            Command::Get { access, reply } => {
                let found = self.window.memory_here(&access);
                let found = found.map_err(|fault| class_of(&fault));
                self.answer(Grant { origin, reply }, found, Vec::new());
            }
            Command::Update {
                access,
                updating,
                operands,
                reply,
            } => {
                let found = self
                    .window
                    .update_here(&access, updating, operands, reply.is_some());
                match (found, reply) {
                    (found, Some(reply)) => self.answer_with(Grant { origin, reply }, found),
                    (Err(fault), None) => self.fail(origin, class_of(&fault)),
                    (Ok(_), None) => {}
                }
            }
            Command::Swap {
                offset,
                basic,
                compare,
                value,
                reply,
            } => {
                let found = self.window.swap_here((offset, basic), [compare, value]);
                self.answer_with(Grant { origin, reply }, found);
            }
            Command::Flush { reply } => self.hold(origin, Held::Flush(reply)),
            Command::Lock { kind, reply } => self.hold(origin, Held::Lock(kind, reply)),
            Command::Unlock => self.hold(origin, Held::Unlock),
            Command::Stop if origin == self.window.comm.rank() => self.stop(),
            Command::Stop => self.fail(origin, Class::Intern),
        }
    }

    fn origin(&mut self, origin: u32) -> &mut Origin {
        self.origins.entry(origin).or_default()
    }

    fn fail(&mut self, origin: u32, class: Class) {
        self.origin(origin).failed.get_or_insert(class);
    }

    fn answer_with(&mut self, to: Grant, found: std::result::Result<Vec<u8>, weft_rma::Fault>) {
        match found {
            Ok(mut data) => {
                let memory = Memory::contiguous(data.as_mut_ptr(), data.len());
                self.answer(to, Ok(memory), data);
            }
            Err(fault) => self.answer(to, Err(class_of(&fault)), Vec::new()),
        }
    }

    fn answer(&mut self, to: Grant, found: std::result::Result<Memory, Class>, data: Vec<u8>) {
        let Grant { origin, reply } = to;
        match self.window.answer(origin, reply, found, data) {
            Ok(None) => {}
            Ok(Some(transfer)) => {
                let owed = &mut self.origin(origin).answers;
                owed.messages += 1;
                owed.bytes += transfer.data.len();
                self.answers.push(Answer { origin, transfer });
            }
            Err(error) => self.fail(origin, error.class),
        }
    }

    /// Lets go of the answers that have left. An origin that is lost needs none.
    fn handle_answers(&mut self) {
        let origins = &mut self.origins;
        self.answers.retain(|Answer { origin, transfer }| {
            let is_over = transfer.id.finish_complete().is_some();
            if is_over && let Some(from) = origins.get_mut(origin) {
                from.answers.messages -= 1;
                from.answers.bytes -= transfer.data.len();
            }
            !is_over
        });
    }

    fn await_data(&mut self, origin: u32, tag: u32, into: Option<Memory>) {
        match self.window.receive_here(origin, tag, into) {
            Ok(id) => {
                let id = Waited::new(id);
                self.arrivals.push(Arrival { origin, id });
                self.origin(origin).arriving += 1;
            }
            Err(error) => self.fail(origin, error.class),
        }
    }

    fn handle_arrivals(&mut self) {
        let mut next = 0;
        while let Some(Arrival { origin, id }) = self.arrivals.get(next) {
            let (origin, Some(status)) = (*origin, id.finish_complete()) else {
                next += 1;
                continue;
            };
            self.arrivals.swap_remove(next);
            if status.class != Class::Success {
                self.fail(origin, status.class);
            }
            let from = self.origin(origin);
            from.arriving -= 1;
            if from.arriving == 0 {
                let held = std::mem::take(&mut from.held);
                held.into_iter().for_each(|held| self.make(origin, held));
            }
        }
    }

    /// Does what comes after all data, once they are there.
    fn hold(&mut self, origin: u32, what: Held) {
        match self.origins.get_mut(&origin) {
            Some(from) if from.arriving > 0 => from.held.push_back(what),
            _ => self.make(origin, what),
        }
    }

    fn make(&mut self, origin: u32, what: Held) {
        match what {
            Held::Flush(reply) => {
                let from = self.origins.get_mut(&origin);
                let failed = from.and_then(|from| from.failed.take());
                let found = failed.map_or(Ok(NOTHING), Err);
                self.answer(Grant { origin, reply }, found, Vec::new());
            }
            Held::Lock(kind, reply) => {
                let who = Grant { origin, reply };
                match self.locks.request(who, kind) {
                    Ok(true) => self.answer(who, Ok(NOTHING), Vec::new()),
                    Ok(false) => {}
                    Err(_) => self.answer(who, Err(Class::RmaSync), Vec::new()),
                }
            }
            Held::Unlock => {
                let granted = self.locks.release(origin);
                for who in granted {
                    self.answer(who, Ok(NOTHING), Vec::new());
                }
            }
        }
    }

    /// Watches the holders of the lock while others wait for it. Those are refused it for good once a holder has died.
    fn watch_holders(&mut self) {
        let waiting = self.locks.has_waiting();
        let holders: Vec<u32> = match waiting {
            true => self.locks.holders().collect(),
            false if self.watched.is_empty() => return,
            false => Vec::new(),
        };
        let mut has_died = false;
        self.watched.retain(|watched| {
            if !holders.contains(&watched.holder) {
                engine().cancel(watched.id.id);
            }
            let over = watched.id.finish_complete();
            has_died |= over.is_some_and(|status| !status.cancelled);
            over.is_none()
        });
        if has_died {
            for who in self.locks.refuse() {
                self.answer(who, Err(Class::ProcAborted), Vec::new());
            }
            return;
        }
        let me = self.window.comm.rank();
        for holder in holders {
            let is_watched = self.watched.iter().any(|watched| watched.holder == holder);
            if holder == me || is_watched {
                continue;
            }
            if let Ok(id) = self.window.receive_here(holder, NO_TAG, None) {
                let id = Waited::new(id);
                self.watched.push(Watched { holder, id });
            }
        }
    }

    /// Nothing more comes: the receives that are posted still are withdrawn.
    fn stop(&mut self) {
        self.is_stopping = true;
        self.ring
            .iter()
            .for_each(|posted| engine().cancel(posted.id.id));
    }
}
