//! Moving bytes between this process's memory and a peer's.
//!
//! What lies in the peer's segment is reached through the mapping, what lies in this very process directly, anything else by
//! process_vm_readv(2) and process_vm_writev(2). The caller has a [`Visit`](super::regions::Visit), so the memory is the peer's to
//! offer until the copy is done. That the process number still means the peer was seen when it was probed; a number is not
//! given to another process before all others have had their turn, and a peer's death is noticed long before.

use std::io;

use super::inline_list::InlineList;
use super::record::region::Span;
use super::segment::Segment;

/// Entries a copy can have on each side.
pub const MAX_PIECES: usize = 64;

/// A piece of this process's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    pub address: u64,
    pub length: u64,
}

/// How to get at memory of a process that is not in its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It is this process.
    Own,
    /// By copies through the kernel.
    Copies { pid: u32 },
    /// Not at all: the peer's agent must do it.
    Agent,
}

/// Why nothing, or not all, was moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryError {
    /// Memory is not there, although it was registered.
    Fault,
    /// The process is gone.
    Gone,
    /// The kernel does not let us: the peer's agent must do it.
    Agent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the peer.
    Write,
    /// From the peer.
    Read,
}

/// Moves all of `local` to or from the begin of `remote`, in order. `remote` is as long or longer.
///
/// # Safety
/// `local` is memory of this process, readable, or writable for a read, except that pieces of it may be unmapped where the
/// bytes go through the kernel. Other threads and the peer may touch all of it meanwhile: bytes arrive in any order.
#[inline]
pub unsafe fn copy(
    direction: Direction,
    segment: &Segment,
    reach: Reach,
    local: &[Local],
    remote: &[Span],
) -> Result<(), MemoryError> {
    if let (Reach::Copies { pid }, true) = (
        reach,
        remote.iter().all(|span| span.segment_offset.is_none()),
    ) {
        return by_kernel(direction, pid, local, remote);
    }
    let pieces = Pieces::new(local, remote);
    for (here, there) in pieces {
        let there_mapped = match (there.segment_offset, reach) {
            (Some(segment_offset), _) => {
                let address = segment.mapping().address_of(segment_offset, there.length);
                address.ok_or(MemoryError::Fault)?
            }
            (None, Reach::Own) => there.address as *mut u8,
            (None, Reach::Copies { pid }) => {
                by_kernel(direction, pid, &[here], &[there])?;
                continue;
            }
            (None, Reach::Agent) => return Err(MemoryError::Agent),
        };
        // SAFETY: the one side is this process's by the caller's word, the other is inside a mapping, or registered memory
        // of this process. They may overlap. Races are between bytes only, as with an adapter.
        unsafe {
            move_bytes(
                direction,
                here.address as *mut u8,
                there_mapped,
                here.length as usize,
            )
        };
    }
    Ok(())
}

/// # Safety
/// Both are good for `length`.
#[inline]
unsafe fn move_bytes(direction: Direction, here: *mut u8, there: *mut u8, length: usize) {
    let (from, to) = match direction {
        Direction::Write => (here, there),
        Direction::Read => (there, here),
    };
    // SAFETY: the caller's. A word that is aligned on both sides is moved whole, so that who polls it never sees half.
    unsafe {
        if length == 8 && (from as usize | to as usize).is_multiple_of(8) {
            let word = from.cast::<u64>().read_volatile();
            to.cast::<u64>().write_volatile(word);
        } else {
            std::ptr::copy(from, to, length);
        }
    }
}

/// Walks two lists in step: each time the longest piece that lies in one entry of both.
struct Pieces<'a> {
    local: &'a [Local],
    remote: &'a [Span],
    /// Used up of the first entries.
    local_used: u64,
    remote_used: u64,
}

impl<'a> Pieces<'a> {
    fn new(local: &'a [Local], remote: &'a [Span]) -> Pieces<'a> {
        Pieces {
            local,
            remote,
            local_used: 0,
            remote_used: 0,
        }
    }
}

impl Iterator for Pieces<'_> {
    type Item = (Local, Span);

    fn next(&mut self) -> Option<(Local, Span)> {
        loop {
            let here = self.local.first()?;
            let there = self.remote.first()?;
            let here_left = here.length - self.local_used;
            let there_left = there.length - self.remote_used;
            let length = here_left.min(there_left);
            let piece = (
                Local {
                    address: here.address.wrapping_add(self.local_used),
                    length,
                },
                there.part(self.remote_used, length),
            );
            self.local_used += length;
            self.remote_used += length;
            if length == here_left {
                self.local = &self.local[1..];
                self.local_used = 0;
            }
            if length == there_left {
                self.remote = &self.remote[1..];
                self.remote_used = 0;
            }
            if length != 0 {
                return Some(piece);
            }
        }
    }
}

