//! Two processes, and a small engine for each: blocking receive, sends that finish later.

use std::cell::UnsafeCell;
use std::collections::{HashMap, VecDeque};
use std::os::fd::RawFd;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use weft_memory::Memory;
use weft_shm::{Options, Shm, ShmEndpoint};
use weft_transport::{
    BulkDescriptor, Cookie, Directory, Endpoint, Fabric, Header, Lost, Near, Peer, Refused, Sink,
};

const EAGER: u64 = 0;
const OFFER: u64 = 1;
/// After this long anything counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the two share from before the fork.
#[repr(C)]
struct Common {
    arrived: [AtomicU64; 2],
    bytes: [AtomicU64; 2],
    cards: [UnsafeCell<[u8; 256]>; 2],
}

/// The job and the host that the two are on.
#[derive(Clone, Copy)]
pub struct Job {
    pub options: Options,
    pub local_ranks: &'static [Peer],
    /// Theirs.
    pub ranks: [Peer; 2],
    /// They sleep on descriptors.
    pub several_hosts: bool,
}

impl Job {
    pub fn with_options(options: Options) -> Job {
        Job {
            options,
            local_ranks: &[0, 1],
            ranks: [0, 1],
            several_hosts: false,
        }
    }

    /// Of more hosts than this, on which few of many ranks are.
    pub fn of_several_hosts(options: Options) -> Job {
        Job {
            options,
            local_ranks: &[3, 17, 100_004],
            ranks: [17, 100_004],
            several_hosts: true,
        }
    }
}

struct Cards {
    ranks: [Peer; 2],
    cards: Arc<OnceLock<[String; 2]>>,
}

impl Directory for Cards {
    fn card(&self, peer: Peer) -> Result<String, String> {
        let cards = self.cards.get().ok_or("no cards yet")?;
        let side = self.ranks.iter().position(|&rank| rank == peer);
        Ok(cards[side.ok_or("it has no card")?].clone())
    }
}

#[derive(Default)]
struct Inbox {
    packets: VecDeque<(Header, Vec<u8>)>,
    received: Vec<Cookie>,
    sent: Vec<Cookie>,
    lost: Option<(Peer, String)>,
    connects: bool,
}

impl Sink for Inbox {
    fn packet(&mut self, _: Peer, header: Header, payload: &[u8]) {
        self.packets.push_back((header, payload.to_vec()));
    }
    fn sent(&mut self, cookie: Cookie) {
        self.sent.push(cookie);
    }
    fn received(&mut self, cookie: Cookie) {
        self.received.push(cookie);
    }
    fn writable(&mut self, _: Peer) {}
    fn connect(&mut self, _: Peer) {
        self.connects = true;
    }
    fn lost(&mut self, peer: Peer, lost: &Lost) {
        self.lost = Some((peer, lost.to_string()));
    }
}

/// One of the two processes.
pub struct Side {
    /// 0 or 1.
    pub me: Peer,
    /// The ranks of this one and the other.
    pub own: Peer,
    pub other: Peer,
    /// Descriptors that end a sleep.
    pub descriptors: Vec<RawFd>,
    /// Sleeps that one of them has ended.
    pub descriptors_ready: u32,
    pub fabric: Shm,
    pub endpoint: ShmEndpoint,
    /// Sleep when nothing comes.
    pub sleepy: bool,
    pub longest_sleep: Duration,
    inbox: Inbox,
    /// Sources of offers that are not yet sent.
    sources: HashMap<Cookie, Vec<u8>>,
    next: Cookie,
    common: &'static Common,
}

impl Side {
    pub fn turn(&mut self) {
        let moved = self.endpoint.poll(&mut self.inbox);
        for cookie in self.inbox.sent.drain(..) {
            self.sources.remove(&cookie).expect("an offer of mine");
        }
        if std::mem::take(&mut self.inbox.connects) {
            self.fabric.connect(self.other);
            return;
        }
        if moved {
            return;
        }
        if !self.sleepy {
            std::thread::yield_now();
            return;
        }
        let ticket = self.fabric.prepare_sleep();
        if !self.endpoint.arm() {
            let begin = Instant::now();
            match self.descriptors.is_empty() {
                true => self.fabric.sleep(ticket, None),
                false => {
                    let ready = self.fabric.sleep_with(ticket, None, &self.descriptors);
                    self.descriptors_ready += u32::from(ready);
                }
            }
            self.longest_sleep = self.longest_sleep.max(begin.elapsed());
        }
        self.endpoint.disarm();
    }

