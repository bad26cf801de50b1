//! The few calls of libpmix that the exchange needs, loaded at run time: `libpmix.so.2` is the launcher's, not ours, and a
//! program that no PMIx launcher starts must not need it.
//!
//! Sizes and offsets are those of PMIx 4.2, 5.0 and 6.0, which share this ABI (PMIx Standard ABI, "PMIx Standard 4.1").

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::{offset_of, size_of, zeroed};
use std::ptr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

const NAMESPACE_BYTES: usize = 256;
const KEY_BYTES: usize = 512;

const RANK_WILDCARD: u32 = u32::MAX - 1;
const SCOPE_GLOBAL: u8 = 3;

const TYPE_BOOL: u16 = 1;
const TYPE_STRING: u16 = 3;
const TYPE_SIZE: u16 = 4;
const TYPE_INT: u16 = 6;
const TYPE_INT32: u16 = 9;
const TYPE_UINT16: u16 = 13;
const TYPE_UINT32: u16 = 14;
const TYPE_UINT64: u16 = 15;
const TYPE_RANK: u16 = 40;

pub const SUCCESS: Status = 0;
/// The library runs without a server.
pub const ERROR_UNREACHABLE: Status = -25;

/// The operation is complete already, and its callback is not called.
const OPERATION_SUCCEEDED: Status = -157;

pub type Status = c_int;

#[repr(C)]
#[derive(Clone)]
struct Process {
    namespace: [c_char; NAMESPACE_BYTES],
    rank: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
union Datum {
    flag: bool,
    string: *mut c_char,
    int: c_int,
    uint16: u16,
    uint32: u32,
    uint64: u64,
    words: [u64; 3],
}

#[repr(C)]
struct Value {
    kind: u16,
    data: Datum,
}

#[repr(C)]
struct Info {
    key: [c_char; KEY_BYTES],
    flags: u32,
    value: Value,
}

const _: () =
    assert!(size_of::<Process>() == 260 && size_of::<Value>() == 32 && size_of::<Info>() == 552);
const _: () = assert!(
    offset_of!(Value, data) == 8
        && offset_of!(Info, flags) == 512
        && offset_of!(Info, value) == 520
);

type InitFn = unsafe extern "C" fn(*mut Process, *mut Info, usize) -> Status;
type GetFn = unsafe extern "C" fn(
    *const Process,
    *const c_char,
    *const Info,
    usize,
    *mut *mut Value,
) -> Status;
type PutFn = unsafe extern "C" fn(u8, *const c_char, *mut Value) -> Status;
type CommitFn = unsafe extern "C" fn() -> Status;
type FenceFn = unsafe extern "C" fn(
    *const Process,
    usize,
    *const Info,
    usize,
    FenceEndFn,
    *mut c_void,
) -> Status;
type FenceEndFn = unsafe extern "C" fn(Status, *mut c_void);
type AbortFn = unsafe extern "C" fn(c_int, *const c_char, *mut Process, usize) -> Status;
type FinalizeFn = unsafe extern "C" fn(*const Info, usize) -> Status;

/// libpmix after a successful `PMIx_Init`. Its functions may be called from any thread.
pub struct Library {
    process: Process,
    get: GetFn,
    put: PutFn,
    commit: CommitFn,
    fence: FenceFn,
    abort: AbortFn,
    finalize: FinalizeFn,
}

/// A fence under way: its caller has one count of it, and the library another until it calls [`fence_ends`].
struct Fence {
    collect: Info,
    outcome: Mutex<Option<Status>>,
    over: Condvar,
}

// SAFETY: `collect` is written before the library is given the fence, and only read from then on; the rest is under a lock.
unsafe impl Send for Fence {}
// SAFETY: as above.
unsafe impl Sync for Fence {}

/// Called by a thread of the library's.
///
/// # Safety
/// `fence` is a count of a [`Fence`], which nobody uses afterwards.
unsafe extern "C" fn fence_ends(status: Status, fence: *mut c_void) {
    // SAFETY: the contract.
    let fence = unsafe { Arc::from_raw(fence.cast_const().cast::<Fence>()) };
    *fence.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(status);
    fence.over.notify_one();
}

/// Why libpmix is of no use.
pub enum Unusable {
    /// The loader's words.
    NotLoaded(String),
    NoSymbol(&'static CStr),
    InitFailed(Status),
}

/// Loads the first of `names` that can be, and says the loader's words about the first where none can.
fn load(names: &[CString]) -> Result<*mut c_void, Unusable> {
    let mut problem = None;
    for name in names {
        // SAFETY: a C string; libpmix has ordinary initialisers. Its plug-ins look its symbols up globally.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if !handle.is_null() {
            return Ok(handle);
        }
        // SAFETY: after a failed `dlopen` on this thread, `dlerror` answers a C string or null.
        let words = unsafe {
            let words = libc::dlerror();
            if words.is_null() {
                String::new()
            } else {
                CStr::from_ptr(words).to_string_lossy().into_owned()
            }
        };
        problem.get_or_insert(words);
    }
    Err(Unusable::NotLoaded(problem.unwrap_or_default()))
}

impl Library {
    /// Loads the library, which is never unloaded, and connects to the server.
    pub fn init(names: &[CString]) -> Result<Library, Unusable> {
        let handle = load(names)?;
        let symbol = |name: &'static CStr| {
            // SAFETY: `handle` is open and `name` a C string.
            let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
            if address.is_null() {
                Err(Unusable::NoSymbol(name))
            } else {
                Ok(address)
            }
        };
        let init = symbol(c"PMIx_Init")?;
        let (get, put) = (symbol(c"PMIx_Get")?, symbol(c"PMIx_Put")?);
        let (commit, fence) = (symbol(c"PMIx_Commit")?, symbol(c"PMIx_Fence_nb")?);
        let (abort, finalize) = (symbol(c"PMIx_Abort")?, symbol(c"PMIx_Finalize")?);
        // SAFETY: these names have these signatures in the PMIx Standard, and the library stays loaded. An all-zero
        // `Process` is a valid value, which `PMIx_Init` fills; no information is passed.
        unsafe {
            let mut process: Process = zeroed();
            let init: InitFn = std::mem::transmute::<*mut c_void, InitFn>(init);
            match init(&mut process, ptr::null_mut(), 0) {
                SUCCESS => Ok(Library {
                    process,
                    get: std::mem::transmute::<*mut c_void, GetFn>(get),
                    put: std::mem::transmute::<*mut c_void, PutFn>(put),
                    commit: std::mem::transmute::<*mut c_void, CommitFn>(commit),
                    fence: std::mem::transmute::<*mut c_void, FenceFn>(fence),
                    abort: std::mem::transmute::<*mut c_void, AbortFn>(abort),
                    finalize: std::mem::transmute::<*mut c_void, FinalizeFn>(finalize),
                }),
                status => Err(Unusable::InitFailed(status)),
            }
        }
    }

