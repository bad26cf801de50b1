//! Making windows (MPI-5.0 §12.2), and what memory they have.
//!
//! All are made alike: the processes tell each other what they want, get their memory, and tell each other where it is. A
//! process that cannot go on says so instead, so that all of them return an error and none waits.

use weft_collective_calls as collective;
use weft_collective_calls::{Elsewhere, agree, exchange_last};
use weft_error::{Class, Error, Result, argument};
use weft_handle::{CommId, InfoId, WindowId};
use weft_memory::Memory;
use weft_objects::PROC_NULL;
use weft_objects::comm::Comm;
use weft_process::engine::engine;
use weft_rma::{ATTACHMENTS, Backing, Member, Own, Processes, Ranks, Refused};
use weft_transport::{Allocation, Fabric};

use super::errors::unreached;
use super::far::{Far, Words, serve};
use super::figures::{Figures, Flavor};
use super::hints::{Hints, PAGE};
use super::object::{self, Parts, Window, find, register, remove, share};
use super::wishes::Wishes;

/// What one process asks for.
#[derive(Clone, Copy)]
struct Request {
    flavor: Flavor,
    /// Of the user's memory, or of what the network has allocated.
    base: *mut u8,
    size: i64,
    unit: i64,
    info: Option<InfoId>,
}

impl Request {
    fn check(&self) -> Result<Hints> {
        if self.size < 0 {
            let what = format_args!("{} is negative", self.size);
            return Err(argument(Class::Size, "size", what));
        }
        if self.unit <= 0 {
            let what = format_args!("{} is not positive", self.unit);
            return Err(argument(Class::Disp, "disp_unit", what));
        }
        if self.flavor == Flavor::Create && self.base.is_null() && self.size > 0 {
            return Err(argument(
                Class::Buffer,
                "base",
                "a null pointer for a size that is not 0",
            ));
        }
        let mut hints = Hints::default();
        self.info.map_or(Ok(()), |info| hints.update(info))?;
        Ok(hints)
    }

    /// Whether others reach the memory through the kernel only.
    fn is_user_memory(&self) -> bool {
        matches!(self.flavor, Flavor::Create | Flavor::Dynamic) || !self.base.is_null()
    }

    /// Memory of the network's for a part that is to be allocated, if there is any that its accesses reach with less work, as far
    /// aligned as the program asks. Where other processes of this host have to reach the part as well, they share memory.
    fn allocate(&self, comm: &Comm, near: usize, hints: &Hints) -> Option<Allocation> {
        let bytes = usize::try_from(self.size).ok().filter(|&bytes| bytes > 0)?;
        let is_apart = near == 1 && comm.hosts().is_some();
        let may = is_apart && self.flavor == Flavor::Allocate && hints.alignment <= PAGE;
        may.then(|| engine().fabric().allocate(comm.lane(), bytes))?
            .filter(|it| it.memory.base.addr().is_multiple_of(hints.asked_alignment))
    }
}

/// Everyone's words, or the news that a process has failed; this one's own error comes first.
fn exchange<const N: usize>(comm: &Comm, mine: Result<[i64; N]>) -> Result<Vec<[i64; N]>> {
    collective::exchange(comm, mine, |other| elsewhere(other.rank))
}

#[cold]
fn elsewhere(rank: usize) -> Error {
    let text = format!("rank {rank} of the communicator could not make its part of the window");
    Error::new(Class::Other, text)
}

/// All processes find this alike.
#[cold]
fn shares_no_memory() -> Error {
    let what = "its processes are on several hosts and can share no memory";
    argument(Class::RmaShared, "comm", what)
}

fn far_of(comm: &Comm, wishes: &Wishes, flavor: Flavor) -> Result<Option<Box<Far>>> {
    let Some(hosts) = comm.hosts() else {
        return Ok(None);
    };
    let is_dynamic = flavor == Flavor::Dynamic;
    let far = Far::new(hosts, &wishes.sizes, &wishes.units, is_dynamic)?;
    Ok(Some(Box::new(far)))
}

/// Where this process's part of a window begins.
fn base_of(request: &Request, rma: &weft_rma::Window) -> Result<*mut u8> {
    match request.flavor {
        Flavor::Create => Ok(request.base),
        _ if !request.base.is_null() => Ok(request.base),
        _ if request.size == 0 => Ok(std::ptr::null_mut()),
        Flavor::Dynamic => Ok(std::ptr::null_mut()),
        _ => {
            let address = rma.address(rma.me()).map_err(unreached)?;
            Ok(address.unwrap_or(std::ptr::null_mut()))
        }
    }
}

