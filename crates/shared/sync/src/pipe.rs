//! A pipe on which one process sleeps, together with other descriptors (poll(2)), and by which others wake it (pipe(7)).

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// One process's descriptor of a pipe.
pub struct Pipe(OwnedFd);

/// What a wait has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub rung: bool,
    /// One of the other descriptors is readable, or has failed.
    pub other: bool,
}

impl Pipe {
    /// Descriptors that are slept on beside it, at most.
    pub const OTHERS: usize = 7;

    /// A descriptor of a pipe that is open for reading *and* writing, so that no write finds the pipe without a reader, which
    /// would be the signal SIGPIPE; and non-blocking.
    pub fn new(descriptor: OwnedFd) -> Pipe {
        Pipe(descriptor)
    }

    /// Has the sleeper wake, or its next sleep end at once. A full pipe does so already; nothing else can fail.
    pub fn ring(&self) {
        // SAFETY: one byte, which is there.
        unsafe { libc::write(self.0.as_raw_fd(), [0u8].as_ptr().cast(), 1) };
    }

    /// Sleeps until the pipe was rung or one of `others`, at most [`OTHERS`](Self::OTHERS), is readable, at most `timeout`. May wake for no
    /// reason.
    pub fn wait(&self, timeout: Duration, others: &[RawFd]) -> Found {
        let poll = |fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let mut polled = [poll(self.0.as_raw_fd()); Pipe::OTHERS + 1];
        for (place, &other) in polled[1..][..others.len()].iter_mut().zip(others) {
            *place = poll(other);
        }
        let polled = &mut polled[..=others.len()];
        let timeout_ms = timeout.as_micros().div_ceil(1000).min(i32::MAX as u128) as i32;
        // SAFETY: the array is as long as said.
        let ready = unsafe {
            libc::poll(
                polled.as_mut_ptr(),
                polled.len() as libc::nfds_t,
                timeout_ms,
            )
        };
        // Without one, what stands in the array is what was put there.
        if ready <= 0 {
            return Found::default();
        }
        Found {
            rung: polled[0].revents != 0,
            other: polled[1..].iter().any(|other| other.revents != 0),
        }
    }

    /// Takes what was rung. A rest ends the next sleep at once.
    pub fn drain(&self) {
        let mut bytes = [0u8; 256];
        // SAFETY: the array is as long as said.
        unsafe { libc::read(self.0.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len()) };
    }
}

impl AsRawFd for Pipe {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    use std::time::Instant;

    fn pipe() -> Pipe {
        let (_reader, writer) = std::io::pipe().unwrap();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(format!("/proc/self/fd/{}", writer.as_raw_fd()));
        Pipe::new(file.unwrap().into())
    }

    const RUNG: Found = Found {
        rung: true,
        other: false,
    };
    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_ring_before_the_wait_is_kept_until_it_is_taken() {
        let pipe = pipe();
        pipe.ring();
        pipe.ring();
        assert_eq!(pipe.wait(LONG, &[]), RUNG);
        assert_eq!(pipe.wait(LONG, &[]), RUNG);
        pipe.drain();
        let begin = Instant::now();
        let none = pipe.wait(Duration::from_micros(19_500), &[]);
        assert_eq!(none, Found::default());
        assert!(begin.elapsed() >= Duration::from_micros(19_500));
    }

    #[test]
    fn a_full_pipe_is_rung_already() {
        let pipe = pipe();
        for _ in 0..(1 << 16) + 10 {
            pipe.ring();
        }
        assert_eq!(pipe.wait(LONG, &[]), RUNG);
        pipe.drain();
        assert_eq!(pipe.wait(LONG, &[]), RUNG, "the rest");
    }

    #[test]
    fn other_descriptors_end_the_sleep() {
        let pipe = pipe();
        let others = [(); Pipe::OTHERS].map(|()| std::io::pipe().unwrap());
        let descriptors = others.each_ref().map(|(reader, _)| reader.as_raw_fd());
        let last = &others[Pipe::OTHERS - 1].1;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(5));
                (&mut &*last).write_all(b"x").unwrap();
            });
            let found = pipe.wait(LONG, &descriptors);
            assert_eq!((found.rung, found.other), (false, true));
        });
        pipe.ring();
        let found = pipe.wait(LONG, &descriptors);
        assert_eq!((found.rung, found.other), (true, true));
        assert_eq!(pipe.wait(LONG, &descriptors[1..3]), RUNG);
    }
}
