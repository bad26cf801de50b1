//! An open file of the operating system's.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::counters::COUNTS;

/// What may be done with an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    Read,
    Write,
    ReadWrite,
}

/// What opening does where there is no file, or is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creation {
    MustExist,
    Create,
    /// It is an error if there is one.
    CreateNew,
}

/// An open file. Positions are arguments; the descriptor's own is not used.
#[derive(Debug)]
pub struct Descriptor(File);

impl Descriptor {
    /// Opens a file, which others of the machine's users may read and write as their mask says.
    pub fn open(path: &Path, permission: Permission, creation: Creation) -> io::Result<Descriptor> {
        let mut options = OpenOptions::new();
        options
            .read(permission != Permission::Write)
            .write(permission != Permission::Read);
        match creation {
            Creation::MustExist => {}
            Creation::Create => {
                options.create(true);
            }
            Creation::CreateNew => {
                options.create_new(true);
            }
        }
        options.truncate(false).open(path).map(Descriptor)
    }

    /// Reads from `offset` on until `out` is full or the file ends; returns how much there was.
    pub fn read_at(&self, mut offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < out.len() {
            COUNTS.reads.add(1);
            match self.0.read_at(&mut out[done..], offset) {
                Ok(0) => break,
                Ok(bytes) => {
                    done += bytes;
                    offset += bytes as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        COUNTS.read_bytes.add(done as u64);
        Ok(done)
    }

    /// Writes all of `data` from `offset` on.
    pub fn write_at(&self, mut offset: u64, mut data: &[u8]) -> io::Result<()> {
        COUNTS.written_bytes.add(data.len() as u64);
        while !data.is_empty() {
            COUNTS.writes.add(1);
            match self.0.write_at(data, offset) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero)),
                Ok(bytes) => {
                    data = &data[bytes..];
                    offset += bytes as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub fn size(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    /// Cuts the file off, or lengthens it by bytes of 0.
    pub fn set_size(&self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)
    }

    /// Has the file system reserve its first `bytes`, and lengthens it to that if it is shorter. Its data stay.
    pub fn allocate(&self, bytes: u64) -> io::Result<()> {
        let length = libc::off64_t::try_from(bytes).map_err(|_| too_large())?;
        if length == 0 {
            return Ok(());
        }
        // SAFETY: a call on an open descriptor; no memory is involved.
        match unsafe { libc::fallocate64(self.0.as_raw_fd(), 0, 0, length) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// What was written is on the device when this returns.
    pub fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    pub(crate) fn number(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

fn too_large() -> io::Error {
    io::Error::from_raw_os_error(libc::EFBIG)
}
