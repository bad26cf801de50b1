//! Hints of windows (MPI-5.0 §12.2.1, §12.2.7). `alloc_shared_noncontig` and
//! `mpi_minimum_memory_alignment` decide where memory is; the others promise what this
//! library need not know, and are kept for who asks.

use std::ffi::CStr;

use weft_error::Result;
use weft_handle::InfoId;
use weft_objects::{info, memory};

use super::figures::Flavor;

/// What an access can be followed by out of order, if it is left out of `accumulate_ordering`.
const ORDERINGS: [&str; 4] = ["rar", "raw", "war", "waw"];

/// The hints of one window, with the standard's defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hints {
    no_locks: bool,
    accumulate_ordering: String,
    accumulate_ops: &'static str,
    accumulate_granularity: u64,
    same_size: bool,
    same_disp_unit: bool,
    /// Whether the parts of shared memory need not follow each other.
    pub noncontiguous: bool,
    /// What the address of the part is a multiple of, where the library allocates it: bytes, a power of two.
    pub alignment: usize,
    /// What the program has asked for in that: bytes, a power of two.
    pub asked_alignment: usize,
}

/// What pieces of shared memory have: a page of x86-64.
pub const PAGE: usize = 4096;

impl Default for Hints {
    fn default() -> Hints {
        Hints {
            no_locks: false,
            accumulate_ordering: ORDERINGS.join(","),
            accumulate_ops: "same_op_no_op",
            accumulate_granularity: 0,
            same_size: false,
            same_disp_unit: false,
            noncontiguous: false,
            alignment: PAGE,
            asked_alignment: 1,
        }
    }
}

impl Hints {
    /// Those that an info object has, others as they are. A value that a hint cannot have is no hint (MPI-5.0 §10).
    pub fn update(&mut self, info: InfoId) -> Result<()> {
        info::check(info)?;
        let text = |key: &CStr| -> Result<Option<String>> {
            let value = info::value(info, key)?;
            Ok(value.map(|value| value.to_string_lossy().into_owned()))
        };
        for (key, place) in [
            (c"no_locks", &mut self.no_locks),
            (c"same_size", &mut self.same_size),
            (c"same_disp_unit", &mut self.same_disp_unit),
            (c"alloc_shared_noncontig", &mut self.noncontiguous),
        ] {
            *place = match text(key)?.as_deref() {
                Some("true") => true,
                Some("false") => false,
                _ => *place,
            };
        }
        if let Some(ordering) = text(c"accumulate_ordering")?.filter(|text| is_ordering(text)) {
            self.accumulate_ordering = ordering;
        }
        match text(c"accumulate_ops")?.as_deref() {
            Some("same_op") => self.accumulate_ops = "same_op",
            Some("same_op_no_op") => self.accumulate_ops = "same_op_no_op",
            _ => {}
        }
        let granularity = text(c"mpi_accumulate_granularity")?;
        if let Some(bytes) = granularity.and_then(|text| text.parse().ok()) {
            self.accumulate_granularity = bytes;
        }
        if let Some(wanted) = memory::wanted_alignment(info)? {
            (self.alignment, self.asked_alignment) = (wanted.max(PAGE), wanted);
        }
        Ok(())
    }

    /// Says how far memory at an address is aligned: parts that follow each other may be less than was asked for.
    pub fn allocated_at(&mut self, base: *const u8) {
        if !base.is_null() {
            self.alignment = self.alignment.min(1 << base.addr().trailing_zeros());
        }
    }

    pub fn pairs(&self, flavor: Flavor) -> Vec<(&'static CStr, String)> {
        let allocated = matches!(flavor, Flavor::Allocate | Flavor::Shared);
        let mut pairs = vec![
            (c"no_locks", self.no_locks.to_string()),
            (c"accumulate_ordering", self.accumulate_ordering.clone()),
            (c"accumulate_ops", self.accumulate_ops.to_owned()),
            (
                c"mpi_accumulate_granularity",
                self.accumulate_granularity.to_string(),
            ),
            (c"same_size", self.same_size.to_string()),
            (c"same_disp_unit", self.same_disp_unit.to_string()),
        ];
        if allocated {
            pairs.push((c"alloc_shared_noncontig", self.noncontiguous.to_string()));
            pairs.push((memory::ALIGNMENT, self.alignment.to_string()));
        }
        pairs
    }
}

fn is_ordering(text: &str) -> bool {
    text == "none" || text.split(',').all(|part| ORDERINGS.contains(&part.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn updated(pairs: &[(&CStr, &str)]) -> Hints {
        let mut hints = Hints::default();
        hints.update(info::create_with(pairs).unwrap()).unwrap();
        hints
    }

    #[test]
    fn values_that_are_none_change_nothing() {
        let wrong = [
            (c"no_locks", "yes"),
            (c"accumulate_ordering", "rar,wow"),
            (c"accumulate_ops", "any"),
            (c"mpi_accumulate_granularity", "-1"),
            (c"unknown", "true"),
        ];
        assert_eq!(updated(&wrong), Hints::default());
    }

    #[test]
    fn values_come_back() {
        let right = [
            (c"no_locks", "true"),
            (c"accumulate_ordering", "none"),
            (c"accumulate_ops", "same_op"),
            (c"mpi_accumulate_granularity", "64"),
            (c"same_size", "true"),
            (c"same_disp_unit", "false"),
        ];
        let pairs = updated(&right).pairs(Flavor::Create);
        let right = right.map(|(key, value)| (key, value.to_owned()));
        assert_eq!(pairs.len(), right.len());
        assert!(right.iter().all(|pair| pairs.contains(pair)));
    }
}
