//! What a window is: flavor, size, unit (MPI-5.0 §12.2.6).

/// How a window was made (`MPI_WIN_CREATE_FLAVOR`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    Create,
    Allocate,
    Dynamic,
    Shared,
}

/// What the attributes' values point to, in place while the window lives.
pub struct Figures {
    /// The address itself is the value.
    pub base: usize,
    pub size: isize,
    pub unit: i32,
    pub flavor: i32,
    pub model: i32,
}

impl Figures {
    pub fn new(base: *mut u8, size: i64, unit: i64, flavor: Flavor) -> Figures {
        Figures {
            base: base.expose_provenance(),
            size: size as isize,
            unit: i32::try_from(unit).unwrap_or(i32::MAX),
            // The ABI's numbers (MPI-5.0 §20.3).
            flavor: match flavor {
                Flavor::Create => 311,
                Flavor::Allocate => 312,
                Flavor::Dynamic => 313,
                Flavor::Shared => 314,
            },
            // Public and private copy are one memory (MPI-5.0 §12.4).
            model: 321,
        }
    }
}