/// A window that this process has joined.
struct Joined {
    rma: weft_rma::Window,
    far: Option<Box<Far>>,
    base: *mut u8,
}

impl Joined {
    /// Hears whether all have joined and, if there are other hosts, where their parts can be accessed.
    fn tell(joined: Result<Joined>, comm: &Comm, bytes: usize) -> Result<Joined> {
        let failed = |other: Elsewhere| elsewhere(other.rank);
        if comm.hosts().is_none() {
            exchange_last(
                comm,
                joined.as_ref().map(|_| []).map_err(Error::clone),
                failed,
            )?;
            return joined;
        }
        let words = joined.as_ref().map(|joined| match &joined.far {
            Some(far) if !joined.base.is_null() => {
                far.expose(comm, Memory::contiguous(joined.base, bytes))
            }
            _ => Words::default(),
        });
        let told = exchange_last(comm, words.map_err(Error::clone), failed)?;
        let mut joined = joined?;
        if let Some(far) = &mut joined.far {
            far.exposed(&told);
        }
        Ok(joined)
    }
}

/// Commands of other processes are handled from here on; those that have come before wait.
fn begin_to_serve(id: WindowId) -> Result<()> {
    let window = share(id)?;
    window.comm.bind_window(id);
    let served = serve(window.clone());
    if let Some(far) = &window.far {
        far.served_by(served.inspect_err(|_| drop(remove(id)))?);
    }
    Ok(())
}

/// The ranks that are on this host.
fn near_ranks(comm: &Comm) -> Vec<u32> {
    match comm.hosts() {
        None => (0..comm.size()).collect(),
        Some(hosts) => {
            let own = hosts.own();
            let positions = 0..hosts.ranks_on(own);
            let ranks = positions.map(|position| hosts.rank_at(own, position) as u32);
            ranks.collect()
        }
    }
}

fn no_memory(error: std::io::Error) -> Error {
    argument(
        Class::NoMem,
        "size",
        format_args!("no memory for it: {error}"),
    )
}

fn make(request: Request, parent: CommId) -> Result<WindowId> {
    let parent = weft_objects::comm::share_unrevoked(parent)?;
    parent.check_intra("comm")?;
    make_among(&parent, request)
}

/// A window of the library's own among a communicator's processes, with so many bytes here.
pub fn allocate_private(parent: &Comm, bytes: i64) -> Result<WindowId> {
    let request = Request {
        flavor: Flavor::Allocate,
        base: std::ptr::null_mut(),
        size: bytes,
        unit: 1,
        info: None,
    };
    make_among(parent, request)
}

fn make_among(parent: &Comm, request: Request) -> Result<WindowId> {
    let spans_hosts = !parent.is_on_one_host();
    if spans_hosts && request.flavor == Flavor::Shared {
        request.check()?;
        return Err(shares_no_memory());
    }
    let comm = weft_communicators::create::private(parent)?;
    let made = make_on(&comm, request);
    let id = register_made(made, comm, request)?;
    if spans_hosts {
        begin_to_serve(id)?;
    }
    Ok(id)
}

/// What a window is made of besides its communicator.
struct Made {
    parts: Parts,
    hints: Hints,
    /// This process's address of its part.
    base: *mut u8,
}

/// The window of what was made for it, if it was. Out of line, as what makes that is: all of it is large, and a thread's
/// stack may be small.
#[inline(never)]
fn register_made(made: Result<Made>, comm: Comm, request: Request) -> Result<WindowId> {
    let Made { parts, hints, base } = made.inspect_err(|_| comm.release_numbers())?;
    let figures = Figures::new(base, request.size, request.unit, request.flavor);
    let window = Window::new(parts, comm, request.flavor, figures, hints);
    register(window).ok_or_else(|| argument(Class::NoMem, "win", "too many windows"))
}

/// The memory of a new window, on this host and on others.
#[inline(never)]
fn make_on(comm: &Comm, request: Request) -> Result<Made> {
    let mut wishes = wishes(comm, request)?;
    let near = near_ranks(comm);
    let allocation = request.allocate(comm, near.len(), &wishes.hints);
    let request = Request {
        base: allocation
            .as_ref()
            .map_or(request.base, |it| it.memory.base),
        ..request
    };
    let own = bring(comm, request, &wishes, near.len() as u32);
    let words = own.as_ref().map(|own| {
        [
            own.control() as i64,
            own.memory() as i64,
            request.base.expose_provenance() as i64,
        ]
    });
    // One that has failed, or was told that another one has, goes on to where all learn of it.
    let told = exchange(comm, words.map_err(Error::clone));
    let joined = told.and_then(|told| join(comm, &request, &wishes, (own?, near, &told)));
    let Joined { rma, far, base } = Joined::tell(joined, comm, request.size as usize)?;
    wishes.hints.allocated_at(base);
    let parts = Parts {
        rma,
        far,
        allocation,
    };
    let hints = wishes.hints;
    Ok(Made { parts, hints, base })
}