/// How much of what [`copy`] would move one call of the kernel's does move, in order: nothing where the kernel is not who moves it.
/// No piece of `remote` lies in its owner's segment, and neither list has more than [`MAX_PIECES`].
///
/// # Safety
/// As of [`copy`].
pub unsafe fn copy_at_once(
    direction: Direction,
    reach: Reach,
    local: &[Local],
    remote: &[Span],
) -> u64 {
    let Reach::Copies { pid } = reach else {
        return 0;
    };
    let total = local.iter().map(|piece| piece.length).sum();
    let here = part(of_local(local), 0, total);
    let there = part(of_remote(remote), 0, total);
    call(direction, pid, &here, &there).unwrap_or(0)
}

/// By one call of the kernel's, and more for what it left.
#[inline]
fn by_kernel(
    direction: Direction,
    pid: u32,
    local: &[Local],
    remote: &[Span],
) -> Result<(), MemoryError> {
    let mut done = 0;
    // Most have one piece of each.
    if let ([here], [there]) = (local, remote) {
        let vector = |address| [vector(address, here.length)];
        done = call(
            direction,
            pid,
            &vector(here.address),
            &vector(there.address),
        )?;
        if done == here.length {
            return Ok(());
        }
    }
    by_kernel_from(direction, pid, local, remote, done)
}

/// As [`by_kernel`], where the first `done` bytes are moved.
fn by_kernel_from(
    direction: Direction,
    pid: u32,
    local: &[Local],
    remote: &[Span],
    mut done: u64,
) -> Result<(), MemoryError> {
    let total: u64 = local.iter().map(|piece| piece.length).sum();
    while done < total {
        let here = part(of_local(local), done, total);
        let there = part(of_remote(remote), done, total);
        done += call(direction, pid, &here, &there)?;
    }
    Ok(())
}

/// A list for the kernel, which need not be the whole one.
type Vectors = InlineList<libc::iovec, MAX_PIECES>;

fn vector(address: u64, length: u64) -> libc::iovec {
    libc::iovec {
        iov_base: address as *mut libc::c_void,
        iov_len: length as usize,
    }
}

fn of_local(local: &[Local]) -> impl Iterator<Item = (u64, u64)> {
    local.iter().map(|piece| (piece.address, piece.length))
}

fn of_remote(remote: &[Span]) -> impl Iterator<Item = (u64, u64)> {
    remote.iter().map(|span| (span.address, span.length))
}

/// The pieces from byte `begin` to byte `end`.
#[inline]
fn part(pieces: impl Iterator<Item = (u64, u64)>, begin: u64, end: u64) -> Vectors {
    let mut vectors = Vectors::new();
    let mut at = 0;
    for (address, length) in pieces {
        let from = begin.max(at) - at;
        let to = end.min(at + length).saturating_sub(at);
        at += length;
        if from < to {
            vectors.push(vector(address.wrapping_add(from), to - from));
        }
    }
    vectors
}

#[inline]
fn call(
    direction: Direction,
    pid: u32,
    here: &[libc::iovec],
    there: &[libc::iovec],
) -> Result<u64, MemoryError> {
    let transfer = match direction {
        Direction::Write => libc::process_vm_writev,
        Direction::Read => libc::process_vm_readv,
    };
    // SAFETY: the kernel checks addresses on both sides; what is written here is the caller's to write.
    let moved = unsafe {
        transfer(
            pid as libc::pid_t,
            here.as_ptr(),
            here.len() as libc::c_ulong,
            there.as_ptr(),
            there.len() as libc::c_ulong,
            0,
        )
    };
    match moved {
        0 => Err(MemoryError::Fault),
        1.. => Ok(moved as u64),
        _ => Err(error(&io::Error::last_os_error())),
    }
}

#[cold]
fn error(error: &io::Error) -> MemoryError {
    match error.raw_os_error() {
        Some(libc::ESRCH) => MemoryError::Gone,
        Some(libc::EPERM | libc::ENOSYS) => MemoryError::Agent,
        _ => MemoryError::Fault,
    }
}

/// How to reach the memory of process `pid`, whose segment begins at `address` of its own: by looking whether the segment's first
/// words can be read there, which also shows that the number means that process.
pub fn probe(segment: &Segment, pid: u32, address: u64) -> Reach {
    use std::sync::atomic::Ordering;
    let header = segment.header();
    let expected = [
        header.magic.load(Ordering::Relaxed),
        header.key.load(Ordering::Relaxed),
    ];
    let mut found = [0u64; 2];
    let here = Local {
        address: found.as_mut_ptr() as u64,
        length: size_of_val(&found) as u64,
    };
    let there = Span {
        address,
        length: here.length,
        segment_offset: None,
    };
    match by_kernel(Direction::Read, pid, &[here], &[there]) {
        Ok(()) if found == expected => Reach::Copies { pid },
        _ => Reach::Agent,
    }
}
