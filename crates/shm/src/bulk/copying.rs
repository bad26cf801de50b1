//! Copies from process to process, and whether the kernel allows them.

use std::io;

use weft_transport::Peer;

use crate::endpoint::Links;
use crate::peers::Neighbour;

/// Which way a copy goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the other process (process_vm_readv(2)).
    Read,
    /// To the other process (process_vm_writev(2)).
    Write,
}

/// Copies `bytes` between `mine` and `theirs`, an address in process `pid`.
///
/// # Safety
/// `mine` is valid for `bytes`, for writes if the way is [`Way::Read`]. The other address need not be valid for
/// anything: that is an error.
pub unsafe fn copy(way: Way, pid: u32, mine: *mut u8, theirs: u64, bytes: usize) -> io::Result<()> {
    let mut done = 0;
    while done < bytes {
        let theirs = (theirs as usize).wrapping_add(done);
        let local = libc::iovec {
            iov_base: mine.wrapping_add(done).cast(),
            iov_len: bytes - done,
        };
        let remote = libc::iovec {
            iov_base: std::ptr::without_provenance_mut(theirs),
            iov_len: bytes - done,
        };
        let pid = pid as libc::pid_t;
        // SAFETY: the own bytes are valid by the contract; the kernel checks the others.
        let copied = unsafe {
            match way {
                Way::Read => libc::process_vm_readv(pid, &local, 1, &remote, 1, 0),
                Way::Write => libc::process_vm_writev(pid, &local, 1, &remote, 1, 0),
            }
        };
        match copied {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            1.. => done += copied as usize,
            _ => return Err(io::Error::last_os_error()),
        }
    }
    Ok(())
}

/// Whether this process may copy from and to `peer`'s memory.
pub fn is_allowed(links: &Links, peer: Peer) -> bool {
    if links.shared.options.deny_copies {
        return false;
    }
    match links.neighbour(peer) {
        Ok(neighbour) => are_allowed(&neighbour),
        Err(_) => false,
    }
}

/// Whether the kernel copies between this process and a neighbour: tried once for each.
pub fn are_allowed(neighbour: &Neighbour) -> bool {
    *neighbour.copies_allowed.get_or_init(|| {
        let (address, expected) = neighbour.base.probe();
        let mut found = [0u64; 2];
        let bytes = size_of_val(&found);
        let mine = found.as_mut_ptr().cast();
        // SAFETY: `found` is as long as said.
        let read = unsafe { copy(Way::Read, neighbour.card.pid, mine, address, bytes) };
        read.is_ok() && found == expected
    })
}
