//! Two connections in one thread, on a wire that a seed makes as bad as it likes.

mod errors;
mod flow;
mod hostile;
mod injection;
mod oracle;
pub(super) mod pair;
mod parting;
mod replay;
mod selective;
pub(super) mod side;
mod unreliable;
