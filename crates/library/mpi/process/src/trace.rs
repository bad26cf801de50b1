//! Whether this process's packets are traced, and where the lines go: by `WEFT_TRACE`, which `mpiexec --trace` sets.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_kernel::{Interest, above_standard, is_ready};
use weft_transport::Peer;
use weft_transport::tracer::Lines;

/// A file's name, in which `%r` stands for the rank and `%%` for `%`; or [`STDERR`]. Empty, nothing is traced.
pub const VARIABLE: &str = "WEFT_TRACE";

const STDERR: &str = "-";

/// What the user asks for, for tools.
pub fn asked() -> String {
    variable().to_string_lossy().into_owned()
}

fn variable() -> OsString {
    std::env::var_os(VARIABLE).unwrap_or_default()
}

/// Where the lines of process `rank` of `size` go, if it is traced; or what is wrong with the place that is asked for.
pub(crate) fn lines(rank: Peer, size: u32) -> Result<Option<Arc<dyn Lines>>, String> {
    let pattern = variable();
    if pattern.is_empty() {
        return Ok(None);
    }
    let file = match pattern == STDERR {
        true => None,
        false => Some(
            create(pattern.as_bytes(), rank, size)
                .map_err(|why| format!("{VARIABLE}={}: {why}", pattern.display()))?,
        ),
    };
    Ok(Some(Arc::new(Output {
        rank,
        file,
        has_stopped: AtomicBool::new(false),
    })))
}

fn create(pattern: &[u8], rank: Peer, size: u32) -> Result<File, String> {
    let name = name(pattern, rank, size)?;
    above_standard(|| File::create(name)).map_err(|error| error.to_string())
}

/// The name of this rank's file.
fn name(pattern: &[u8], rank: Peer, size: u32) -> Result<PathBuf, String> {
    let (mut name, mut names_rank) = (Vec::new(), false);
    let mut bytes = pattern.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'%' {
            name.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'r') => {
                names_rank = true;
                name.extend(rank.to_string().bytes());
            }
            Some(b'%') => name.push(b'%'),
            _ => return Err("`%` stands before `r`, for the rank, or before another `%`".into()),
        }
    }
    if size > 1 && !names_rank {
        return Err(
            "`%r`, which stands for the rank, is needed in the name: each has a file".into(),
        );
    }
    Ok(OsString::from_vec(name).into())
}

/// A file of this rank's, or standard error.
struct Output {
    rank: Peer,
    file: Option<File>,
    has_stopped: AtomicBool,
}

impl Lines for Output {
    /// Writes the line by one call, so that those of several threads and ranks do not mix. What cannot be written ends the trace,
    /// not the process.
    fn line(&self, line: &str) {
        if self.has_stopped.load(Ordering::Relaxed) {
            return;
        }
        let file = self.file.as_ref().map(AsRawFd::as_raw_fd);
        let written = write(
            file.unwrap_or(libc::STDERR_FILENO),
            format!("{line}\n").as_bytes(),
        );
        if let Err(error) = written
            && !self.has_stopped.swap(true, Ordering::Relaxed)
        {
            let line = format!("weft: rank {}: the trace ends here: {error}\n", self.rank);
            // If nobody can be told, nobody is.
            let _ = write(libc::STDERR_FILENO, line.as_bytes());
        }
    }
}

/// How long a reader may leave no room where writing does not wait.
const PATIENCE_MS: i32 = 1000;

/// Writes all of `bytes`. That there is no reader any more is an error here, and not a signal to the process.
fn write(descriptor: RawFd, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: each call has valid structures of this function's own, and changes no more than this thread's mask, which is
    // set back.
    unsafe {
        let mut pipe: libc::sigset_t = std::mem::zeroed();
        let (mut before, mut pending) = (pipe, pipe);
        libc::sigemptyset(&mut pipe);
        libc::sigaddset(&mut pipe, libc::SIGPIPE);
        libc::sigpending(&mut pending);
        let was_pending = libc::sigismember(&pending, libc::SIGPIPE) == 1;
        libc::pthread_sigmask(libc::SIG_BLOCK, &pipe, &mut before);
        let written = write_all(descriptor, bytes);
        if !was_pending && written.is_err() {
            let at_once: libc::timespec = std::mem::zeroed();
            libc::sigtimedwait(&pipe, std::ptr::null_mut(), &at_once);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        written
    }
}

fn write_all(descriptor: RawFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: the bytes are valid for reads of their length.
        let written = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) => bytes = &bytes[written..],
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error if error.kind() == io::ErrorKind::WouldBlock => {
                    let has_room = is_ready(&descriptor, Interest::Writing, PATIENCE_MS);
                    has_room.then_some(()).ok_or(error)?;
                }
                error => return Err(error),
            },
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_holds_the_rank() {
        let of = |pattern: &str, size| name(pattern.as_bytes(), 7, size);
        assert_eq!(of("a.%r", 8), Ok("a.7".into()));
        assert_eq!(of("%r%%r.%r", 8), Ok("7%r.7".into()));
        assert_eq!(of("alone", 1), Ok("alone".into()));
        for (pattern, why) in [
            ("alone", "`%r`"),
            ("%x", "before `r`"),
            ("%r%", "before `r`"),
        ] {
            let problem = of(pattern, 8).unwrap_err();
            assert!(problem.contains(why), "{pattern}: {problem}");
        }
    }

    /// With the signal's default, under which the process would end.
    #[test]
    fn a_reader_that_goes_away_ends_the_trace_alone() {
        let (reader, writer) = io::pipe().unwrap();
        // SAFETY: no handler is set.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        let output = Output {
            rank: 0,
            file: Some(File::from(std::os::fd::OwnedFd::from(writer))),
            has_stopped: AtomicBool::new(false),
        };
        output.line("one");
        assert!(!output.has_stopped.load(Ordering::Relaxed));
        drop(reader);
        output.line("two");
        assert!(output.has_stopped.load(Ordering::Relaxed));
        output.line("three");
    }
}