/// Maps what the other processes of this host have brought. Every process has mapped, or found that it cannot, before
/// any uses its own part.
#[inline(never)]
fn join(
    comm: &Comm,
    request: &Request,
    wishes: &Wishes,
    (own, near, told): (Own, Vec<u32>, &[[i64; 3]]),
) -> Result<Joined> {
    let members = members(*request, wishes, told, &near);
    let whole = wishes
        .whole
        .then_some((told[0][1] as u64, wishes.total() as usize));
    let whole = whole.filter(|&(_, bytes)| bytes > 0);
    let rma = own.join(processes(comm, near), members, whole, wait_outside);
    let rma = rma.map_err(unreached)?;
    let far = far_of(comm, wishes, request.flavor)?;
    let base = base_of(request, &rma)?;
    Ok(Joined { rma, far, base })
}

fn wait_outside(met: &mut dyn FnMut() -> bool) {
    engine().block_on_outside(met);
}

#[inline(never)]
fn wishes(comm: &Comm, request: Request) -> Result<Wishes> {
    let hints = request.check();
    let words = hints
        .as_ref()
        .map(|hints| [request.size, request.unit, i64::from(hints.noncontiguous)]);
    let told = exchange(comm, words.map_err(Error::clone));
    let wishes = told.as_ref().map_err(Clone::clone);
    let wishes = wishes.and_then(|told| Wishes::of_words(told, hints?, request.flavor));
    agree(comm, told.as_deref().unwrap_or(&[]), wishes)
}

/// Gets what this process brings to the window.
fn bring(comm: &Comm, request: Request, wishes: &Wishes, near: u32) -> Result<Own> {
    let fabric = engine().fabric().near();
    let alignment = wishes.hints.alignment;
    let own = Own::new(fabric, near, request.is_user_memory(), alignment);
    let mut own = own.map_err(no_memory)?;
    let bytes = match (wishes.whole, comm.rank()) {
        (true, 0) => wishes.total(),
        (true, _) => 0,
        (false, _) if request.is_user_memory() => 0,
        (false, _) => request.size as u64,
    };
    if bytes > 0 {
        own.expose(bytes as usize).map_err(no_memory)?;
    }
    Ok(own)
}

fn members(request: Request, wishes: &Wishes, told: &[[i64; 3]], near: &[u32]) -> Vec<Member> {
    let member = |&rank: &u32| {
        let [control, memory, address] = told[rank as usize];
        Member {
            control: control as u64,
            backing: match request.flavor {
                Flavor::Create => Backing::User(address as u64),
                // Of the network's memory there is this process's part alone.
                Flavor::Allocate if address != 0 => Backing::User(address as u64),
                Flavor::Dynamic => Backing::Dynamic,
                _ if wishes.whole => Backing::Whole(wishes.before(rank)),
                _ => Backing::Piece(memory as u64),
            },
            bytes: wishes.sizes[rank as usize] as u64,
            unit: wishes.units[rank as usize],
        }
    };
    near.iter().map(member).collect()
}

/// The window's processes of this host.
fn processes(comm: &Comm, near: Vec<u32>) -> Processes {
    let me = near.iter().position(|&rank| rank == comm.rank());
    let ranks = (near.len() < comm.size() as usize).then_some(comm.size());
    Processes {
        me: me.expect("it is on its own host") as u32,
        peers: near.iter().map(|&rank| comm.peer(rank)).collect(),
        ranks: ranks.map(|count| Ranks {
            of: near.into(),
            count,
        }),
    }
}

/// `MPI_Win_create`.
pub fn create(
    base: *mut u8,
    size: i64,
    unit: i64,
    info: Option<InfoId>,
    comm: CommId,
) -> Result<WindowId> {
    let flavor = Flavor::Create;
    make(
        Request {
            flavor,
            base,
            size,
            unit,
            info,
        },
        comm,
    )
}

/// `MPI_Win_create_dynamic`.
pub fn create_dynamic(info: Option<InfoId>, comm: CommId) -> Result<WindowId> {
    let (flavor, base) = (Flavor::Dynamic, std::ptr::null_mut());
    make(
        Request {
            flavor,
            base,
            size: 0,
            unit: 1,
            info,
        },
        comm,
    )
}

