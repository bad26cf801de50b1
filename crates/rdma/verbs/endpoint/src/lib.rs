//! Scalable endpoints: what the threads of a process share of an RDMA adapter.
//!
//! Zambre, Chandramowlishwaran, Balaji, *Scalable Communication Endpoints for MPI+Threads Applications* (ICPADS 2018), below
//! "the paper". A [`Category`] says what threads share, from a context each to one queue pair for all; a [`Layout`] says the same of
//! each kind of object, in any division. One call, [`Endpoints::create`], makes the endpoints of all threads, on any device that
//! libibverbs knows; each thread then drives an [`Endpoint`] of its own:
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use weft_endpoint::{Category, Endpoints};
//! use weft_verbs::{Operation, SendList, devices, library};
//!
//! let device = &devices(library()?)?[0];
//! let mut endpoints = Endpoints::create(device, &Category::TwoXDynamic.layout(16))?;
//! endpoints.connect_to_self()?;
//! std::thread::scope(|scope| {
//!     for endpoint in endpoints.threads() {
//!         scope.spawn(move || {
//!             let mut list = SendList::with_room(1);
//!             let to = Operation::Write(endpoint.slot(0).remote().at(32));
//!             list.push(to, endpoint.slot(0).part(0, 32))
//!                 .signalled(true)
//!                 .id(endpoint.tag(0, 1));
//!             endpoint.post(0, &mut list)?;
//!             endpoint.drain()
//!         });
//!     }
//! });
//! println!("{:?}", endpoints.usage()?);
//! # Ok(())
//! # }
//! ```
//!
//! [`plan`] tells beforehand, without a device, what endpoints take of an adapter; [`Endpoints::usage`] reads it afterwards from the
//! device; [`choose`] picks the category that fits. `docs/endpoints.md` has the figures.
//!
//! # Threads
//! An [`Endpoint`] is `Send` and not `Sync`, and all it does takes `&mut self`: the compiler sees to it that one thread drives it. Locks
//! and atomic operations are only where the layout shares:
//!
//! | shared | posting | polling |
//! |---|---|---|
//! | nothing, thread domains | none | the completion queue's lock, which nobody else takes; none if it is sole |
//! | nothing, no thread domains | the queue pair's lock, which nobody else takes | as above |
//! | completion queue | as above | its lock; an atomic addition to the count of whose request it was |
//! | queue pair | its lock, an atomic subtraction from its room | the same, and an addition to the room |

#![forbid(unsafe_code)]

mod adapter;
mod address;
mod category;
mod choose;
mod create;
mod endpoint;
mod error;
mod lanes;
mod layout;
mod plan;
mod promise;
mod resources;
mod slot;
mod tally;
mod usage;

#[cfg(test)]
mod tests;

pub use adapter::{Adapter, Policy, Sizes};
pub use address::{Card, MemoryAddress, Port, QueuePairAddress};
pub use category::Category;
pub use choose::{Bound, Choice, Refusal, Verdict, choose, choose_layout};
pub use create::Endpoints;
pub use endpoint::Endpoint;
pub use error::Error;
pub use lanes::{Lane, Lanes};
pub use layout::{Layout, LayoutError, Level};
pub use plan::{Plan, Shortage, plan, plan_layout};
pub use resources::{Hardware, Objects, Resources};
pub use slot::Slot;
pub use usage::{Account, Usage};
