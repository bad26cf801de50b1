//! Windows whose processes are on several hosts (MPI-5.0 chapter 12): accesses between the hosts.
//!
//! Such a window is a `weft_rma::Window` among its processes of this host, which reach each other's parts themselves as ever, and
//! this for the rest. An origin tells a target of another host by messages what to do (`weft_rma::far`), and the target's process
//! does it in its own part, by the calls that it would use itself; so what near and far processes update excludes one another.
//! 1. *Commands* travel in a context of their own, in order, so that a target handles those of one origin in the order of the
//!    calls: accumulates need that (§12.7.1). Several go in one message ([`line`](self::line)), which nobody has to wait for
//!    ([`gathered`](self::gathered)).
//! 2. What is answered comes to a receive that the origin has posted before, straight into the program's memory. So do the data of
//!    a long put, which its command announces: to memory of the window.
//! 3. A target handles commands by an engine's operation ([`server`]), in whatever turn of progress brings them. It waits for
//!    nobody but for what it receives itself, so that two processes can never wait for each other there.
//! 4. An access is over at the target once a flush is answered that was sent after it ([`path`]).
//! 5. What an adapter can do by itself in the target's memory is no command ([`exposed`]).
//! 6. The lock of a part is a queue in the process whose part it is; all processes of the window ask for it by commands, near ones
//!    and that process too.

mod access;
mod completion;
mod exposed;
mod exposure;
mod gathered;
mod line;
mod lock;
mod path;
mod server;
mod target;
mod waited;

use std::sync::OnceLock;

use weft_collective::Hosts;
use weft_error::Result;
use weft_messages::completion as requests;
use weft_messages::request::Request;
use weft_objects::comm::Comm;
use weft_process::background::{Kept, keep};
use weft_rma::{Fault, Target};

pub use access::Buffers;
pub use completion::Where;
pub use exposure::Words;
use exposure::{OwnExposure, TheirExposure};
use gathered::Gathered;
use line::Line;
pub use path::{Owner, Path};
pub use server::serve;

/// What is known of one process's part.
pub struct Part {
    pub bytes: u64,
    pub unit: i64,
    /// Its process's number among the window's processes of this host, if it is one.
    pub number: Option<u32>,
    line: Line,
    exposure: TheirExposure,
}

/// The window's processes on all hosts, by rank.
pub struct Far {
    parts: Box<[Part]>,
    /// A dynamic window: displacements are addresses, and what is attached only the target knows.
    is_dynamic: bool,
    /// The operation that handles commands.
    server: OnceLock<Request>,
    gathered: Gathered,
    exposure: OwnExposure,
    _background: Kept,
}

impl Far {
    /// `sizes` and `units` of all parts, by rank.
    pub fn new(hosts: &Hosts, sizes: &[i64], units: &[i64], is_dynamic: bool) -> Result<Far> {
        let part = |(rank, (&size, &unit)): (usize, (&i64, &i64))| Part {
            bytes: size as u64,
            unit,
            number: (hosts.host_of(rank) == hosts.own()).then(|| hosts.position(rank) as u32),
            line: Line::default(),
            exposure: TheirExposure::default(),
        };
        Ok(Far {
            parts: sizes.iter().zip(units).enumerate().map(part).collect(),
            is_dynamic,
            server: OnceLock::new(),
            gathered: Gathered::default(),
            exposure: OwnExposure::default(),
            _background: keep()?,
        })
    }

    pub fn part(&self, rank: u32) -> &Part {
        &self.parts[rank as usize]
    }

    /// The way to one of the processes.
    pub fn path<'a>(&'a self, comm: &'a Comm, target: u32) -> Path<'a> {
        let part = self.part(target);
        Path {
            comm,
            target,
            exposure: &part.exposure,
            line: &part.line,
            gathered: &self.gathered,
        }
    }

    fn paths<'a>(&'a self, comm: &'a Comm) -> impl Iterator<Item = Path<'a>> {
        (0..comm.size()).map(|target| self.path(comm, target))
    }

    /// As far as the origin can know, whether data lie in their target's part.
    pub fn check(&self, target: &Target) -> Result<(), Fault> {
        let bytes = self.part(target.rank).bytes;
        target.check((!self.is_dynamic).then_some(bytes))
    }

    /// Commands are handled from here on.
    pub fn served_by(&self, operation: Request) {
        // A window is served once.
        let _ = self.server.set(operation);
    }

    /// Has this process handle no more commands. All that were sent to it have been handled.
    pub fn stop(&self, comm: &Comm) -> Result<()> {
        let Some(&operation) = self.server.get() else {
            return Ok(());
        };
        self.path(comm, comm.rank()).stop()?;
        requests::wait(&mut { operation })?.check()
    }
}