    pub fn rank(&self) -> u32 {
        self.process.rank
    }

    pub fn namespace(&self) -> String {
        let bytes = self.process.namespace.iter().take_while(|&&byte| byte != 0);
        String::from_utf8_lossy(&bytes.map(|&byte| byte as u8).collect::<Vec<u8>>()).into_owned()
    }

    /// A number that describes the whole job (no rank) or one rank of it, if the server has handed it out at start.
    pub fn number(&self, rank: Option<u32>, key: &CStr) -> Option<i64> {
        // SAFETY: the member read is the one that the value's type names.
        self.with_value(rank, key, true, |value| unsafe {
            match value.kind {
                TYPE_INT | TYPE_INT32 => Some(i64::from(value.data.int)),
                TYPE_UINT16 => Some(i64::from(value.data.uint16)),
                TYPE_UINT32 | TYPE_RANK => Some(i64::from(value.data.uint32)),
                TYPE_UINT64 | TYPE_SIZE => i64::try_from(value.data.uint64).ok(),
                _ => None,
            }
        })
        .ok()
        .flatten()
    }

    /// As [`Library::number`], for text.
    pub fn text_at_start(&self, rank: Option<u32>, key: &CStr) -> Option<String> {
        self.with_value(rank, key, true, text_of).ok().flatten()
    }

    /// What a rank has put, after a fence; asks the server if it must.
    pub fn text(&self, rank: u32, key: &CStr) -> Result<Option<String>, Status> {
        self.with_value(Some(rank), key, false, text_of)
    }

