//! A window as one process sees it: its own part, and its links to the others', each made when it is first needed.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use weft_shm::{Exposed, Mapping, Service, Shm};
use weft_sync::atomic::Ordering;
use weft_sync::{Broken, LockKind, OwnedLock};
use weft_transport::Peer;

use crate::active_message::Server;
use crate::attachments;
use crate::control::{Control, Shape};
use crate::direct::{Direct, Entry};
use crate::link::Link;
use crate::member::{Backing, Member};
use crate::target::Fault;

/// Between two looks whether those who are waited for live.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Tries for a lock before the wait for it.
const TRIES: u32 = 200;

/// Waits until the function says so, asking in a turn of progress again and again and whenever this process is woken, and not
/// after it has said so.
pub type Patience = fn(&mut dyn FnMut() -> bool);

/// What a process brings to a new window.
pub struct Own {
    shm: Shm,
    control: Control,
    memory: Option<Exposed>,
    /// What addresses of exposed memory are multiples of here, a power of two.
    alignment: usize,
}

impl Own {
    /// For a window of `size` processes, of memory that is the user's or not; what is exposed begins here at a multiple
    /// of `alignment`.
    pub fn new(shm: &Shm, size: u32, user_memory: bool, alignment: usize) -> io::Result<Own> {
        let shape = Shape { size, user_memory };
        Ok(Own {
            shm: shm.clone(),
            control: Control::own(shm.expose(shape.bytes())?, shape),
            memory: None,
            alignment,
        })
    }

    /// Memory of zeros for its part, or for all parts together.
    pub fn expose(&mut self, bytes: usize) -> io::Result<()> {
        self.memory = Some(self.shm.expose_aligned(bytes, self.alignment)?);
        Ok(())
    }

    pub fn control(&self) -> u64 {
        self.control.offset().expect("it is this process's own")
    }

    /// Where the exposed memory lies in the segment; 0 if there is none.
    pub fn memory(&self) -> u64 {
        self.memory.as_ref().map_or(0, Exposed::offset)
    }

    /// The window, once all its processes have told what they bring. `whole` is how long the piece is that all share.
    pub fn join(
        self,
        Processes { me, peers, ranks }: Processes,
        members: Vec<Member>,
        whole: Option<(u64, usize)>,
        patience: Patience,
    ) -> Result<Window, Fault> {
        let whole = match whole.filter(|_| me != 0) {
            Some((offset, bytes)) => {
                let first = self.shm.process(peers[0])?;
                Some(first.map_aligned(offset, bytes, self.alignment)?)
            }
            None => None,
        };
        let control = Arc::new(self.control);
        let user_memory = control.shape().user_memory;
        let mut window = Window {
            shm: self.shm,
            me,
            entries: entries(&members, ranks.as_ref()),
            ranks: ranks.map(|ranks| ranks.of),
            links: (0..members.len()).map(|_| OnceLock::new()).collect(),
            peers: peers.into(),
            members: members.into(),
            memory: self.memory,
            whole,
            control,
            patience,
            server: None,
        };
        if user_memory {
            window.serve();
        }
        Ok(window)
    }
}

/// The processes of a window, which all are on this host.
pub struct Processes {
    /// This one's number among them.
    pub me: u32,
    pub peers: Vec<Peer>,
    /// None where their numbers are the ranks of direct accesses.
    pub ranks: Option<Ranks>,
}

/// Ranks of the processes among more, which this window knows nothing of.
pub struct Ranks {
    /// By number, in ascending order.
    pub of: Box<[u32]>,
    /// All ranks are below it.
    pub count: u32,
}

fn entries(members: &[Member], ranks: Option<&Ranks>) -> Box<[Entry]> {
    let Some(ranks) = ranks else {
        return members.iter().map(Entry::new).collect();
    };
    let mut entries: Box<[Entry]> = (0..ranks.count).map(|_| Entry::nowhere()).collect();
    for (member, &rank) in members.iter().zip(&ranks.of) {
        entries[rank as usize] = Entry::new(member);
    }
    entries
}

