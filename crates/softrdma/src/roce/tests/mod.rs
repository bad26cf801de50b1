//! Two connections in one thread, on a wire that a seed makes as bad as it likes.

mod errors;
mod flow;
mod injection;
mod oracle;
mod pair;
mod side;
mod unreliable;
