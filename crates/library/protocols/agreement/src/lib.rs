//! Agreement among processes of which some may die: all that live get the same [`Decision`], which holds what each of them
//! has contributed and which of them have failed.
//!
//! A state machine without input and output of its own: [`Agreements`] is told what is heard and who has failed, and says
//! what is to be sent. Its members are numbered, the same on all of them.
//!
//! The *coordinator* is the lowest member that is not known to have failed. Agreements are numbered in the order in which
//! members enter them.
//! 1. Who enters an agreement sends its contribution to the coordinator.
//! 2. The coordinator decides once it has the contribution of each member that it does not know to have failed, and sends
//!    the decision to all of them.
//! 3. A member that learns of the coordinator's failure before it has a decision contributes again, to the next one. The
//!    next one may not know what the last has decided and told others before it failed: it *queries* all members, and one
//!    that has the decision answers with that. It decides by itself only when every living member has contributed to it,
//!    and so has no decision.
//! 4. Failures that a message tells are failures. So who has answered a query takes no decision from an earlier
//!    coordinator any more, and rule 3's "has no decision" stays true.
//! 5. A decision is kept for those that ask until all members have taken theirs: contributions tell up to where.
//!
//! This needs a failure detector that is right: a failed process sends nothing more that is heard once its failure is
//! known, and each failure is known to every living member in the end. One that is taken to have failed and lives gets no
//! part in the decision, but has an answer if it asks.
#![forbid(unsafe_code)]

mod agreements;
mod instance;
mod message;

pub use agreements::Agreements;
pub use message::{Body, Contribution, Decision, Member, Message, Values, WORDS};
