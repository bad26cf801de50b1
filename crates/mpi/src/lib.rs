//! The library behind the C interface.

pub mod error {
    pub mod strings;
}
