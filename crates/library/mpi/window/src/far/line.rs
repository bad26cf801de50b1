//! What is under way from this process to one target.
//!
//! `state` is locked for moments only, by the threads that access the target. A request of the engine's is waited for by one thread at a
//! time (MPI-5.0 §3.7.3), which is the one that holds `waiting`; it does not hold `state` meanwhile.

use std::collections::VecDeque;

use parking_lot::Mutex;
use weft_engine::RequestId;
use weft_error::{Class, Error};
use weft_messages::request::Status;
use weft_process::engine::engine;
use weft_rma::far::{MOST_UNDER_WAY, RESULT_BYTES};

#[derive(Default)]
pub struct Line {
    pub state: Mutex<State>,
    pub waiting: Mutex<()>,
}

#[derive(Default)]
pub struct State {
    /// Commands that have not been sent yet.
    pub batch: Vec<u8>,
    /// The target is among those of [`Gathered`](super::gathered::Gathered).
    pub is_gathered: bool,
    /// Messages that are answers or data have tags of their own, one after the other.
    tags: u32,
    /// Accesses so far, whose number is that of the last.
    pub begun: u64,
    /// The last access that is over at the target only once a flush is answered.
    pub to_confirm: u64,
    /// All accesses up to this one are over at the target.
    pub confirmed: u64,
    /// `MPI_Win_lock_all` has left the lock of the part to the first access.
    pub is_lock_due: bool,
    /// A command to unlock was sent, and nothing has been answered since.
    pub is_unlocking: bool,
    /// Messages under way, in the order of their accesses.
    pending: VecDeque<Pending>,
    /// Bytes of batches among them.
    buffered: usize,
    /// Bytes of the results among them, which the target stores until they have left.
    results: usize,
    /// What has become of an access that no call has told of yet.
    pub failed: Option<Error>,
}

/// A message under way.
struct Pending {
    access: u64,
    id: RequestId,
    what: What,
}

/// What a message is.
pub enum What {
    /// Commands, and their bytes.
    Batch(Vec<u8>),
    /// Data of the program's, or what an adapter moves in place of a message.
    Data,
    /// Into the program's memory; so many bytes.
    Answer(usize),
    /// The same, of what an update found, for which the target has memory of its own.
    Result(usize),
    /// A request that the program has stands for it, and tells what becomes of it; so many bytes of a result.
    Borrowed(usize),
}

impl What {
    /// Bytes that the target stores for it.
    pub fn result_bytes(&self) -> usize {
        match *self {
            What::Result(bytes) | What::Borrowed(bytes) => bytes,
            _ => 0,
        }
    }
}

/// Bytes of messages with commands that may be under way to one target.
const BUFFERED_BYTES: usize = 1 << 20;

/// Tags of answers are below this, those of data from here on.
pub const DATA_TAGS: u32 = 1 << 30;
/// No message has this tag.
pub const NO_TAG: u32 = DATA_TAGS - 1;

impl State {
    /// A tag that no message to this process or from it, on this line, has had for long.
    pub fn tag(&mut self) -> u32 {
        self.tags = (self.tags + 1) % NO_TAG;
        self.tags
    }

    /// An access begins. One that `is_silent` has no answer, so that a flush is needed to know that it is over.
    pub fn begin(&mut self, is_silent: bool) {
        self.begun += 1;
        if is_silent {
            self.to_confirm = self.begun;
        }
    }

    /// Whether there are accesses that only a flush tells of.
    pub fn is_unconfirmed(&self) -> bool {
        self.to_confirm > self.confirmed
    }

    /// Notes a message under way.
    pub fn note(&mut self, id: RequestId, what: What) {
        if let What::Batch(bytes) = &what {
            self.buffered += bytes.len();
        }
        self.results += what.result_bytes();
        let access = self.begun;
        self.pending.push_back(Pending { access, id, what });
    }

    /// Whether anything but commands is under way.
    pub fn has_transfers(&self) -> bool {
        let mut pending = self.pending.iter();
        pending.any(|pending| !matches!(pending.what, What::Batch(_)))
    }

    /// Whether no more is under way than may be, or one `part` of it.
    pub fn is_within(&mut self, part: usize) -> bool {
        self.first_pending(0);
        self.buffered <= BUFFERED_BYTES / part
            && self.results <= RESULT_BYTES / part
            && self.pending.len() <= MOST_UNDER_WAY / part
    }

    /// The first message of an access up to `last` that is still under way. What is over of those before it is taken off.
    pub fn first_pending(&mut self, last: u64) -> Option<RequestId> {
        while let Some(first) = self.pending.front() {
            if !engine().is_complete(first.id) {
                return (first.access <= last).then_some(first.id);
            }
            if let Some(over) = self.pending.pop_front() {
                self.end(over);
            }
        }
        None
    }

    fn end(&mut self, over: Pending) {
        let (id, wanted) = (over.id, over.what);
        self.results -= wanted.result_bytes();
        if let What::Borrowed(_) = wanted {
            return;
        }
        let status = Status::from_engine(engine().finish(id));
        let mut outcome = status.check();
        match wanted {
            What::Batch(bytes) => self.buffered -= bytes.len(),
            What::Answer(bytes) | What::Result(bytes)
                if outcome.is_ok() && status.bytes != bytes as u64 =>
            {
                outcome = Err(wrong_length(bytes, status.bytes));
            }
            _ => {}
        }
        if let Err(error) = outcome {
            self.failed.get_or_insert(error);
        }
    }
}

#[cold]
fn wrong_length(wanted: usize, found: u64) -> Error {
    let text = format!("a target answered an access of {wanted} bytes with {found}");
    Error::new(Class::Intern, text)
}
