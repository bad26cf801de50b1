//! A process's memfd and mappings of it and of others.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};

use weft_kernel::{above_standard, anonymous_file};
use weft_sync::Section;

use crate::available;
use crate::file_limit::Lifted;
use crate::process::folder;

/// What offsets of mappings are multiples of.
pub const PAGE: usize = 4096;

/// Bytes that are made, and mapped, at once. A read of a page that is there but not mapped maps all of so many around
/// it (Linux's `fault_around_bytes`); a write maps one page. So few are taken to be there.
const AT_ONCE: usize = 16 * PAGE;

static ZEROS: [u8; AT_ONCE] = [0; AT_ONCE];

/// A piece of a segment in this process's address space. Other processes write to it too, so what lies in it
/// is only touched through atomics or by the protocols of `weft_sync::cells` and `bulk`.
pub struct Mapping {
    base: *mut u8,
    bytes: usize,
}

// SAFETY: an address range; what may be done with it does not depend on the thread.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(memfd: RawFd, offset: u64, bytes: usize) -> io::Result<Mapping> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let null = std::ptr::null_mut();
        // SAFETY: asks for a fresh range of addresses.
        let base = unsafe {
            libc::mmap(
                null,
                bytes,
                protection,
                libc::MAP_SHARED,
                memfd,
                offset as libc::off_t,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(named("mmap", io::Error::last_os_error()));
        }
        Ok(Mapping {
            base: base.cast(),
            bytes,
        })
    }

    /// The first byte, page-aligned.
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Moves to an address that is a multiple of `alignment`, a power of two. Nothing may point into it yet.
    pub fn align(&mut self, alignment: usize) -> io::Result<()> {
        if self.base.addr().is_multiple_of(alignment) {
            return Ok(());
        }
        let bytes = self.bytes.next_multiple_of(PAGE);
        let room = bytes
            .checked_add(alignment)
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let nothing = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: asks for a fresh range of addresses.
        let range =
            unsafe { libc::mmap(std::ptr::null_mut(), room, libc::PROT_NONE, nothing, -1, 0) };
        if range == libc::MAP_FAILED {
            return Err(named("mmap", io::Error::last_os_error()));
        }
        let before = range.cast::<u8>().align_offset(alignment);
        let place = range.wrapping_byte_add(before);
        let how = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // SAFETY: this mapping, to addresses of the range that was just made; nobody uses either.
        let moved = unsafe { libc::mremap(self.base.cast(), bytes, bytes, how, place) };
        let failed = (moved == libc::MAP_FAILED).then(io::Error::last_os_error);
        let kept = if failed.is_none() { bytes } else { 0 };
        let after = place.wrapping_byte_add(kept);
        // SAFETY: what is left of the range on both sides; a length of 0 is refused, and does nothing.
        unsafe {
            libc::munmap(range, before);
            libc::munmap(after, room - before - kept);
        }
        if let Some(error) = failed {
            return Err(named("mremap", error));
        }
        self.base = moved.cast();
        Ok(())
    }

    /// Has memory behind `bytes` from `at` on, or fails, as it always does on a kernel before 5.14.
    pub fn fill(&self, at: usize, bytes: usize) -> io::Result<()> {
        assert!(at.is_multiple_of(PAGE) && at + bytes <= self.bytes);
        let base = self.base.wrapping_add(at).cast();
        // SAFETY: the range is within this mapping; what stands there stays.
        checked(unsafe { libc::madvise(base, bytes, libc::MADV_POPULATE_WRITE) }).map(drop)
    }

    /// Maps `bytes` from `at` on that have memory: at once, where the first writes would map them page by page.
    fn touch(&self, at: usize, bytes: usize) {
        assert!(bytes > 0 && at + bytes <= self.bytes);
        let last = at + bytes - 1;
        for place in (at..last).step_by(AT_ONCE).chain([last]) {
            // SAFETY: a byte within the mapping, which others touch through atomics only, too.
            let byte = unsafe { AtomicU8::from_ptr(self.base.add(place)) };
            // The compiler keeps it, for what it does shows nowhere else.
            std::hint::black_box(byte.load(Ordering::Relaxed));
        }
    }

    /// Gives the memory back, for all who have it mapped: it reads as zeros from here on.
    pub fn empty(&self) {
        // A kernel that cannot do it keeps the memory until the segment's owner ends.
        // SAFETY: the range is this mapping's, and stays mapped.
        unsafe { libc::madvise(self.base.cast(), self.bytes, libc::MADV_REMOVE) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is this mapping's; its owner holds nothing that points into it.
        unsafe { libc::munmap(self.base.cast(), self.bytes) };
    }
}

