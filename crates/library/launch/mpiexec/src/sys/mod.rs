//! The only modules with `unsafe`: system calls that `std` does not offer, each behind a safe function.

mod errors;
mod helper;
mod interfaces;
#[allow(non_upper_case_globals, non_snake_case)]
mod mpir;
mod process;
mod signals;
mod socket;
mod spawn;
mod stream;
mod watchdog;

pub use errors::explained;
pub use helper::start_helper;
pub use interfaces::interface_addresses;
pub use mpir::{Process, ProcessTable, is_debugged, tell_aborting, tell_spawned};
pub use process::{
    Ended, Pid, Reaped, adopt_orphans, affinity, catches, children, close, is_always_ready,
    is_ending, kill, kill_group, open_pidfd, reap, set_nonblocking, stop_self,
    with_more_descriptors,
};
pub use signals::{Received, SignalReader, describe as describe_signal};
pub use socket::{receive, send, socket_pair};
pub use spawn::{Launch, Spawner, StartFailure, StartStep};
pub use stream::OwnStream;
pub use watchdog::{Watchdog, wait_for_orphans};

use errors::check;
