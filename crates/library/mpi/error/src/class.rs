//! The classes of errors (MPI-5.0 §9.4).

macro_rules! classes {
    ($($name:ident = $number:literal,)*) => {
        /// An error class of MPI-5.0 §9.4, with the ABI's number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(i32)]
        pub enum Class {
            $($name = $number,)*
        }

        impl Class {
            /// All there are.
            pub const ALL: &[Class] = &[$(Class::$name),*];
        }
    };
}

classes! {
    Success = 0,
    Buffer = 1,
    Count = 2,
    Type = 3,
    Tag = 4,
    Comm = 5,
    Rank = 6,
    Request = 7,
    Root = 8,
    Group = 9,
    Op = 10,
    Topology = 11,
    Dims = 12,
    Arg = 13,
    Unknown = 14,
    Truncate = 15,
    Other = 16,
    Intern = 17,
    Pending = 18,
    InStatus = 19,
    Access = 20,
    Amode = 21,
    Assert = 22,
    BadFile = 23,
    Base = 24,
    Conversion = 25,
    Disp = 26,
    DupDatarep = 27,
    FileExists = 28,
    FileInUse = 29,
    File = 30,
    InfoKey = 31,
    InfoNoKey = 32,
    InfoValue = 33,
    Info = 34,
    Io = 35,
    Keyval = 36,
    LockType = 37,
    NoMem = 39,
    NotSame = 40,
    NoSpace = 41,
    NoSuchFile = 42,
    Quota = 44,
    ReadOnly = 45,
    RmaAttach = 46,
    RmaRange = 48,
    RmaShared = 49,
    RmaSync = 50,
    Size = 52,
    UnsupportedDatarep = 54,
    UnsupportedOperation = 55,
    Win = 56,
    RmaFlavor = 57,
    ProcAborted = 58,
    ValueTooLarge = 59,
    Session = 60,
    Errhandler = 61,
    Abi = 62,
    // Of the standard's next edition; the ABI has no numbers for these yet (`MPIX_ERR_PROC_FAILED` is `ProcAborted`).
    ProcFailedPending = 16381,
    Revoked = 16382,
}

/// Marks of classes whose numbers are no bytes.
const MARKED: [(Class, u8); 2] = [(Class::Revoked, 254), (Class::ProcFailedPending, 253)];

impl Class {
    /// A byte that stands for the class among processes of one job.
    pub fn mark(self) -> u8 {
        let marked = MARKED.into_iter().find(|&(class, _)| class == self);
        marked.map_or(self as u8, |(_, mark)| mark)
    }

    /// The class of a mark, if it has one.
    pub fn of_mark(mark: u8) -> Option<Class> {
        let marked = MARKED.into_iter().find(|&(_, other)| other == mark);
        marked.map_or_else(|| Class::numbered(mark.into()), |(class, _)| Some(class))
    }

    /// The class of a number, if it has one here.
    pub fn numbered(number: i32) -> Option<Class> {
        let mut all = Class::ALL.iter().copied();
        all.find(|&class| class as i32 == number)
    }
}