/// This process's segment.
pub struct Segment {
    /// -1 once closed.
    memfd: AtomicI32,
    end: Section<u64>,
}

impl Segment {
    /// Makes a segment whose first `bytes` cost memory only where they are written.
    pub fn create(bytes: usize) -> io::Result<Segment> {
        let memfd = anonymous_file(c"weft").map_err(|error| named("memfd_create", error))?;
        let fd = memfd.as_raw_fd();
        let _lifted = Lifted::to(bytes as u64)?;
        // SAFETY: these take numbers only.
        unsafe {
            checked(libc::fchmod(fd, 0o600))?;
            checked(libc::ftruncate(fd, bytes as libc::off_t))?;
            // A peer's access can then not fault for want of a page.
            checked(libc::fcntl(
                fd,
                libc::F_ADD_SEALS,
                libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL,
            ))?;
        }
        Ok(Segment {
            memfd: AtomicI32::new(memfd.into_raw_fd()),
            end: Section::new(bytes as u64),
        })
    }

    fn descriptor(&self) -> RawFd {
        self.memfd.load(Ordering::Relaxed)
    }

    /// Closes the descriptor, so that nobody can find the segment any more. What is mapped stays.
    pub fn close(&self) {
        let memfd = self.memfd.swap(-1, Ordering::Relaxed);
        if memfd >= 0 {
            // SAFETY: the descriptor was this segment's alone, and is forgotten.
            drop(unsafe { OwnedFd::from_raw_fd(memfd) });
        }
    }

    /// The number by which other processes find it.
    pub fn memfd(&self) -> u32 {
        self.descriptor() as u32
    }

    /// Maps the first `bytes`.
    pub fn map(&self, bytes: usize) -> io::Result<Mapping> {
        Mapping::new(self.descriptor(), 0, bytes)
    }

    /// Lengthens the segment by `bytes` of zeros and maps them: the offset too. There is memory for the first `filled`;
    /// see [`fill`](Self::fill).
    pub fn carve(&self, bytes: usize, filled: usize) -> io::Result<(u64, Mapping)> {
        let bytes = bytes.next_multiple_of(PAGE);
        let mut end = self.end.enter();
        let offset = *end;
        // First, as it costs nothing that would have to be given back.
        let mapping = Mapping::new(self.descriptor(), offset, bytes)?;
        let _lifted = Lifted::to(offset + bytes as u64)?;
        if filled > 0 {
            self.write_zeros(offset, filled)?;
            mapping.touch(0, filled);
        }
        if filled < bytes {
            // SAFETY: takes numbers only.
            checked(unsafe {
                libc::ftruncate(self.descriptor(), (offset as usize + bytes) as libc::off_t)
            })?;
        }
        *end += bytes as u64;
        Ok((offset, mapping))
    }

    /// As [`carve`](Self::carve), but the bytes cost memory only where they are written. A piece longer than all available memory is
    /// refused. A piece of a few bytes is never refused for that: asking the system takes longer than all else here.
    pub fn carve_untouched(&self, bytes: usize) -> io::Result<(u64, Mapping)> {
        if bytes > AT_ONCE && bytes as u64 > available::bytes() {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.carve(bytes, 0)
    }
}

impl Segment {
    /// Has memory behind `bytes` from `at` on of what lies at `offset` and is mapped there, which nobody has written to, or fails.
    pub fn fill(&self, mapping: &Mapping, offset: u64, at: usize, bytes: usize) -> io::Result<()> {
        let offset = offset + at as u64;
        {
            let _section = self.end.enter();
            let _lifted = Lifted::to(offset + bytes as u64)?;
            self.write_zeros(offset, bytes)?;
        }
        mapping.touch(at, bytes);
        Ok(())
    }

    /// Zeros written to a file of memory make a page in 1.1 us, where `fallocate` and a page's first use take 2.3 (measured on Linux 6.18 in a
    /// virtual machine). The caller has lifted the limit of files' sizes.
    fn write_zeros(&self, offset: u64, bytes: usize) -> io::Result<()> {
        let end = offset + bytes as u64;
        let mut at = offset;
        while at < end {
            let wanted = ZEROS.len().min((end - at) as usize);
            let zeros = ZEROS.as_ptr().cast();
            // SAFETY: `ZEROS` is at least so long.
            let written =
                unsafe { libc::pwrite(self.descriptor(), zeros, wanted, at as libc::off_t) };
            match usize::try_from(written) {
                Ok(written) if written > 0 => at += written as u64,
                Ok(_) => return self.undone(offset, bytes, io::ErrorKind::OutOfMemory.into()),
                Err(_) => match io::Error::last_os_error() {
                    error if error.kind() == io::ErrorKind::Interrupted => {}
                    error => return self.undone(offset, bytes, error),
                },
            }
        }
        Ok(())
    }

