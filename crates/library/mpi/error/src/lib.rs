//! Errors: the standard's class, and one line that says what is wrong and with which argument.

mod class;
pub mod codes;
mod detail;
pub mod strings;
pub mod told;

pub use class::Class;
pub use detail::OfBuffer;
pub use detail::{Error, Object, Result, argument};
