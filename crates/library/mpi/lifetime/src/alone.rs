//! One MPI library in a process: two have the same names, and the program's calls go to either.

use weft_error::{Class, Error, Result};

/// What the files are called that hold an MPI library, before a version; a profiler's has further letters (`libmpiP.so`).
const NAMES: [&str; 4] = ["libmpi.so", "libmpi_abi.so", "libmpich.so", "libmpi_mt.so"];

/// An error where another MPI library is in the process.
pub fn check() -> Result<()> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    match another(&maps, check as fn() -> Result<()> as usize) {
        None => Ok(()),
        Some(other) => {
            let what = format!(
                "another MPI library is in this process, {other}: the program's calls may go to either (see `weft info PROGRAM`, \
                 LD_LIBRARY_PATH and LD_PRELOAD)"
            );
            Err(Error::new(Class::Other, what))
        }
    }
}

/// The file of an MPI library among the mappings, other than the one that the address is in.
fn another(maps: &str, own: usize) -> Option<&str> {
    let mappings = || maps.lines().filter_map(Mapping::read);
    let own = mappings().find(|mapping| mapping.holds(own))?;
    let other = mappings().find(|mapping| mapping.is_mpi() && mapping.file != own.file)?;
    Some(other.path)
}

/// A line of /proc/PID/maps: addresses, permissions, offset, device, inode, path.
struct Mapping<'a> {
    addresses: (usize, usize),
    /// Device and inode.
    file: (&'a str, &'a str),
    path: &'a str,
}

impl Mapping<'_> {
    fn read(line: &str) -> Option<Mapping<'_>> {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        let addresses = (number(start)?, number(end)?);
        let file = (words.nth(2)?, words.next()?);
        let path = line.find('/').map(|at| &line[at..])?;
        Some(Mapping {
            addresses,
            file,
            path,
        })
    }

    fn holds(&self, address: usize) -> bool {
        (self.addresses.0..self.addresses.1).contains(&address)
    }

    fn is_mpi(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let rest = NAMES.iter().find_map(|known| name.strip_prefix(known));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
        55d0-55d8 r-xp 00000000 fe:00 10 /home/me/a program\n\
        7f00-7f10 r--p 00000000 fe:00 20 /opt/weft/lib/compat/openmpi/libmpi.so.40\n\
        7f10-7f20 r-xp 00010000 fe:00 20 /opt/weft/lib/compat/openmpi/libmpi.so.40\n\
        7f30-7f40 r-xp 00000000 fe:00 30 /usr/lib/libmpiP.so\n\
        7f50-7f60 rw-p 00000000 00:00 0 \n\
        7f70-7f80 rw-p 00000000 00:00 0 [stack]\n";

    #[test]
    fn a_library_beside_ours_is_named() {
        assert_eq!(another(MAPS, 0x7f18), None);
        for name in [
            "libmpi.so.12",
            "libmpi.so",
            "libmpi_abi.so.1",
            "libmpich.so.12.2",
        ] {
            let maps = format!("{MAPS}7f90-7fa0 r-xp 00000000 fe:00 40 /usr/lib/{name}\n");
            assert_eq!(
                another(&maps, 0x7f18),
                Some(format!("/usr/lib/{name}").as_str())
            );
        }
        for name in ["libmpifort_abi.so.1", "libmpi_mpifh.so.40", "libmpi.sorted"] {
            let maps = format!("{MAPS}7f90-7fa0 r-xp 00000000 fe:00 40 /usr/lib/{name}\n");
            assert_eq!(another(&maps, 0x7f18), None, "{name}");
        }
    }

    #[test]
    fn this_process_has_one_at_most() {
        check().unwrap();
    }
}
