//! Making a fabric segment, and judging one that was found.

use std::fmt;
use std::hash::Hasher;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;

use fnv::FnvHasher;

use super::identity::Identity;
use super::layout::{FABRIC_MAGIC, FabricHeader, VERSION, fabric as layout};
use super::mapping::{self, Mapping};
use super::numbers;

/// Why the fabric cannot be joined.
#[derive(Debug)]
pub enum JoinError {
    /// The fabric's name is too long.
    Name,
    /// Its name is held by another user.
    OtherUser(u32),
    /// All slots are taken by processes that live.
    Full,
    /// The process that keeps the name neither lets itself be seen nor answers.
    Silent(u32),
    /// Nobody was ready in time.
    Late,
    /// The fabric was made by another version of this library.
    Version,
    /// What was found is not the fabric's segment.
    NotOurs,
    System(io::Error),
}

impl From<io::Error> for JoinError {
    fn from(error: io::Error) -> JoinError {
        JoinError::System(error)
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Name => write!(formatter, "the fabric's name is too long"),
            JoinError::OtherUser(user) => {
                write!(formatter, "the fabric's name is held by user {user}")
            }
            JoinError::Full => {
                let most = numbers::PROCESSES;
                write!(
                    formatter,
                    "the fabric has {most} processes already, the most it can have"
                )
            }
            JoinError::Silent(pid) => write!(
                formatter,
                "process {pid}, which keeps the fabric's name, does not answer"
            ),
            JoinError::Late => write!(formatter, "nobody made the fabric ready in time"),
            JoinError::Version => write!(
                formatter,
                "the fabric was made by another version of this library; end its processes or take another name"
            ),
            JoinError::NotOurs => write!(formatter, "what was found is not the fabric's memory"),
            JoinError::System(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for JoinError {}

/// The name of fabric segments.
pub fn memfd_name(fabric: &str) -> String {
    format!("softrdma-fabric-{fabric}")
}

fn hash(name: &str) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// A new fabric segment without members.
pub fn found(fabric: &str, identity: &Identity) -> Result<Mapping, JoinError> {
    let memfd = mapping::create(&memfd_name(fabric), layout::BYTES)?;
    let mapping = Mapping::new(memfd, layout::BYTES)?;
    mapping.fill(0, layout::BYTES)?;
    let header: &FabricHeader = mapping.at(0).ok_or(JoinError::NotOurs)?;
    header.version.store(VERSION, Ordering::Relaxed);
    header.host[0].store(identity.host[0], Ordering::Relaxed);
    header.host[1].store(identity.host[1], Ordering::Relaxed);
    header.name_hash.store(hash(fabric), Ordering::Relaxed);
    header.magic.store(FABRIC_MAGIC, Ordering::Release);
    Ok(mapping)
}

/// The mapping of `memfd` if it is the segment of `fabric` on this host.
pub fn check(memfd: OwnedFd, fabric: &str, identity: &Identity) -> Result<Mapping, JoinError> {
    if !mapping::trusted(memfd.as_fd()) {
        return Err(JoinError::NotOurs);
    }
    let mapping = Mapping::new(memfd, layout::BYTES)?;
    let header: &FabricHeader = mapping.at(0).ok_or(JoinError::NotOurs)?;
    let host = [
        header.host[0].load(Ordering::Relaxed),
        header.host[1].load(Ordering::Relaxed),
    ];
    if header.magic.load(Ordering::Acquire) != FABRIC_MAGIC || host != identity.host {
        return Err(JoinError::NotOurs);
    }
    if header.version.load(Ordering::Relaxed) != VERSION {
        return Err(JoinError::Version);
    }
    let whole = mapping.address_of(0, layout::BYTES).is_some();
    if !whole || header.name_hash.load(Ordering::Relaxed) != hash(fabric) {
        return Err(JoinError::NotOurs);
    }
    Ok(mapping)
}
