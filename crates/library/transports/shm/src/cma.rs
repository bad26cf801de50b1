//! Copies from process to process (cross memory attach, CMA), and whether the kernel allows them.

use std::io;

/// Which way a copy goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the other process (process_vm_readv(2)).
    Read,
    /// To the other process (process_vm_writev(2)).
    Write,
}

/// A stretch of another process's memory, as the kernel is told of it: any address, for nobody here touches it.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Stretch(libc::iovec);

impl Stretch {
    pub fn new(address: u64, bytes: usize) -> Stretch {
        Stretch(libc::iovec {
            iov_base: std::ptr::without_provenance_mut(address as usize),
            iov_len: bytes,
        })
    }

    pub fn address(&self) -> u64 {
        self.0.iov_base.addr() as u64
    }

    pub fn bytes(&self) -> usize {
        self.0.iov_len
    }
}

/// Copies `bytes` between `mine` and `theirs`, an address in process `pid`.
///
/// # Safety
/// `mine` is valid for `bytes`, for writes if the direction is [`Direction::Read`]. The other address need not be valid for
/// anything: that is an error.
pub unsafe fn copy(
    direction: Direction,
    pid: u32,
    mine: *mut u8,
    theirs: u64,
    bytes: usize,
) -> io::Result<()> {
    let mut done = 0;
    while done < bytes {
        let theirs = [Stretch::new(theirs.wrapping_add(done as u64), bytes - done)];
        // SAFETY: what is left of the own bytes is valid by the contract.
        done += unsafe { transfer(direction, pid, mine.wrapping_add(done), &theirs) }?;
    }
    Ok(())
}

/// Copies between `mine` and stretches of process `pid`'s memory, which are one after the other in `mine`. At most
/// IOV_MAX, 1024.
///
/// # Safety
/// As for [`copy`], of as many bytes as all stretches have.
pub unsafe fn copy_stretches(
    direction: Direction,
    pid: u32,
    mut mine: *mut u8,
    mut theirs: &[Stretch],
) -> io::Result<()> {
    let mut copied = 0;
    while let Some(first) = theirs.first() {
        if first.bytes() <= copied {
            copied -= first.bytes();
            mine = mine.wrapping_add(first.bytes());
            theirs = &theirs[1..];
        } else if copied > 0 {
            let (address, left) = (first.address(), first.bytes() - copied);
            let from = (
                mine.wrapping_add(copied),
                address.wrapping_add(copied as u64),
            );
            // SAFETY: the rest of a stretch, valid by the contract.
            unsafe { copy(direction, pid, from.0, from.1, left) }?;
            copied = first.bytes();
        } else {
            // SAFETY: by the contract.
            copied = unsafe { transfer(direction, pid, mine, theirs) }?;
        }
    }
    Ok(())
}

/// One call of the kernel: how many bytes it copied, at least one.
///
/// # Safety
/// As for [`copy_stretches`].
unsafe fn transfer(
    direction: Direction,
    pid: u32,
    mine: *mut u8,
    theirs: &[Stretch],
) -> io::Result<usize> {
    let local = libc::iovec {
        iov_base: mine.cast(),
        iov_len: theirs.iter().map(Stretch::bytes).sum(),
    };
    let remote = theirs.as_ptr().cast();
    let (pid, pieces) = (pid as libc::pid_t, theirs.len() as libc::c_ulong);
    // SAFETY: a stretch is an iovec; the own bytes are valid by the contract; the kernel checks the others.
    let copied = unsafe {
        match direction {
            Direction::Read => libc::process_vm_readv(pid, &local, 1, remote, pieces, 0),
            Direction::Write => libc::process_vm_writev(pid, &local, 1, remote, pieces, 0),
        }
    };
    match copied {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        1.. => Ok(copied as usize),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether the kernel lets this process read `expected` at `address` of process `pid`.
pub fn reads(pid: u32, address: u64, expected: [u64; 2]) -> bool {
    let mut found = [0u64; 2];
    let bytes = size_of_val(&found);
    let mine = found.as_mut_ptr().cast();
    // SAFETY: `found` is as long as said.
    let read = unsafe { copy(Direction::Read, pid, mine, address, bytes) };
    read.is_ok() && found == expected
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This process is a process like any other to the kernel. A page that nobody may touch cuts what is copied short, in
    /// the middle of a stretch or at its beginning.
    #[test]
    fn stretches_are_copied_up_to_what_is_not_there() {
        const PAGE: usize = 4096;
        let pid = std::process::id();
        // SAFETY: new memory, which is this test's own.
        let pages = unsafe {
            let anonymous = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let pages = libc::mmap(std::ptr::null_mut(), 2 * PAGE, access, anonymous, -1, 0);
            assert_ne!(pages, libc::MAP_FAILED);
            assert_eq!(
                libc::mprotect(pages.byte_add(PAGE), PAGE, libc::PROT_NONE),
                0
            );
            std::slice::from_raw_parts_mut(pages.cast::<u8>(), PAGE)
        };
        let begin = pages.as_ptr().addr();
        let at = |offset: usize, bytes| Stretch::new((begin + offset) as u64, bytes);
        let whole = [at(5, 3), at(100, 0), at(PAGE - 7, 7), at(0, 1)];
        let mine: Vec<u8> = (1..=11).collect();
        let mut back = [0; 11];
        // SAFETY: both are as long as the stretches together.
        unsafe {
            copy_stretches(Direction::Write, pid, mine.as_ptr().cast_mut(), &whole).unwrap();
            copy_stretches(Direction::Read, pid, back.as_mut_ptr(), &whole).unwrap();
        }
        assert_eq!(back, mine[..]);
        assert_eq!(pages[5..8], [1, 2, 3]);
        assert_eq!(pages[PAGE - 7..], [4, 5, 6, 7, 8, 9, 10]);
        assert_eq!((pages[0], pages[8], pages[4]), (11, 0, 0));
        for beyond in [at(PAGE, 4), at(PAGE - 2, 4)] {
            let stretches = [at(5, 3), beyond, at(0, 4)];
            // SAFETY: the array is as long as the stretches together.
            let read =
                unsafe { copy_stretches(Direction::Read, pid, back.as_mut_ptr(), &stretches) };
            assert_eq!(read.unwrap_err().raw_os_error(), Some(libc::EFAULT));
        }
        // SAFETY: mapped above, and not used again.
        unsafe { libc::munmap(pages.as_mut_ptr().cast(), 2 * PAGE) };
    }
}
