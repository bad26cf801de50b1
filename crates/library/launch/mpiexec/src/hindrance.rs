//! What keeps a program from the libraries that are set for it, in a line.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const SET_USER_ID: u32 = 0o4000;
const SET_GROUP_ID: u32 = 0o2000;

/// Whether the dynamic linker ignores the environment of the program (ld.so(8), secure-execution mode): it gets rights that who
/// starts it does not have.
pub fn is_privileged(program: &Path) -> bool {
    let (Ok(program), Ok(process)) = (program.metadata(), Path::new("/proc/self").metadata())
    else {
        return false;
    };
    let gains = |bit, owner, own| program.mode() & bit != 0 && owner != own;
    gains(SET_USER_ID, program.uid(), process.uid())
        || gains(SET_GROUP_ID, program.gid(), process.gid())
}

/// The MPI library in a list of files to load first that does not lie below `prefix`.
pub fn preloaded(list: &OsStr, prefix: &Path) -> Option<OsString> {
    let entries = list.as_bytes().split(|byte| b": ".contains(byte));
    let entries = entries.map(OsStr::from_bytes).map(Path::new);
    let mut others = entries.filter(|entry| {
        let name = entry.file_name().unwrap_or_default().as_bytes();
        let is_mpi = [&b"libmpi.so"[..], b"libmpich.so", b"libmpi_abi.so"]
            .iter()
            .any(|known| name.starts_with(known));
        is_mpi
            && !entry
                .canonicalize()
                .is_ok_and(|path| path.starts_with(prefix))
    });
    others.next().map(|entry| entry.as_os_str().to_owned())
}

/// Whether Open MPI is inside the file of a static program.
pub fn has_open_mpi_inside(program: &Path) -> bool {
    // Part of what it says when it cannot begin.
    const SAID: &[u8] = b"ompi_mpi_init: ";
    let file = std::fs::read(program).unwrap_or_default();
    file.windows(SAID.len()).any(|words| words == SAID)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn rights_that_a_program_gains() {
        let program = std::env::temp_dir().join(format!("weft-hindrance-{}", std::process::id()));
        fs::write(&program, "").unwrap();
        for (mode, owner, expected) in [
            (0o4755, 1, true),
            (0o2755, 1, true),
            (0o4755, 0, false),
            (0o755, 1, false),
        ] {
            // Only root can give a file away.
            if std::os::unix::fs::chown(&program, Some(owner), Some(owner)).is_ok() {
                fs::set_permissions(&program, Permissions::from_mode(mode)).unwrap();
                assert_eq!(is_privileged(&program), expected, "{mode:o} of {owner}");
            }
        }
        fs::remove_file(&program).unwrap();
    }

    #[test]
    fn libraries_that_are_loaded_first() {
        let prefix = Path::new("/proc");
        let found = |list: &str| preloaded(list.as_ref(), prefix);
        assert_eq!(found("/usr/lib/libtool.so:/usr/lib/libmpiP.so"), None);
        assert_eq!(
            found("libasan.so /opt/libmpi.so.40.30.4"),
            Some("/opt/libmpi.so.40.30.4".into())
        );
        assert_eq!(found("/opt/libmpi.so"), Some("/opt/libmpi.so".into()));
    }
}
