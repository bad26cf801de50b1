//! Waiting for descriptors, one (poll(2)) or many (epoll(7)), and descriptors that wake those who wait: a bell, a timer. And
//! files without a name.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::standard::above_standard;

/// Events taken at once.
const AT_ONCE: usize = 32;

/// What is waited for on a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    Nothing,
    Reading,
    Writing,
    Both,
}

impl Interest {
    fn events(self) -> u32 {
        let bits = match self {
            Interest::Nothing => 0,
            Interest::Reading => libc::EPOLLIN | libc::EPOLLRDHUP,
            Interest::Writing => libc::EPOLLOUT,
            Interest::Both => libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLOUT,
        };
        bits as u32
    }
}

/// The descriptor that a call of the kernel makes, above the program's 0 to 2.
fn owned(make: impl FnOnce() -> RawFd) -> io::Result<OwnedFd> {
    above_standard(|| match make() {
        descriptor if descriptor < 0 => Err(io::Error::last_os_error()),
        // SAFETY: just made by the kernel, and nobody else's.
        descriptor => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
    })
}

/// Waits for many descriptors (epoll(7), level-triggered), each named by a token.
pub struct Poller(OwnedFd);

impl Poller {
    pub fn new() -> io::Result<Poller> {
        // SAFETY: takes a number.
        let make = || unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        Ok(Poller(owned(make)?))
    }

    fn control(
        &self,
        operation: i32,
        of: &impl AsRawFd,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: interest.events(),
            u64: token,
        };
        // SAFETY: the event is read during the call.
        let done =
            unsafe { libc::epoll_ctl(self.0.as_raw_fd(), operation, of.as_raw_fd(), &mut event) };
        if done == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    pub fn add(&self, of: &impl AsRawFd, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, of, token, interest)
    }

    pub fn change(&self, of: &impl AsRawFd, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, of, token, interest)
    }

    /// A descriptor that is closed is forgotten; this is for one that goes on elsewhere.
    pub fn remove(&self, of: &impl AsRawFd) {
        // It may never have been added.
        let _ = self.control(libc::EPOLL_CTL_DEL, of, 0, Interest::Nothing);
    }

    /// Waits for no longer than this, and tells the tokens of what is ready.
    pub fn wait(&self, timeout_ms: i32, mut tell: impl FnMut(u64)) -> usize {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; AT_ONCE];
        // SAFETY: the kernel writes at most so many events.
        let count = unsafe {
            libc::epoll_wait(
                self.0.as_raw_fd(),
                events.as_mut_ptr(),
                AT_ONCE as i32,
                timeout_ms,
            )
        };
        // A signal ends it too.
        let count = count.max(0) as usize;
        events[..count].iter().for_each(|event| tell(event.u64));
        count
    }

    /// The tokens of what is ready now or within this time; without end if there is none.
    pub fn ready_within(&self, timeout: Option<Duration>) -> Vec<u64> {
        // Rounded up, so that a deadline has passed when the wait for it ends.
        let rounded = |time: Duration| time.as_micros().div_ceil(1000).try_into();
        let timeout_ms = timeout.map_or(-1, |time| rounded(time).unwrap_or(i32::MAX));
        let mut tokens = Vec::with_capacity(AT_ONCE);
        self.wait(timeout_ms, |token| tokens.push(token));
        tokens
    }
}

impl AsRawFd for Poller {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// A descriptor that is ready once it was rung, until it is cleared (eventfd(2)).
pub struct Bell(OwnedFd);

impl Bell {
    pub fn new() -> io::Result<Bell> {
        // SAFETY: takes numbers.
        let make = || unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        Ok(Bell(owned(make)?))
    }

