//! Which hosts a job runs on, and which of its ranks where: lists as users and batch systems write them, and the rule
//! that places ranks. Nothing here starts anything or looks up a name.

mod file;
mod host;
mod list;
mod local;
mod mapping;
mod nodelist;
mod placement;
mod sources;

pub use file::read as read_file;
pub use host::{Host, merge};
pub use list::parse as parse_list;
pub use local::Here;
pub use mapping::process_mapping;
pub use placement::{Order, Placer};
pub use sources::from_environment;
