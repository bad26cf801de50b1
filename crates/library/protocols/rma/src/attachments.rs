//! What a process has attached to a dynamic window (MPI-5.0 §12.2.4), for others to check addresses by.
//!
//! Its owner alone writes, one thread at a time. An entry is valid while its length is not 0: the length is written last
//! when memory is attached, and first when it is detached. That a peer looks while that happens, the program excludes.

use weft_sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Pieces of memory that one process can have attached to one window at once.
pub const CAPACITY: usize = 1024;

#[repr(C)]
struct Entry {
    address: AtomicU64,
    bytes: AtomicU64,
}

/// The entries; all zeros is none.
#[repr(C, align(64))]
pub struct Attachments {
    /// No entry from here on is in use.
    end: AtomicU32,
    entries: [Entry; CAPACITY],
}

/// Why memory is not attached, or not detached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// All entries are in use.
    Full,
    /// It overlaps attached memory.
    Overlaps,
    /// No attached memory begins there.
    NotAttached,
}

impl Attachments {
    fn used(&self) -> &[Entry] {
        let end = self.end.load(Ordering::Acquire) as usize;
        &self.entries[..end.min(CAPACITY)]
    }

    /// Attaches memory; no bytes attach nothing.
    pub fn attach(&self, address: u64, bytes: u64) -> Result<(), Refused> {
        if bytes == 0 {
            return Ok(());
        }
        let overlaps = |entry: &Entry| {
            let (other, length) = entry.load();
            length != 0
                && address < other.saturating_add(length)
                && other < address.saturating_add(bytes)
        };
        if self.used().iter().any(overlaps) {
            return Err(Refused::Overlaps);
        }
        let free = |entry: &Entry| entry.bytes.load(Ordering::Relaxed) == 0;
        let place = self.entries.iter().position(free).ok_or(Refused::Full)?;
        let entry = &self.entries[place];
        entry.address.store(address, Ordering::Relaxed);
        entry.bytes.store(bytes, Ordering::Release);
        self.end.fetch_max(place as u32 + 1, Ordering::Release);
        Ok(())
    }

    /// Detaches the memory that begins at `address`.
    pub fn detach(&self, address: u64) -> Result<(), Refused> {
        let begins = |entry: &&Entry| {
            let (other, length) = entry.load();
            length != 0 && other == address
        };
        let entry = self
            .used()
            .iter()
            .find(begins)
            .ok_or(Refused::NotAttached)?;
        entry.bytes.store(0, Ordering::Release);
        Ok(())
    }

    /// Whether all of these bytes are attached, in one piece or in several that adjoin.
    pub fn contains(&self, mut address: u64, mut bytes: u64) -> bool {
        loop {
            let attached_from = |entry: &Entry| {
                let (begin, length) = entry.load();
                length.checked_sub(address.checked_sub(begin)?)
            };
            match self.used().iter().filter_map(attached_from).max() {
                Some(attached) if bytes <= attached => return true,
                None | Some(0) => return false,
                Some(attached) => {
                    address = address.saturating_add(attached);
                    bytes -= attached;
                }
            }
        }
    }
}

impl Entry {
    fn load(&self) -> (u64, u64) {
        let bytes = self.bytes.load(Ordering::Acquire);
        (self.address.load(Ordering::Relaxed), bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> Box<Attachments> {
        let entry = || Entry {
            address: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        };
        Box::new(Attachments {
            end: AtomicU32::new(0),
            entries: std::array::from_fn(|_| entry()),
        })
    }

    #[test]
    fn attached_until_detached() {
        let attachments = none();
        attachments.attach(1000, 100).unwrap();
        attachments.attach(2000, 50).unwrap();
        attachments.attach(5, 0).unwrap();
        let contained = [(1000, 100), (1050, 50), (1099, 1), (2000, 50), (1100, 0)];
        assert!(
            contained
                .iter()
                .all(|&(at, bytes)| attachments.contains(at, bytes))
        );
        let outside = [
            (999, 1),
            (1000, 101),
            (1099, 2),
            (2050, 1),
            (5, 1),
            (u64::MAX, 2),
            (1000, u64::MAX),
        ];
        assert!(
            !outside
                .iter()
                .any(|&(at, bytes)| attachments.contains(at, bytes))
        );
        for (at, bytes) in [(1000, 100), (900, 101), (1099, 1), (0, u64::MAX)] {
            assert_eq!(attachments.attach(at, bytes), Err(Refused::Overlaps));
        }
        assert_eq!(attachments.detach(1001), Err(Refused::NotAttached));
        attachments.detach(1000).unwrap();
        assert_eq!(attachments.detach(1000), Err(Refused::NotAttached));
        assert!(!attachments.contains(1000, 1) && attachments.contains(2000, 1));
        attachments.attach(2050, 10).unwrap();
        assert!(attachments.contains(2040, 20) && !attachments.contains(2040, 21));
        attachments.attach(1099, 1).unwrap();
        assert!(attachments.contains(1099, 1) && !attachments.contains(1098, 1));
    }

    #[test]
    fn full_is_refused() {
        let attachments = none();
        for index in 0..CAPACITY as u64 {
            attachments.attach(index * 10, 10).unwrap();
        }
        assert_eq!(attachments.attach(1 << 40, 1), Err(Refused::Full));
        attachments.detach(70).unwrap();
        attachments.attach(1 << 40, 1).unwrap();
        assert!(attachments.contains(1 << 40, 1) && !attachments.contains(70, 1));
    }
}