    /// What it waits for, in words.
    fn pending(&self) -> String {
        let mut text = String::new();
        self.endpoint
            .describe(&mut text)
            .expect("a string takes all");
        text
    }

    /// Does something for which a link may be missing, which is made then.
    fn linked<R>(
        &mut self,
        mut what: impl FnMut(&mut Side) -> Result<R, Refused>,
    ) -> Result<R, Refused> {
        loop {
            match what(self) {
                Err(Refused::Connecting) => {
                    self.fabric.connect(self.other);
                    self.turn();
                }
                done => return done,
            }
        }
    }

    fn until<R>(&mut self, mut found: impl FnMut(&mut Side) -> Option<R>) -> R {
        let begin = Instant::now();
        loop {
            if let Some(result) = found(self) {
                return result;
            }
            if begin.elapsed() > PATIENCE {
                panic!("side {} hangs: {}", self.me, self.pending());
            }
            self.turn();
        }
    }

    /// Begins to send; the data are copied.
    pub fn start_send(&mut self, data: &[u8]) {
        let peer = self.other;
        let (kind, payload) = if data.len() <= self.endpoint.eager_limit(peer) {
            (EAGER, data.to_vec())
        } else {
            self.next += 1;
            let source = self.sources.entry(self.next).or_insert(data.to_vec());
            let memory = Memory::contiguous(source.as_mut_ptr(), source.len());
            let cookie = self.next;
            let BulkDescriptor(words) = self
                .linked(|side| side.endpoint.bulk_send(peer, memory.clone(), cookie))
                .expect("a peer that is there");
            (
                OFFER,
                words.iter().flat_map(|word| word.to_ne_bytes()).collect(),
            )
        };
        self.until(|side| {
            let send =
                |side: &mut Side| side.endpoint.send(peer, Header([kind, 0]), &payload, false);
            match side.linked(send) {
                Ok(()) | Err(Refused::Lost) => Some(()),
                Err(_) => None,
            }
        });
    }

    pub fn finish_sends(&mut self) {
        self.until(|side| side.sources.is_empty().then_some(()));
    }

    /// The next message, of `bytes`.
    pub fn receive(&mut self, bytes: usize) -> Vec<u8> {
        let (header, payload) = self.until(|side| side.inbox.packets.pop_front());
        if header.0[0] == EAGER {
            return payload;
        }
        let mut words = payload
            .chunks_exact(8)
            .map(|word| word.try_into().expect("8 bytes"));
        let offer = BulkDescriptor(std::array::from_fn(|_| {
            words.next().map_or(0, u64::from_ne_bytes)
        }));
        let mut data = vec![0; bytes];
        let target = Memory::contiguous(data.as_mut_ptr(), bytes);
        let from = self.other;
        self.linked(|side| {
            side.endpoint
                .bulk_receive(from, offer, bytes, target.clone(), 7)
        })
        .expect("a good offer");
        self.until(|side| side.inbox.received.pop());
        data
    }

    pub fn wait_until_taken_up(&mut self) {
        self.until(|side| side.pending().is_empty().then_some(()));
    }

    pub fn expect_loss(&mut self) {
        let peer = self.other;
        let begin = Instant::now();
        let (lost, why) = self.until(|side| side.inbox.lost.take());
        assert_eq!(lost, peer);
        assert!(why.contains(&format!("rank {peer}")), "{why}");
        assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
        let sent = self.endpoint.send(peer, Header([0; 2]), b"", false);
        assert_eq!(sent, Err(Refused::Lost));
    }

    /// Leaves only when the other has everything.
    pub fn leave_together(&mut self) {
        self.finish_sends();
        self.wait_until_taken_up();
        self.common.arrived[self.me as usize].fetch_add(1, Ordering::SeqCst);
        let other = 1 - self.me as usize;
        self.sleepy = false;
        self.until(|side| (side.common.arrived[other].load(Ordering::SeqCst) == 2).then_some(()));
    }
}

