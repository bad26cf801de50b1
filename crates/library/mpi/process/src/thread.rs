//! Threads of the library's own. They are started by pthread_create(3), which tells of a lack of memory: `std::thread`
//! ends the process.

use std::ffi::{CStr, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;

use libc::pthread_t;

/// Bytes that are asked for beside a thread's stack. They are more than the pages of 4 KiB in which glibc puts each of
/// some ten notes of a thread for which it can make no heap: it ends a process that has no memory for those.
const NOTES_BYTES: usize = 256 << 10;

type Run = Box<dyn FnOnce() + Send>;

/// A thread that has been started, to be waited for.
pub struct Thread {
    number: pthread_t,
    /// The thread has another one until it ends.
    running: Arc<()>,
}

impl Thread {
    /// Starts a thread, if there is memory for it. Its name, of at most 15 bytes, is for debuggers.
    pub fn start(
        name: &'static CStr,
        stack_bytes: usize,
        run: impl FnOnce() + Send + 'static,
    ) -> io::Result<Thread> {
        let has_memory = weft_reserve::probe(NOTES_BYTES)
            .and_then(|()| weft_reserve::probe_addresses(stack_bytes.saturating_add(NOTES_BYTES)));
        has_memory.map_err(|_| io::ErrorKind::OutOfMemory)?;
        let running = Arc::new(());
        let of_thread = running.clone();
        let run: Box<Run> = Box::new(Box::new(move || {
            let _running = of_thread;
            // SAFETY: the calling thread, and a string that ends with a zero; a name that is too long is refused.
            unsafe { libc::pthread_setname_np(libc::pthread_self(), name.as_ptr()) };
            run();
        }));
        // A signal of the program's goes to threads of the program's.
        let _signals = Signals::block();
        let number = create(stack_bytes, Box::into_raw(run))?;
        Ok(Thread { number, running })
    }

    pub(crate) fn is_ended(&self) -> bool {
        Arc::strong_count(&self.running) == 1
    }

    pub(crate) fn is_current(&self) -> bool {
        // SAFETY: takes numbers only.
        unsafe { libc::pthread_equal(self.number, libc::pthread_self()) != 0 }
    }

    /// Has nobody wait for it.
    pub fn detach(self) {
        // SAFETY: the thread was not waited for, and is not from here on.
        unsafe { libc::pthread_detach(self.number) };
    }

    /// Waits until it has ended.
    pub(crate) fn join(self) {
        // SAFETY: the thread was not waited for, and is not from here on.
        unsafe { libc::pthread_join(self.number, std::ptr::null_mut()) };
    }
}

/// Starts a thread that runs and drops what `run` points to, which is dropped too where there can be no thread.
fn create(stack_bytes: usize, run: *mut Run) -> io::Result<pthread_t> {
    let mut attributes = MaybeUninit::uninit();
    let mut thread = MaybeUninit::uninit();
    // SAFETY: the attributes are initialised before they are used, and destroyed once; `begin` has `run` to itself.
    let code = unsafe {
        libc::pthread_attr_init(attributes.as_mut_ptr());
        let attributes = attributes.as_mut_ptr();
        let code = match libc::pthread_attr_setstacksize(attributes, stack_bytes) {
            0 => libc::pthread_create(thread.as_mut_ptr(), attributes, begin, run.cast()),
            code => code,
        };
        libc::pthread_attr_destroy(attributes);
        code
    };
    if code != 0 {
        // SAFETY: it comes from `Box::into_raw`, and no thread has it.
        drop(unsafe { Box::from_raw(run) });
        return Err(io::Error::from_raw_os_error(code));
    }
    // SAFETY: the call that gives the number has succeeded.
    Ok(unsafe { thread.assume_init() })
}

/// A panic ends the process, as it cannot leave this function.
extern "C" fn begin(run: *mut c_void) -> *mut c_void {
    // SAFETY: it comes from `Box::into_raw`, for this thread alone.
    let run = unsafe { Box::from_raw(run.cast::<Run>()) };
    run();
    std::ptr::null_mut()
}

/// The calling thread's signals, all of them blocked while this exists.
struct Signals(libc::sigset_t);

impl Signals {
    fn block() -> Signals {
        // SAFETY: both sets are valid, and the first is filled before it is used.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            Signals(before)
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: a valid set, as the thread had it before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_thread_runs_and_is_waited_for() {
        let runs = Arc::new(AtomicUsize::new(0));
        let of_thread = runs.clone();
        let thread = Thread::start(c"weft-test", 64 << 10, move || {
            of_thread.fetch_add(1, Ordering::Relaxed);
        })
        .unwrap();
        assert!(!thread.is_current());
        // SAFETY: takes nothing.
        let number = unsafe { libc::pthread_self() };
        let running = Arc::default();
        let own = Thread { number, running };
        assert!(own.is_current() && own.is_ended());
        thread.join();
        assert_eq!(
            (runs.load(Ordering::Relaxed), Arc::strong_count(&runs)),
            (1, 1)
        );
    }

    #[test]
    fn a_thread_for_which_there_is_no_memory_is_an_error() {
        let kept = Arc::new(());
        for (stack_bytes, kind) in [
            (1 << 60, io::ErrorKind::OutOfMemory),
            (1, io::ErrorKind::InvalidInput),
        ] {
            let of_thread = kept.clone();
            let error = Thread::start(c"weft-test", stack_bytes, move || drop(of_thread))
                .err()
                .unwrap();
            assert_eq!((error.kind(), Arc::strong_count(&kept)), (kind, 1));
        }
    }
}
