//! Access modes (MPI-5.0 §14.2.1).

use weft_error::{Class, Error, Result, argument};
use weft_file::{Creation, Permission};

/// The modes' bits, with the ABI's numbers.
const APPEND: i32 = 1;
const CREATE: i32 = 2;
const DELETE_ON_CLOSE: i32 = 4;
const EXCL: i32 = 8;
const RDONLY: i32 = 16;
const RDWR: i32 = 32;
const SEQUENTIAL: i32 = 64;
/// The operating system caches alike for all.
const UNIQUE_OPEN: i32 = 128;
const WRONLY: i32 = 256;
const ALL: i32 =
    APPEND | CREATE | DELETE_ON_CLOSE | EXCL | RDONLY | RDWR | SEQUENTIAL | UNIQUE_OPEN | WRONLY;

/// A valid access mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode(i32);

impl Mode {
    pub fn new(bits: i32) -> Result<Mode> {
        if bits & !ALL != 0 {
            return Err(wrong(bits, "has bits that are no access mode"));
        }
        let has = |bit: i32| bits & bit != 0;
        if [RDONLY, RDWR, WRONLY]
            .map(has)
            .iter()
            .filter(|&&is| is)
            .count()
            != 1
        {
            let what = "needs one of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY";
            return Err(wrong(bits, what));
        }
        if has(RDONLY) && (has(CREATE) || has(EXCL)) {
            let what = "has MPI_MODE_CREATE or MPI_MODE_EXCL with MPI_MODE_RDONLY";
            return Err(wrong(bits, what));
        }
        if has(RDWR) && has(SEQUENTIAL) {
            return Err(wrong(bits, "has MPI_MODE_SEQUENTIAL with MPI_MODE_RDWR"));
        }
        Ok(Mode(bits))
    }

    pub fn bits(self) -> i32 {
        self.0
    }

    fn has(self, bit: i32) -> bool {
        self.0 & bit != 0
    }

    pub fn permission(self) -> Permission {
        match (self.has(RDONLY), self.has(WRONLY)) {
            (true, _) => Permission::Read,
            (_, true) => Permission::Write,
            _ => Permission::ReadWrite,
        }
    }

    /// What the first process does to have a file.
    pub fn creation(self) -> Creation {
        match (self.has(CREATE), self.has(EXCL)) {
            (true, true) => Creation::CreateNew,
            (true, false) => Creation::Create,
            (false, _) => Creation::MustExist,
        }
    }

    pub fn appends(self) -> bool {
        self.has(APPEND)
    }

    pub fn deletes_on_close(self) -> bool {
        self.has(DELETE_ON_CLOSE)
    }

    pub fn is_sequential(self) -> bool {
        self.has(SEQUENTIAL)
    }

    pub fn check_readable(self) -> Result<()> {
        match self.has(WRONLY) {
            false => Ok(()),
            true => Err(argument(Class::Access, "fh", "opened with MPI_MODE_WRONLY")),
        }
    }

    pub fn check_writable(self) -> Result<()> {
        match self.has(RDONLY) {
            false => Ok(()),
            true => Err(argument(
                Class::ReadOnly,
                "fh",
                "opened with MPI_MODE_RDONLY",
            )),
        }
    }

    /// Of a call that MPI_MODE_SEQUENTIAL does not allow: only shared pointers are there then.
    pub fn check_random(self) -> Result<()> {
        let what = "opened with MPI_MODE_SEQUENTIAL, which has shared file pointers only";
        match self.is_sequential() {
            false => Ok(()),
            true => Err(argument(Class::UnsupportedOperation, "fh", what)),
        }
    }
}

#[cold]
fn wrong(bits: i32, what: &str) -> Error {
    argument(Class::Amode, "amode", format_args!("{bits} {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_way_of_access_and_no_contradictions() {
        for bits in 0..=ALL {
            let ways = [RDONLY, RDWR, WRONLY]
                .iter()
                .filter(|&&way| bits & way != 0);
            let wrong = ways.count() != 1
                || (bits & RDONLY != 0 && bits & (CREATE | EXCL) != 0)
                || (bits & RDWR != 0 && bits & SEQUENTIAL != 0);
            let class = Mode::new(bits).err().map(|error| error.class);
            assert_eq!(class, wrong.then_some(Class::Amode), "{bits}");
        }
        assert!(Mode::new(ALL + 1 + RDONLY).is_err() && Mode::new(-1).is_err());
    }
}