    /// There is not as much memory as was wanted, so that none is kept.
    fn undone(&self, offset: u64, bytes: usize, error: io::Error) -> io::Result<()> {
        // If this fails, the memory stays taken until the process ends.
        let _ = self.empty(offset, bytes);
        Err(named("pwrite", error))
    }

    /// Gives the memory behind `bytes` from `offset` on back; they read as zeros from here on.
    pub fn empty(&self, offset: u64, bytes: usize) -> io::Result<()> {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        let (offset, bytes) = (offset as libc::off_t, bytes as libc::off_t);
        // SAFETY: takes numbers only.
        checked(unsafe { libc::fallocate(self.descriptor(), mode, offset, bytes) }).map(drop)
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        self.close();
    }
}

/// A peer's segment, open while something of it is being mapped.
pub struct Foreign {
    memfd: OwnedFd,
    bytes: u64,
}

impl Foreign {
    /// Opens the segment that process `pid` has as descriptor `memfd`; it must be this user's and sealed, so
    /// that it stays what it is.
    pub fn open(pid: u32, memfd: u32) -> Result<Foreign, String> {
        let path = format!("{}/fd/{memfd}", folder(pid));
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true);
        // The number may by now be of something that an open would wait for.
        options.custom_flags(libc::O_NONBLOCK);
        let file =
            above_standard(|| options.open(&path)).map_err(|error| format!("{path}: {error}"))?;
        let memfd = OwnedFd::from(file);
        // SAFETY: all zeros is a valid `stat`.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: `stat` is writable; the other two take numbers.
        let (result, user, seals) = unsafe {
            (
                libc::fstat(memfd.as_raw_fd(), &mut stat),
                libc::geteuid(),
                libc::fcntl(memfd.as_raw_fd(), libc::F_GET_SEALS),
            )
        };
        if result != 0 {
            return Err(format!("{path}: {}", io::Error::last_os_error()));
        }
        if stat.st_uid != user {
            return Err(format!(
                "{path} belongs to user {}, not to {user}",
                stat.st_uid
            ));
        }
        if seals < 0 || seals & libc::F_SEAL_SHRINK == 0 {
            return Err(format!("{path} is not a segment of ours"));
        }
        Ok(Foreign {
            memfd,
            bytes: stat.st_size as u64,
        })
    }

    /// The two words at `offset`.
    pub fn words(&self, offset: u64) -> Result<[u64; 2], String> {
        let mut words = [0u64; 2];
        let bytes = size_of_val(&words);
        let into = words.as_mut_ptr().cast();
        // SAFETY: `words` is as long as said.
        let got =
            unsafe { libc::pread(self.memfd.as_raw_fd(), into, bytes, offset as libc::off_t) };
        match usize::try_from(got) {
            Ok(got) if got == bytes => Ok(words),
            Ok(_) => Err("its segment is too short".to_owned()),
            Err(_) => Err(io::Error::last_os_error().to_string()),
        }
    }