    fn with_value<R>(
        &self,
        rank: Option<u32>,
        key: &CStr,
        at_start: bool,
        read: impl FnOnce(&Value) -> R,
    ) -> Result<R, Status> {
        let process = Process {
            rank: rank.unwrap_or(RANK_WILDCARD),
            ..self.process.clone()
        };
        // Without this, the server prints complaints about a key that it does not have.
        let optional = flag(c"pmix.optional");
        let mut value: *mut Value = ptr::null_mut();
        // SAFETY: all pointers are to live values of the types of the PMIx ABI.
        let status = unsafe {
            (self.get)(
                &process,
                key.as_ptr(),
                &optional,
                usize::from(at_start),
                &mut value,
            )
        };
        if status != SUCCESS || value.is_null() {
            return Err(status);
        }
        // SAFETY: after success the value is ours, made by `malloc`; only a string holds further memory of the kinds asked
        // for here.
        unsafe {
            let result = read(&*value);
            if (*value).kind == TYPE_STRING {
                libc::free((*value).data.string.cast());
            }
            libc::free(value.cast());
            Ok(result)
        }
    }

    /// Offers text to every rank from the next fence on.
    pub fn put(&self, key: &CStr, text: &CStr) -> Result<(), Status> {
        let mut value = Value {
            kind: TYPE_STRING,
            data: Datum {
                string: text.as_ptr().cast_mut(),
            },
        };
        // SAFETY: the library copies the value and does not write to it.
        unsafe {
            check((self.put)(SCOPE_GLOBAL, key.as_ptr(), &mut value))?;
            check((self.commit)())
        }
    }

    /// Waits for all ranks of the namespace and collects what they have put. Whenever that takes `pause` longer, `turn` is called.
    pub fn fence(&self, pause: Duration, turn: &mut dyn FnMut()) -> Result<(), Status> {
        let fence = Arc::new(Fence {
            collect: flag(c"pmix.collect"),
            outcome: Mutex::new(None),
            over: Condvar::new(),
        });
        let theirs = Arc::into_raw(fence.clone());
        // SAFETY: no process array means the whole namespace; one information item, which lives until `fence_ends` has been called.
        let begun = unsafe {
            let ends: FenceEndFn = fence_ends;
            (self.fence)(
                ptr::null(),
                0,
                &fence.collect,
                1,
                ends,
                theirs as *mut c_void,
            )
        };
        if begun != SUCCESS {
            // SAFETY: the library calls `fence_ends` after success alone; so this count is nobody's.
            drop(unsafe { Arc::from_raw(theirs) });
            return if begun == OPERATION_SUCCEEDED {
                Ok(())
            } else {
                Err(begun)
            };
        }
        loop {
            let outcome = fence.outcome.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = fence
                .over
                .wait_timeout_while(outcome, pause, |outcome| outcome.is_none());
            if let Some(status) = *waited.unwrap_or_else(PoisonError::into_inner).0 {
                return check(status);
            }
            turn();
        }
    }

    /// Asks the server to end the whole namespace.
    pub fn abort(&self, code: i32) {
        // SAFETY: a C string; no process array means the whole namespace. The process ends whatever the answer.
        unsafe {
            (self.abort)(code, c"".as_ptr(), ptr::null_mut(), 0);
        }
    }

    pub fn finalize(&self) -> Result<(), Status> {
        // SAFETY: no information is passed.
        check(unsafe { (self.finalize)(ptr::null(), 0) })
    }
}

fn check(status: Status) -> Result<(), Status> {
    if status == SUCCESS {
        Ok(())
    } else {
        Err(status)
    }
}

fn text_of(value: &Value) -> Option<String> {
    if value.kind != TYPE_STRING {
        return None;
    }
    // SAFETY: the type says that the member is a string, which is null or ends with a zero byte.
    unsafe {
        let string = value.data.string;
        (!string.is_null()).then(|| CStr::from_ptr(string).to_string_lossy().into_owned())
    }
}

fn flag(key: &CStr) -> Info {
    // SAFETY: an all-zero `Info` is a valid value.
    let mut info: Info = unsafe { zeroed() };
    for (to, from) in info.key.iter_mut().zip(key.to_bytes()) {
        *to = *from as c_char;
    }
    info.value = Value {
        kind: TYPE_BOOL,
        data: Datum { words: [0; 3] },
    };
    info.value.data.flag = true;
    info
}
