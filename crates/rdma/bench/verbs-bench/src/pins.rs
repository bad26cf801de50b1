//! Where threads run: each on a processor of its own when there are enough, else wherever the kernel puts them.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// The processors that this process may use.
pub fn processors() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else {
        return Vec::new();
    };
    (0..CpuSet::count())
        .filter(|&cpu| set.is_set(cpu).unwrap_or(false))
        .collect()
}

/// A processor for each thread, or none for any.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    cpus: Option<Vec<usize>>,
    threads: usize,
    available: usize,
}

impl Placement {
    /// For `threads` busy threads, all processes of the run together.
    pub fn of(threads: usize, processors: &[usize]) -> Placement {
        let enough = threads <= processors.len();
        Placement {
            cpus: enough.then(|| processors[..threads].to_vec()),
            threads,
            available: processors.len(),
        }
    }

    pub fn is_pinned(&self) -> bool {
        self.cpus.is_some()
    }

    /// What stands beside the figures.
    pub fn line(&self) -> String {
        let (threads, available) = (self.threads, self.available);
        if self.is_pinned() {
            format!("{threads} threads, each on a processor of its own")
        } else {
            format!("{threads} threads on {available} processors, not pinned")
        }
    }

    /// The same for `count` of the threads from `first` on, which another process has.
    pub fn part(&self, first: usize, count: usize) -> Placement {
        let part = |cpus: &Vec<usize>| cpus[first..first + count].to_vec();
        Placement {
            cpus: self.cpus.as_ref().map(part),
            ..self.clone()
        }
    }

    /// Puts the calling thread on the processor of thread `index`; false where the kernel refused.
    pub fn pin(&self, index: usize) -> bool {
        let Some(cpu) = self.cpus.as_ref().and_then(|cpus| cpus.get(index)) else {
            return true;
        };
        let mut set = CpuSet::new();
        set.set(*cpu).is_ok() && sched_setaffinity(Pid::from_raw(0), &set).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_pinned_while_each_has_a_processor() {
        let two = Placement::of(2, &[4, 6]);
        assert_eq!(two.cpus.as_deref(), Some(&[4, 6][..]));
        assert_eq!(two.part(1, 1).cpus.as_deref(), Some(&[6][..]));
        let three = Placement::of(3, &[4, 6]);
        assert!(!three.is_pinned() && three.pin(0));
        assert_eq!(three.line(), "3 threads on 2 processors, not pinned");
    }

    #[test]
    fn a_pinned_thread_runs_where_it_was_put() {
        let all = processors();
        let last = *all.last().unwrap();
        let place = Placement::of(1, &[last]);
        let seen = std::thread::spawn(move || {
            assert!(place.pin(0));
            processors()
        });
        assert_eq!(seen.join().unwrap(), [last]);
        assert_eq!(processors(), all, "other threads stay where they were");
    }
}
