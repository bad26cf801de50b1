//! Completing requests: the `Test` and `Wait` families (MPI-5.0 §3.7.3 to §3.7.5), freeing and cancelling.

mod one;
mod outcome;
mod release;
mod several;
mod state;

pub use several::prepare_thread;

pub use one::{status, test, wait};
pub use release::{cancel, free};
pub use several::{
    Any, status_all, status_any, status_some, test_all, test_any, test_some, wait_all,
    wait_all_without_statuses, wait_any, wait_some,
};