    pub fn ring(&self) {
        let one = 1u64;
        // SAFETY: reads 8 bytes. It fails only when the bell has been rung very often, and so is ready.
        unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    pub fn clear(&self) {
        clear(&self.0);
    }
}

impl AsRawFd for Bell {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Reads the count of a descriptor that has one, which makes it ready no more.
fn clear(descriptor: &OwnedFd) {
    let mut count = 0u64;
    // SAFETY: writes 8 bytes; without a count there is nothing to clear.
    unsafe { libc::read(descriptor.as_raw_fd(), (&raw mut count).cast(), 8) };
}

/// A descriptor that is ready again and again while it runs (timerfd_create(2)).
pub struct Ticker(OwnedFd);

impl Ticker {
    pub fn new() -> io::Result<Ticker> {
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: takes numbers.
        let make = || unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) };
        Ok(Ticker(owned(make)?))
    }

    /// Ticks so often from now on; not at all if that is zero.
    pub fn set(&self, period: Duration) {
        let time = libc::timespec {
            tv_sec: period.as_secs() as libc::time_t,
            tv_nsec: period.subsec_nanos().into(),
        };
        let setting = libc::itimerspec {
            it_interval: time,
            it_value: time,
        };
        // SAFETY: reads the setting, which is a valid one.
        unsafe { libc::timerfd_settime(self.0.as_raw_fd(), 0, &setting, std::ptr::null_mut()) };
    }

    pub fn clear(&self) {
        clear(&self.0);
    }
}

impl AsRawFd for Ticker {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// A file in memory that has no name; `label` is what the kernel shows of it. Its length may be sealed.
pub fn anonymous_file(label: &CStr) -> io::Result<File> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the label is a C string.
    let make = || unsafe { libc::memfd_create(label.as_ptr(), flags) };
    owned(make).map(File::from)
}

/// Whether a descriptor is ready for that, now or within so many milliseconds; without end if they are negative. One that
/// has failed, or whose other end is gone, is ready. A signal ends the wait.
pub fn is_ready(descriptor: &impl AsRawFd, interest: Interest, timeout_ms: i32) -> bool {
    let mut asked = libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events: interest.events() as libc::c_short,
        revents: 0,
    };
    // SAFETY: one structure, which is live.
    unsafe { libc::poll(&mut asked, 1, timeout_ms) > 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_is_ready_until_it_is_cleared() {
        let (poller, bell) = (Poller::new().unwrap(), Bell::new().unwrap());
        poller.add(&bell, 7, Interest::Reading).unwrap();
        let ready = || {
            let mut tokens = Vec::new();
            poller.wait(0, |token| tokens.push(token));
            tokens
        };
        assert_eq!(ready(), []);
        bell.ring();
        bell.ring();
        assert_eq!((ready(), ready()), (vec![7], vec![7]));
        bell.clear();
        assert_eq!(ready(), []);
        bell.ring();
        poller.remove(&bell);
        assert_eq!(ready(), []);
    }

    #[test]
    fn a_ticker_ticks_while_it_runs() {
        let (poller, ticker) = (Poller::new().unwrap(), Ticker::new().unwrap());
        poller.add(&ticker, 1, Interest::Reading).unwrap();
        assert_eq!(poller.wait(0, |_| ()), 0);
        ticker.set(Duration::from_millis(1));
        for _ in 0..2 {
            assert_eq!(poller.wait(10_000, |_| ()), 1);
            ticker.clear();
        }
        ticker.set(Duration::ZERO);
        ticker.clear();
        assert_eq!(poller.wait(5, |_| ()), 0);
    }

    #[test]
    fn one_descriptor_is_asked_for() {
        let (reader, writer) = std::io::pipe().unwrap();
        assert!(!is_ready(&reader, Interest::Reading, 0));
        assert!(is_ready(&writer, Interest::Writing, 0));
        drop(writer);
        assert!(is_ready(&reader, Interest::Reading, -1), "an end is ready");
    }

    #[test]
    fn a_deadline_has_passed_when_the_wait_for_it_ends() {
        let (poller, bell) = (Poller::new().unwrap(), Bell::new().unwrap());
        poller.add(&bell, 7, Interest::Reading).unwrap();
        let (begin, time) = (std::time::Instant::now(), Duration::from_micros(1_500));
        assert_eq!(poller.ready_within(Some(time)), []);
        assert!(begin.elapsed() >= time);
        bell.ring();
        assert_eq!(poller.ready_within(None), [7]);
    }
}
