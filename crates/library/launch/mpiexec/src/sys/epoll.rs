//! Waiting for many descriptors at once.

use super::check;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

pub struct Epoll {
    fd: OwnedFd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    Read,
    Write,
    ReadWrite,
}

impl Interest {
    fn events(self) -> u32 {
        let events = match self {
            Interest::Read => libc::EPOLLIN,
            Interest::Write => libc::EPOLLOUT,
            Interest::ReadWrite => libc::EPOLLIN | libc::EPOLLOUT,
        };
        events as u32
    }
}

impl Epoll {
    pub fn new() -> io::Result<Epoll> {
        // SAFETY: no pointers; the descriptor is new and ours.
        unsafe {
            Ok(Epoll {
                fd: OwnedFd::from_raw_fd(check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?),
            })
        }
    }

    /// `token` comes back from [`Epoll::wait`] while the descriptor is ready.
    pub fn add(&self, fd: &impl AsRawFd, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, token, interest)
    }

    pub fn change(&self, fd: &impl AsRawFd, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, token, interest)
    }

    pub fn remove(&self, fd: &impl AsRawFd) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, fd, 0, Interest::Read)
    }

    fn control(
        &self,
        operation: libc::c_int,
        fd: &impl AsRawFd,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: interest.events(),
            u64: token,
        };
        // SAFETY: the event is live for the call.
        check(unsafe {
            libc::epoll_ctl(self.fd.as_raw_fd(), operation, fd.as_raw_fd(), &mut event)
        })
        .map(drop)
    }

    /// Fills `tokens` with those of ready descriptors; waits until there is one, at most `timeout`.
    pub fn wait(&self, tokens: &mut Vec<u64>, timeout: Option<Duration>) -> io::Result<()> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 64];
        // Rounded up, so that a deadline has passed when the wait for it ends.
        let timeout_ms = timeout.map_or(-1, |time| {
            time.as_micros()
                .div_ceil(1000)
                .try_into()
                .unwrap_or(i32::MAX)
        });
        tokens.clear();
        // SAFETY: the array is live and its length is passed.
        let count = unsafe {
            libc::epoll_wait(
                self.fd.as_raw_fd(),
                events.as_mut_ptr(),
                events.len() as libc::c_int,
                timeout_ms,
            )
        };
        match check(count) {
            Ok(count) => tokens.extend(events[..count as usize].iter().map(|event| event.u64)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