/// Runs `scenario` as rank 0 here and as rank 1 in a forked process.
pub fn in_two_processes(job: Job, scenario: fn(&mut Side)) {
    // SAFETY: a fresh shared mapping of zeros, which is a valid `Common`.
    let common: &'static Common = unsafe {
        let memory = libc::mmap(
            std::ptr::null_mut(),
            size_of::<Common>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        assert_ne!(memory, libc::MAP_FAILED);
        &*memory.cast()
    };
    // SAFETY: this process has one thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: the child of a test dies with it; then it leaves without the parent's destructors.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            let ended =
                std::panic::catch_unwind(AssertUnwindSafe(|| play(common, 1, job, scenario)));
            libc::_exit(i32::from(ended.is_err()));
        }
    }
    play(common, 0, job, scenario);
    let mut status = 0;
    // SAFETY: waits for the own child; unmaps what nothing refers to any more.
    unsafe {
        libc::waitpid(child, &mut status, 0);
        libc::munmap(
            std::ptr::from_ref(common).cast_mut().cast(),
            size_of::<Common>(),
        );
    }
    let killed = libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL;
    assert!(
        status == 0 || killed,
        "the other process ended with status {status}"
    );
}

fn play(common: &'static Common, me: Peer, job: Job, scenario: fn(&mut Side)) {
    let cards = Arc::new(OnceLock::new());
    let directory = Arc::new(Cards {
        ranks: job.ranks,
        cards: cards.clone(),
    });
    let rank = job.ranks[me as usize];
    let fabric = Shm::with_options(rank, job.local_ranks, 1, directory, job.options);
    let mut fabric = fabric.expect("shared memory");
    if job.several_hosts {
        fabric.use_descriptor().expect("a pipe");
    }
    cards
        .set(exchange(common, me as usize, &fabric.card()))
        .expect("set once");
    let endpoint = fabric.endpoint(0);
    scenario(&mut Side {
        me,
        own: rank,
        other: job.ranks[1 - me as usize],
        descriptors: Vec::new(),
        descriptors_ready: 0,
        fabric,
        endpoint,
        sleepy: false,
        longest_sleep: Duration::ZERO,
        inbox: Inbox::default(),
        sources: HashMap::new(),
        next: 0,
        common,
    });
}

fn exchange(common: &Common, me: usize, card: &str) -> [String; 2] {
    // SAFETY: each side writes its own card before it arrives, and reads the other's after that has.
    unsafe { (&mut (*common.cards[me].get()))[..card.len()].copy_from_slice(card.as_bytes()) };
    common.bytes[me].store(card.len() as u64, Ordering::SeqCst);
    common.arrived[me].fetch_add(1, Ordering::SeqCst);
    while common.arrived[1 - me].load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    [0, 1].map(|side| {
        let bytes = common.bytes[side].load(Ordering::SeqCst) as usize;
        // SAFETY: as above.
        let card = unsafe { &(&(*common.cards[side].get()))[..bytes] };
        String::from_utf8_lossy(card).into_owned()
    })
}

/// Bytes that depend on their place and on `seed`.
pub fn pattern(bytes: usize, seed: u64) -> Vec<u8> {
    (0..bytes as u64)
        .map(|at| (at.wrapping_mul(31) ^ at >> 8 ^ seed.wrapping_mul(77)) as u8)
        .collect()
}

/// Processor time this process has used.
pub fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

pub fn kill(pid: u32) {
    // SAFETY: takes numbers; the process is this one's child.
    assert_eq!(unsafe { libc::kill(pid as i32, libc::SIGKILL) }, 0);
}

pub fn kill_myself() -> ! {
    // SAFETY: ends this process.
    unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    unreachable!("killed");
}

/// From here on process_vm_readv and process_vm_writev of this process fail with EPERM (seccomp(2)).
pub fn deny_copies() {
    let statement = |code, k| libc::sock_filter {
        code,
        jt: 0,
        jf: 0,
        k,
    };
    let equal = |number: libc::c_long, jt| {
        let code = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        libc::sock_filter {
            code,
            jt,
            jf: 0,
            k: number as u32,
        }
    };
    let load = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    let answer = (libc::BPF_RET | libc::BPF_K) as u16;
    let mut filter = [
        // The system call's number is the first word of seccomp_data.
        statement(load, 0),
        equal(libc::SYS_process_vm_readv, 2),
        equal(libc::SYS_process_vm_writev, 1),
        statement(answer, libc::SECCOMP_RET_ALLOW),
        statement(answer, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the program lives through the call, which copies it.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, mode, &program, 0, 0), 0);
    }
}
