//! Which ranks count in a prefix.

/// Whether a rank's own operand is part of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanKind {
    Inclusive,
    Exclusive,
}
