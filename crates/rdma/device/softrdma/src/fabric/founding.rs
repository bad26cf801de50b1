//! Making a fabric segment, and judging one that was found.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;

use super::JoinError;
use super::door::memfd_name;
use super::identity::Identity;
use super::layout::{FABRIC_MAGIC, FabricHeader, VERSION, fabric as layout};
use super::mapping::{self, Mapping};

/// FNV-1a.
fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
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
