//! A mark in the environment of a job, inherited by all that it starts, whatever becomes of its parents and groups.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::unistd::Pid;

const NAME: &str = "WEFT_BENCH_JOB";
/// Where MPI libraries keep named shared memory.
const SHARED_FOLDER: &str = "/dev/shm/";

#[derive(Debug)]
pub struct Mark(String);

impl Mark {
    /// Another mark at every call, in every process.
    pub fn new() -> Mark {
        // Written and read here only; the order between marks does not matter.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        Mark(format!(
            "{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        ))
    }

    pub fn put_on(&self, command: &mut Command) {
        command.env(NAME, &self.0);
    }

    /// The living processes that bear the mark.
    pub fn processes(&self) -> Vec<Pid> {
        let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|&pid| self.is_on(pid))
            .map(Pid::from_raw)
            .collect()
    }

    /// A process that has ended and was not yet waited for has an empty environment.
    fn is_on(&self, pid: i32) -> bool {
        let entry = format!("{NAME}={}", self.0);
        fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
            environment
                .split(|&b| b == 0)
                .any(|e| e == entry.as_bytes())
        })
    }

    /// The files in the folder of shared memory that its processes have mapped.
    pub fn shared_files(&self) -> BTreeSet<PathBuf> {
        let maps = self
            .processes()
            .into_iter()
            .filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/maps")).ok());
        maps.flat_map(|text| mapped_shared_files(&text)).collect()
    }
}

fn mapped_shared_files(maps: &str) -> Vec<PathBuf> {
    let paths = maps
        .lines()
        .filter_map(|line| line.find(SHARED_FOLDER).map(|at| &line[at..]));
    paths
        .filter(|path| !path.ends_with(" (deleted)"))
        .map(PathBuf::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::process::Stdio;

    #[test]
    fn marked_processes_are_found_and_others_not() {
        let (mark, other) = (Mark::new(), Mark::new());
        let mut command = Command::new("cat");
        mark.put_on(&mut command);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // What it has echoed, it has read after exec; before, Linux may show an empty environment.
        child.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        let mut echo = [0];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut echo)
            .unwrap();
        let found = mark.processes();
        let found_by_other = other.processes();
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(found, [Pid::from_raw(child.id().cast_signed())]);
        assert_eq!(found_by_other, []);
        assert_eq!(mark.processes(), []);
    }

    #[test]
    fn only_files_that_still_have_their_name_are_listed() {
        let maps = "\
7f00-7f10 rw-s 00000000 00:19 5    /dev/shm/mpich_shm_1_0
7f10-7f20 rw-s 00000000 00:19 6    /dev/shm/gone (deleted)
7f20-7f30 r--p 00000000 08:01 7    /usr/lib/libc.so.6
";
        assert_eq!(
            mapped_shared_files(maps),
            [PathBuf::from("/dev/shm/mpich_shm_1_0")]
        );
    }
}