/// A window.
pub struct Window {
    pub(crate) shm: Shm,
    pub(crate) me: u32,
    peers: Arc<[Peer]>,
    members: Box<[Member]>,
    /// By rank; all else is by number.
    entries: Box<[Entry]>,
    ranks: Option<Box<[u32]>>,
    links: Box<[OnceLock<Link>]>,
    control: Arc<Control>,
    /// What this process exposes, and the first process's piece that all share.
    memory: Option<Exposed>,
    whole: Option<Mapping>,
    patience: Patience,
    /// Copies for others, of user memory.
    server: Option<Arc<Server>>,
}

impl Drop for Window {
    fn drop(&mut self) {
        self.close();
    }
}

impl Window {
    fn serve(&mut self) {
        let (shm, peers) = (self.shm.clone(), self.peers.clone());
        let answer = move |control: &Control| wake_waiting(&shm, &peers, control);
        let server = Server::new(self.control.clone(), self.owner(), Box::new(answer));
        let server = Arc::new(server);
        let own = &self.members[self.me as usize];
        if let Backing::User(address) = own.backing {
            server.open(address, own.bytes);
        }
        self.shm.add_service(server.clone());
        self.server = Some(server);
    }

    /// Gives up this process's part, which nobody accesses any more. What is mapped stays so until the window is dropped.
    pub fn close(&self) {
        if let Some(server) = &self.server {
            self.shm
                .remove_service(&(server.clone() as Arc<dyn Service>));
        }
        if let Some(memory) = &self.memory {
            memory.empty();
        }
    }

    /// This process's number.
    pub fn me(&self) -> u32 {
        self.me
    }

    pub fn member(&self, rank: u32) -> &Member {
        &self.members[rank as usize]
    }

    /// Where a process's part is in this process's memory, if it can be: then loads and stores reach it.
    pub fn address(&self, rank: u32) -> Result<Option<*mut u8>, Fault> {
        Ok(self
            .link(rank)?
            .pointer(0)
            .filter(|_| self.member(rank).backing != Backing::Dynamic))
    }

