//! What ranks have left running.

use crate::agent::Children;
use crate::sys::{self, Pid, Reaped};
use std::time::{Duration, Instant};

/// For what ranks have left running, between SIGTERM and SIGKILL.
const LEFTOVER_TIME: Duration = Duration::from_millis(500);

/// Ends what ranks have left running: as their orphans, they have become children of this process. The launchers of agents
/// are not among them.
pub fn end_leftovers(mut launchers: Option<&mut Children>) {
    let until = Instant::now() + LEFTOVER_TIME;
    let mut told = Vec::new();
    loop {
        match sys::reap() {
            Reaped::NoChildren => return,
            Reaped::Child(pid, ended) => {
                if let Some(launchers) = &mut launchers {
                    launchers.reaped(pid, ended);
                }
                continue;
            }
            Reaped::NoneEnded => {}
        }
        let is_launcher = |pid: &Pid| {
            launchers
                .as_ref()
                .is_some_and(|launchers| launchers.owns(*pid))
        };
        let left: Vec<Pid> = sys::children()
            .into_iter()
            .filter(|pid| !is_launcher(pid))
            .collect();
        if left.is_empty() {
            return;
        }
        let late = Instant::now() >= until;
        for pid in left {
            if late {
                sys::kill(pid, libc::SIGKILL);
            } else if !told.contains(&pid) {
                told.push(pid);
                sys::kill(pid, libc::SIGTERM);
                sys::kill(pid, libc::SIGCONT);
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
