//! Locks on ranges of a file, which atomic mode takes (MPI-5.0 §14.6.1). They are open file description locks, so that two handles
//! of one process exclude each other too.

use std::io;
use std::ops::Range;

use crate::descriptor::Descriptor;

/// Who else may hold a lock on the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Others that read.
    Readers,
    Nobody,
}

/// A range of a file that is locked while this exists.
#[must_use]
#[derive(Debug)]
pub struct Locked<'a> {
    descriptor: &'a Descriptor,
    range: Range<u64>,
}

impl Descriptor {
    /// Waits until nobody else has the range.
    pub fn lock(&self, range: Range<u64>, sharing: Sharing) -> io::Result<Locked<'_>> {
        let kind = match sharing {
            Sharing::Readers => libc::F_RDLCK,
            Sharing::Nobody => libc::F_WRLCK,
        };
        loop {
            match self.set_lock(libc::F_OFD_SETLKW, kind, &range) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => {
                    return outcome.map(|()| Locked {
                        descriptor: self,
                        range,
                    });
                }
            }
        }
    }

    fn set_lock(&self, command: i32, kind: i32, range: &Range<u64>) -> io::Result<()> {
        // SAFETY: a structure of numbers, for which all bytes 0 are a value.
        let mut lock: libc::flock64 = unsafe { std::mem::zeroed() };
        lock.l_type = kind as libc::c_short;
        lock.l_whence = libc::SEEK_SET as libc::c_short;
        lock.l_start = range.start as i64;
        lock.l_len = (range.end - range.start) as i64;
        // SAFETY: a call on an open descriptor, with a valid structure.
        match unsafe { libc::fcntl(self.number(), command, &raw const lock) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // Of a range that is locked this fails only if the file system has lost the lock.
        let _ = self
            .descriptor
            .set_lock(libc::F_OFD_SETLK, libc::F_UNLCK, &self.range);
    }
}
