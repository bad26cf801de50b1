//! An open file of the operating system's.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::counters::COUNTS;
use crate::windows::{Window, Windows};

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
pub struct Descriptor {
    file: File,
    can_be_mapped: bool,
    spacing_bytes: usize,
    windows: Windows,
}

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
        let file = options.truncate(false).open(path)?;
        let kind = file_system(&file);
        Ok(Descriptor {
            can_be_mapped: permission == Permission::ReadWrite && kind.is_some_and(has_one_cache),
            spacing_bytes: spacing_bytes(kind),
            file,
            windows: Windows::default(),
        })
    }

    /// Whether data copied to a mapping of the file change the bytes that they are for and no others, whoever writes there too.
    pub fn can_be_mapped(&self) -> bool {
        self.can_be_mapped
    }

    /// Runs that begin so far apart, on average, cost less to read by a call each than with the gaps between them.
    pub(crate) fn spacing_bytes(&self) -> usize {
        self.spacing_bytes
    }

    /// The window of the file that begins at an offset; it is put back after use.
    pub(crate) fn window(&self, start: u64) -> io::Result<Window> {
        self.windows.take(&self.file, start)
    }

    pub(crate) fn put_back(&self, window: Window) {
        self.windows.put_back(window);
    }

    /// Reads from `offset` on until `out` is full or the file ends; returns how much there was.
    pub fn read_at(&self, mut offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < out.len() {
            COUNTS.reads.add(1);
            match self.file.read_at(&mut out[done..], offset) {
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

    /// Says that a range will be read soon. What becomes of that is the file system's affair.
    pub fn will_read(&self, range: &Range<u64>) {
        let (start, bytes) = (range.start as i64, (range.end - range.start) as i64);
        // SAFETY: a call on an open descriptor; no memory is involved.
        unsafe { libc::posix_fadvise64(self.number(), start, bytes, libc::POSIX_FADV_WILLNEED) };
    }

    /// Writes all of `data` from `offset` on.
    pub fn write_at(&self, mut offset: u64, mut data: &[u8]) -> io::Result<()> {
        COUNTS.written_bytes.add(data.len() as u64);
        while !data.is_empty() {
            COUNTS.writes.add(1);
            match self.file.write_at(data, offset) {
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
        Ok(self.file.metadata()?.len())
    }

    /// Cuts the file off, or lengthens it by bytes of 0.
    pub fn set_size(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }

    /// Has the file system reserve its first `bytes`, and lengthens it to that if it is shorter. Its data stay.
    pub fn allocate(&self, bytes: u64) -> io::Result<()> {
        let length = libc::off64_t::try_from(bytes).map_err(|_| too_large())?;
        if length == 0 {
            return Ok(());
        }
        // SAFETY: a call on an open descriptor; no memory is involved.
        match unsafe { libc::fallocate64(self.file.as_raw_fd(), 0, 0, length) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// What was written is on the device when this returns.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    pub(crate) fn number(&self) -> i32 {
        self.file.as_raw_fd()
    }
}

/// The kind of file system that a file is on, by its number; none where it does not tell.
fn file_system(file: &File) -> Option<libc::c_long> {
    // SAFETY: a structure of numbers, for which all bytes 0 are a value.
    let mut about: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: a call on an open descriptor, with a valid structure.
    let told = unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut about) } == 0;
    told.then_some(about.f_type)
}

/// Whether all who can open a file there see it through one cache, whose pages keep their place on the device once they have it: a page
/// that can be written now can be in a moment.
fn has_one_cache(kind: libc::c_long) -> bool {
    const LOCAL: [libc::c_long; 3] = [
        libc::EXT4_SUPER_MAGIC,
        libc::XFS_SUPER_MAGIC,
        libc::TMPFS_MAGIC,
    ];
    LOCAL.contains(&kind)
}

/// Where a read costs as much as one of the gap that a call saves. Memory that is a file system goes by pages, and costs more by the byte
/// than files whose pages lie together.
fn spacing_bytes(kind: Option<libc::c_long>) -> usize {
    match kind {
        Some(libc::TMPFS_MAGIC) => 3 << 10,
        _ => 10 << 10,
    }
}

fn too_large() -> io::Error {
    io::Error::from_raw_os_error(libc::EFBIG)
}
