//! The names of objects: a number each, of a type for each kind of object.

/// The kinds of handles, as their top four bits.
pub mod kind {
    pub const COMM: u8 = 1;
    pub const GROUP: u8 = 2;
    pub const DATATYPE: u8 = 3;
    pub const WINDOW: u8 = 4;
    pub const FILE: u8 = 5;
    pub const INFO: u8 = 6;
    /// Requests of the engine; those of several parts are [`COMPOUND`].
    pub const REQUEST: u8 = 7;
    pub const MESSAGE: u8 = 8;
    pub const SESSION: u8 = 9;
    pub const ERRHANDLER: u8 = 10;
    pub const OP: u8 = 11;
    pub const COMPOUND: u8 = 12;
}

/// Names a communicator. Two are predefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommId(pub(crate) u64);

impl CommId {
    pub const WORLD: CommId = CommId(0);
    pub const SELF: CommId = CommId(1);

    /// The one of a handle, which need not be one.
    ///
    /// # Safety
    /// While a call works on it, no other thread frees the object that the handle names: where that is checked, the object
    /// is used without being kept alive. MPI has programs see to it (MPI-5.0 §2.5.1, §11.6.1).
    #[inline]
    pub const unsafe fn named(handle: u64) -> CommId {
        CommId(handle)
    }

    /// Its handle.
    #[inline]
    pub const fn handle(self) -> u64 {
        self.0
    }
}

/// Names a group. [`GroupId::EMPTY`] is predefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupId(pub u64);

impl GroupId {
    pub const EMPTY: GroupId = GroupId(1);
}

/// Names an info object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoId(pub u64);

impl InfoId {
    /// `MPI_INFO_ENV`, with the ABI's number: what is known of how this process was started; read only.
    pub const ENV: InfoId = InfoId(0x131);
}

/// Names a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// Names a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowId(pub(crate) u64);

impl WindowId {
    /// The one of a handle, which need not be one.
    ///
    /// # Safety
    /// While a call works on it, no other thread frees the object that the handle names: where that is checked, the object
    /// is used without being kept alive. MPI has programs see to it (MPI-5.0 §2.5.1, §11.6.1).
    #[inline]
    pub const unsafe fn named(handle: u64) -> WindowId {
        WindowId(handle)
    }

    /// Its handle.
    #[inline]
    pub const fn handle(self) -> u64 {
        self.0
    }
}

/// Names an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId(pub u64);