    /// Where `bytes` bytes at a displacement in the part of the process of a rank are, if loads and stores reach them and the way there has been
    /// found. Else it takes [`put`](Self::put) and the like, which find it or what is wrong.
    #[inline(always)]
    pub fn direct(&self, rank: i32, displacement: i64, bytes: usize) -> Option<Direct<'_>> {
        let entry = self.entries.get(rank as u32 as usize)?;
        // SAFETY: the part and its stripes live as long as the link, which lives as long as the window.
        unsafe { entry.find(displacement, bytes) }
    }

    /// The number by which this process takes locks.
    #[inline(always)]
    pub(crate) fn owner(&self) -> u32 {
        self.me + 1
    }

    /// Whether the process that takes locks by this number has died.
    pub(crate) fn is_dead(&self, owner: u32) -> bool {
        !self.is_alive(owner.wrapping_sub(1))
    }

    /// The way to a process's part, found if it was not yet.
    #[inline]
    pub(crate) fn link(&self, rank: u32) -> Result<&Link, Fault> {
        match self.links[rank as usize].get() {
            Some(link) => Ok(link),
            None => self.new_link(rank),
        }
    }

    #[cold]
    fn new_link(&self, rank: u32) -> Result<&Link, Fault> {
        let member = self.member(rank);
        let process = self.shm.process(self.peers[rank as usize])?;
        let own = rank == self.me;
        let control = match own {
            true => self.control.clone(),
            false => {
                let shape = self.control.shape();
                Arc::new(Control::peer(
                    process.map(member.control, shape.bytes())?,
                    shape,
                ))
            }
        };
        let first = |memory: Option<*mut u8>| memory.unwrap_or(std::ptr::null_mut());
        let exposed = self.memory.as_ref().map(|memory| memory.base());
        let link = match member.backing {
            Backing::Whole(inner) => {
                let base = first(exposed.or(self.whole.as_ref().map(Mapping::base)));
                Link::direct(
                    process,
                    control,
                    base.wrapping_add(inner as usize),
                    member.bytes,
                )
            }
            Backing::Piece(_) if own || member.bytes == 0 => {
                let base = first(exposed.filter(|_| own));
                Link::direct(process, control, base, member.bytes)
            }
            Backing::Piece(offset) => {
                let mapping = process.map(offset, member.bytes as usize)?;
                Link::mapped(process, control, mapping, member.bytes)
            }
            Backing::User(address) => {
                Link::user(process, control, own, address, Some(member.bytes))
            }
            Backing::Dynamic => Link::user(process, control, own, 0, None),
        };
        // Another thread may have been faster; then its link is used.
        let link = self.links[rank as usize].get_or_init(|| link);
        if let Some(base) = link
            .pointer(0)
            .filter(|_| member.backing != Backing::Dynamic)
        {
            let rank = self
                .ranks
                .as_ref()
                .map_or(rank, |ranks| ranks[rank as usize]);
            self.entries[rank as usize].set(base, link.stripes());
        }
        Ok(link)
    }

    fn is_alive(&self, rank: u32) -> bool {
        let Some(&peer) = self.peers.get(rank as usize) else {
            return false;
        };
        rank == self.me
            || self
                .shm
                .process(peer)
                .is_ok_and(|process| process.is_alive())
    }

    fn lost(&self, rank: u32, why: &str) -> Fault {
        let peer = self.peers.get(rank as usize).copied().unwrap_or(rank);
        match self.shm.process(peer) {
            Ok(process) => Fault::Lost(process.lost(why)),
            Err(lost) => Fault::Lost(lost),
        }
    }

    fn broken(&self, target: u32) -> impl Fn(Broken) -> Fault + '_ {
        let why = "a process died while it changed the lock of this one's part of the window";
        move |Broken| self.lost(target, why)
    }

    /// Takes the passive-target lock of a process's part, once those before this process have let it go.
    pub fn lock(&self, target: u32, kind: LockKind) -> Result<(), Fault> {
        let lock = self.link(target)?.control.lock(self.me);
        let is_alive = |rank: u32| self.is_alive(rank);
        if lock.request(kind, &is_alive).map_err(self.broken(target))? {
            return Ok(());
        }
        let mut dead = None;
        let mut look = Instant::now() + LOOK_EVERY;
        (self.patience)(&mut || {
            if lock.is_granted() {
                return true;
            }
            if Instant::now() >= look {
                dead = lock.dead_ahead(&is_alive);
                look = Instant::now() + LOOK_EVERY;
            }
            dead.is_some()
        });
        match dead {
            Some(rank) if !lock.is_granted() => {
                self.unlock(target)?;
                Err(self.lost(rank, "it died with a lock of the window, or waiting for it"))
            }
            _ => Ok(()),
        }
    }

    /// Lets the lock go.
    pub fn unlock(&self, target: u32) -> Result<(), Fault> {
        let is_alive = |rank: u32| self.is_alive(rank);
        let lock = self.link(target)?.control.lock(self.me);
        let granted = lock.release(&is_alive).map_err(self.broken(target))?;
        for rank in granted {
            wake(&self.shm, &self.peers, rank);
        }
        Ok(())
    }

    /// Attaches memory to this process's part of a dynamic window.
    pub fn attach(&self, address: u64, bytes: u64) -> Result<(), attachments::Refused> {
        self.control.attachments().attach(address, bytes)?;
        if let Some(server) = self.server.as_ref().filter(|_| bytes > 0) {
            server.open(address, bytes);
        }
        Ok(())
    }

    pub fn detach(&self, address: u64) -> Result<(), attachments::Refused> {
        self.control.attachments().detach(address)?;
        if let Some(server) = &self.server {
            server.close(address);
        }
        Ok(())
    }

    /// Takes the lock under which a target's memory is updated. Of memory that may need active messages it is held
    /// while the target copies, so it is waited for with patience: in turns of progress, in which this process copies for others too.
    pub(crate) fn lock_updates<'a>(&'a self, link: &'a Link) -> Result<Updating<'a>, Fault> {
        let lock = &link.control.header().updates.0;
        match link.control.shape().user_memory {
            true => self.take_patiently(link, lock).map(drop)?,
            // What a dead process left half done is its own data.
            false => drop(lock.take(self.owner(), &|owner| self.is_dead(owner))),
        }
        Ok(Updating {
            window: self,
            link,
            lock,
        })
    }

    /// Takes a lock whose holders may wait for others. True if it was taken over from a dead one.
    pub(crate) fn take_patiently(&self, link: &Link, lock: &OwnedLock) -> Result<bool, Fault> {
        let owner = self.me + 1;
        if (0..TRIES).any(|_| lock.try_take(owner)) {
            return Ok(false);
        }
        let mut taken_over = false;
        let mut look = Instant::now() + LOOK_EVERY;
        self.wait_in_line(link, &mut || {
            if lock.try_take(owner) {
                return true;
            }
            if Instant::now() >= look {
                look = Instant::now() + LOOK_EVERY;
                let holder = lock.holder();
                taken_over =
                    holder != 0 && !self.is_alive(holder - 1) && lock.take_over(holder, owner);
            }
            taken_over
        });
        Ok(taken_over)
    }

    /// Waits with patience, and is woken when something in `link`'s control area is released or answered.
    pub(crate) fn wait_in_line(&self, link: &Link, met: &mut dyn FnMut() -> bool) {
        let waits = &link.control.slots()[self.me as usize].waits;
        let patient = &link.control.header().patient;
        // Both are set before `met` is asked again and looked at after what it asks for has changed.
        waits.fetch_add(1, Ordering::SeqCst);
        patient.fetch_add(1, Ordering::SeqCst);
        (self.patience)(met);
        patient.fetch_sub(1, Ordering::SeqCst);
        waits.fetch_sub(1, Ordering::SeqCst);
    }

    /// Lets go what [`take_patiently`](Self::take_patiently) took.
    pub(crate) fn let_go(&self, link: &Link, lock: &OwnedLock) {
        lock.release(self.me + 1);
        wake_waiting(&self.shm, &self.peers, &link.control);
    }

    /// Whether a process still lives, looked at a few times a second: for who waits for its answer.
    pub(crate) fn watch(&self, rank: u32) -> impl FnMut() -> bool + '_ {
        let mut look = Instant::now() + LOOK_EVERY;
        move || {
            if Instant::now() < look {
                return true;
            }
            look = Instant::now() + LOOK_EVERY;
            self.is_alive(rank)
        }
    }

    pub(crate) fn gone(&self, rank: u32) -> Fault {
        self.lost(rank, "it died during an access to its memory")
    }
}

/// Wakes who waits with patience at a control area.
fn wake_waiting(shm: &Shm, peers: &[Peer], control: &Control) {
    if control.header().patient.load(Ordering::SeqCst) == 0 {
        return;
    }
    for (slot, rank) in control.slots().iter().zip(0..) {
        if slot.waits.load(Ordering::SeqCst) != 0 {
            wake(shm, peers, rank);
        }
    }
}

fn wake(shm: &Shm, peers: &[Peer], rank: u32) {
    if let Some(&peer) = peers.get(rank as usize)
        && let Ok(process) = shm.process(peer)
    {
        process.wake();
    }
}

/// The lock of updates, held.
pub(crate) struct Updating<'a> {
    window: &'a Window,
    link: &'a Link,
    lock: &'a OwnedLock,
}

impl Drop for Updating<'_> {
    fn drop(&mut self) {
        self.window.let_go(self.link, self.lock);
    }
}