    /// Maps `bytes` from `offset` on.
    pub fn map(&self, offset: u64, bytes: usize) -> io::Result<Mapping> {
        let end = offset.checked_add(bytes as u64);
        if bytes == 0
            || !offset.is_multiple_of(PAGE as u64)
            || end.is_none_or(|end| end > self.bytes)
        {
            let all = self.bytes;
            let what = format!("{bytes} bytes at {offset} are not in a segment of {all}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Mapping::new(self.memfd.as_raw_fd(), offset, bytes)
            .map_err(|error| named(&format!("a mapping of {bytes} bytes"), error))
    }

    /// As [`map`](Self::map), for a connection, which is lost without it: also by the addresses that are set aside.
    pub fn map_for_connection(&self, offset: u64, bytes: usize) -> io::Result<Mapping> {
        weft_reserve::with_addresses(bytes, || self.map(offset, bytes))
    }
}

/// The error with the system call that gave it, which may be one that a filter forbids.
fn named(call: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{call}: {error}"))
}

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory that a segment has, in units of 512 bytes.
    fn blocks(segment: &Segment) -> u64 {
        let path = format!("/proc/self/fd/{}", segment.memfd());
        std::os::unix::fs::MetadataExt::blocks(&std::fs::metadata(path).unwrap())
    }

    #[test]
    fn both_sides_see_one_memory() {
        let segment = Segment::create(PAGE).unwrap();
        let (offset, mine) = segment.carve(100, 100).unwrap();
        assert_eq!((offset, mine.bytes()), (PAGE as u64, PAGE));
        let foreign = Foreign::open(std::process::id(), segment.memfd()).unwrap();
        let theirs = foreign.map(offset, PAGE).unwrap();
        // SAFETY: both mappings are valid and this thread alone uses them.
        unsafe {
            mine.base().write_volatile(42);
            assert_eq!(theirs.base().read_volatile(), 42);
        }
    }

    #[test]
    fn a_mapping_is_aligned_and_the_same_memory() {
        let segment = Segment::create(PAGE).unwrap();
        let (offset, mut mine) = segment.carve(3 * PAGE, 3 * PAGE).unwrap();
        let foreign = Foreign::open(std::process::id(), segment.memfd()).unwrap();
        let theirs = foreign.map(offset, 3 * PAGE).unwrap();
        for alignment in [1, PAGE, 2 * PAGE, 1 << 21] {
            mine.align(alignment).unwrap();
            assert!(mine.base().addr().is_multiple_of(alignment));
            // SAFETY: both mappings are valid and this thread alone uses them.
            unsafe {
                mine.base().add(2 * PAGE).write_volatile(7);
                assert_eq!(theirs.base().add(2 * PAGE).read_volatile(), 7);
                theirs.base().add(2 * PAGE).write_volatile(0);
            }
        }
        assert!(mine.align(1 << 62).is_err());
    }

    #[test]
    fn untouched_memory_costs_nothing() {
        let segment = Segment::create(PAGE).unwrap();
        let (_, mapping) = segment.carve_untouched(64 << 20).unwrap();
        assert_eq!((mapping.bytes(), blocks(&segment)), (64 << 20, 0));
        // SAFETY: the mapping is valid and this thread alone uses it.
        unsafe { mapping.base().write_volatile(1) };
        assert!(blocks(&segment) > 0);
    }

    #[test]
    fn filled_memory_is_there_and_mapped() {
        let segment = Segment::create(PAGE).unwrap();
        let (offset, mapping) = segment.carve(80 * PAGE, 0).unwrap();
        let at = 3 * PAGE;
        segment.fill(&mapping, offset, at, 70 * PAGE).unwrap();
        assert_eq!(blocks(&segment) * 512, 70 * PAGE as u64);
        let before = faults();
        for page in 3..73 {
            // SAFETY: the mapping is valid and this thread alone uses it.
            unsafe { mapping.base().add(page * PAGE).write_volatile(1) };
        }
        // All but a few were mapped. Tests beside this one do not count.
        assert!(faults() - before < 35);
    }

    /// Page faults of this thread.
    fn faults() -> i64 {
        // SAFETY: all zeros is a valid `rusage`, which the call writes.
        unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage), 0);
            usage.ru_minflt
        }
    }

    #[test]
    fn memory_that_cannot_be_had_is_an_error() {
        let segment = Segment::create(PAGE).unwrap();
        let (offset, mapping) = segment.carve(4 * PAGE, 0).unwrap();
        segment.close();
        let error = segment.fill(&mapping, offset, 0, 4 * PAGE).unwrap_err();
        assert!(error.to_string().starts_with("pwrite: "), "{error}");
    }

    #[test]
    fn more_than_there_is_is_refused() {
        let segment = Segment::create(PAGE).unwrap();
        for bytes in [1 << 50, isize::MAX as usize, usize::MAX] {
            let error = segment.carve_untouched(bytes).map(drop).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
        }
        assert_eq!(segment.carve_untouched(PAGE).unwrap().0, PAGE as u64);
    }

    #[test]
    fn outside_is_refused() {
        let segment = Segment::create(PAGE).unwrap();
        let foreign = Foreign::open(std::process::id(), segment.memfd()).unwrap();
        for (offset, bytes) in [
            (0, 2 * PAGE),
            (PAGE as u64, PAGE),
            (1, 8),
            (u64::MAX - 4095, PAGE),
            (0, 0),
        ] {
            assert!(foreign.map(offset, bytes).is_err(), "{offset} {bytes}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        let file = std::fs::File::open("/proc/self/stat").unwrap();
        assert!(Foreign::open(std::process::id(), file.as_raw_fd() as u32).is_err());
        assert!(Foreign::open(std::process::id(), 999_999).is_err());
    }
}