/// `MPI_Win_allocate`: the window, and where its memory is.
pub fn allocate(
    size: i64,
    unit: i64,
    info: Option<InfoId>,
    comm: CommId,
) -> Result<(WindowId, *mut u8)> {
    make_allocated(Flavor::Allocate, size, unit, info, comm)
}

/// `MPI_Win_allocate_shared`: the parts follow each other, unless the hint allows that they do not (MPI-5.0 §12.2.3).
pub fn allocate_shared(
    size: i64,
    unit: i64,
    info: Option<InfoId>,
    comm: CommId,
) -> Result<(WindowId, *mut u8)> {
    make_allocated(Flavor::Shared, size, unit, info, comm)
}

fn make_allocated(
    flavor: Flavor,
    size: i64,
    unit: i64,
    info: Option<InfoId>,
    comm: CommId,
) -> Result<(WindowId, *mut u8)> {
    let base = std::ptr::null_mut();
    let id = make(
        Request {
            flavor,
            base,
            size,
            unit,
            info,
        },
        comm,
    )?;
    let base = find(id)?.figures.base;
    Ok((id, std::ptr::with_exposed_provenance_mut(base)))
}

/// A part of a window as this process can load from it and store to it.
#[derive(Clone, Copy, Debug)]
pub struct SharedPart {
    pub address: *mut u8,
    pub size: i64,
    pub unit: i64,
}

/// `MPI_Win_shared_query`. `MPI_PROC_NULL` asks for the first part that is not empty; a part that this process cannot
/// load from and store to is of size 0, and so is every one if all are (MPI-5.0 §12.2.3).
pub fn shared_query(id: WindowId, rank: i32) -> Result<SharedPart> {
    let window = find(id)?;
    if window.flavor == Flavor::Dynamic {
        return Err(wrong_flavor("a dynamic window has no memory of its own"));
    }
    let first = || (0..window.comm.size()).find(|&rank| window.near_bytes(rank) > 0);
    let rank = match rank {
        PROC_NULL => first().unwrap_or(0),
        rank => window.check_rank("rank", rank)?,
    };
    let bytes = window.near_bytes(rank) as i64;
    let address = match window.locality(rank) {
        object::Locality::Near(number) => window.rma.address(number).map_err(unreached)?,
        object::Locality::Far(_) => None,
    };
    let address = address.filter(|_| bytes > 0);
    Ok(SharedPart {
        address: address.unwrap_or(std::ptr::null_mut()),
        size: address.map_or(0, |_| bytes),
        unit: window.unit(rank),
    })
}

#[cold]
fn wrong_flavor(what: &str) -> Error {
    argument(Class::RmaFlavor, "win", what)
}

fn dynamic(id: WindowId) -> Result<&'static Window> {
    let window = find(id)?;
    match window.flavor {
        Flavor::Dynamic => Ok(window),
        _ => Err(wrong_flavor("not made by MPI_Win_create_dynamic")),
    }
}

/// `MPI_Win_attach`.
pub fn attach(id: WindowId, base: *mut u8, size: i64) -> Result<()> {
    let window = dynamic(id)?;
    let Ok(bytes) = u64::try_from(size) else {
        return Err(argument(
            Class::Size,
            "size",
            format_args!("{size} is negative"),
        ));
    };
    if base.is_null() && bytes > 0 {
        return Err(argument(
            Class::Buffer,
            "base",
            "a null pointer for a size that is not 0",
        ));
    }
    let attached = window.rma.attach(base.expose_provenance() as u64, bytes);
    attached.map_err(|refused| match refused {
        Refused::Full => {
            let what = format_args!("{ATTACHMENTS} pieces are attached, which is the limit");
            argument(Class::RmaAttach, "base", what)
        }
        _ => argument(
            Class::RmaAttach,
            "base",
            "overlaps memory that is attached already",
        ),
    })
}

/// `MPI_Win_detach`.
pub fn detach(id: WindowId, base: *const u8) -> Result<()> {
    let detached = dynamic(id)?.rma.detach(base.addr() as u64);
    detached.map_err(|_| argument(Class::RmaAttach, "base", "no attached memory begins there"))
}

impl Window {
    /// Bytes of a part on this host; 0 of another.
    fn near_bytes(&self, rank: u32) -> u64 {
        match self.locality(rank) {
            object::Locality::Near(number) => self.rma.member(number).bytes,
            object::Locality::Far(_) => 0,
        }
    }

    /// Gives up the memory and the communicator of a window that has no handle any more.
    pub(super) fn close(&self) {
        if let Some(far) = &self.far {
            far.hide();
        }
        self.rma.close();
        self.comm.release_numbers();
    }
}
