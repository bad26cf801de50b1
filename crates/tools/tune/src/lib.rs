//! From measured times by algorithm, as `weft bench collectives --tune` prints them, to the prices by which the library
//! chooses best.

#![forbid(unsafe_code)]

mod fit;
mod judge;
mod loss;
mod random;
mod table;

pub use fit::{PLAIN, fit};
pub use judge::{Judged, Summary, judge, summary};
pub use table::{Figure, Point, read};
