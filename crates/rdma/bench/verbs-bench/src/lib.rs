//! The benchmarks of the scalable-endpoints papers, on `crates/rdma/verbs/verbs` and `crates/rdma/verbs/endpoint`.
//!
//! - Zambre, Chandramowlishwaran, Balaji, *Scalable Communication Endpoints for MPI+Threads Applications* (ICPADS 2018):
//!   message rate (§IV), sharing of each resource (§V), the categories beside each other (§VI), a global array and a stencil
//!   (§VII);
//! - Zambre, Amer, Chandramowlishwaran, Balaji, *Evaluating Multiple Endpoints for MPI with libibverbs*: one sender with several
//!   contexts.
//!
//! A benchmark has a side that drives ([`party`], [`rounds`]) and sides that are measured, each a process of its own
//! ([`process`]). What it found is a [`report::Report`]; printing is left to others.

mod account;
pub mod catalog;
mod categories;
mod contexts;
mod counters;
mod courier;
mod cycles;
pub mod device;
mod features;
mod global_array;
mod grid;
mod line;
mod matrix;
mod message_rate;
pub mod part;
pub mod party;
pub mod pins;
pub mod process;
mod rate;
pub mod report;
pub mod rounds;
pub mod settings;
mod sharing;
mod standing;
mod statistics;
mod stencil;
mod talk;
mod target;
mod team;

pub use account::{Account, Counters, Lock, Resources};
pub use features::{FeatureSet, Features};
