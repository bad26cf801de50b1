//! Who may be shared by threads, and who may be handed on: the table of the crate's documentation.

use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use crate::*;

/// Whether a type has a trait, told by which of two constants of the same name is nearer.
struct Has<T: ?Sized>(PhantomData<T>);

trait Not {
    const SEND: bool = false;
    const SYNC: bool = false;
}
impl<T: ?Sized> Not for Has<T> {}

impl<T: ?Sized + Send> Has<T> {
    const SEND: bool = true;
}
impl<T: ?Sized + Sync> Has<T> {
    const SYNC: bool = true;
}

macro_rules! threads {
    ($type:ty) => {
        (Has::<$type>::SEND, Has::<$type>::SYNC)
    };
}

type InDomain = QueuePair<ProtectionDomain, CompletionQueue>;
type InThreadDomain = QueuePair<ParentDomain, CompletionQueue>;

#[test]
fn what_has_locks_is_for_all_threads() {
    assert_eq!(threads!(Context), (true, true));
    assert_eq!(threads!(CompletionQueue), (true, true));
    assert_eq!(threads!(InDomain), (true, true));
    assert_eq!(threads!(SharedReceiveQueue), (true, true));
    assert_eq!(threads!(MemoryRegion), (true, true));
}

#[test]
fn what_promised_to_have_one_thread_goes_from_one_to_the_next() {
    assert_eq!(threads!(ThreadDomain), (true, false));
    assert_eq!(threads!(ParentDomain), (true, false));
    assert_eq!(threads!(SoleCompletionQueue), (true, false));
    assert_eq!(threads!(InThreadDomain), (true, false));
    assert_eq!(threads!(SoleQueues<ParentDomain>), (true, false));
    assert_eq!(threads!(SoleQueues<ProtectionDomain>), (true, false));
    assert_eq!(threads!(SoleQueues<Rc<ParentDomain>>), (false, false));
}

#[test]
fn what_shares_a_promise_stays_on_its_thread() {
    assert_eq!(
        threads!(QueuePair<Rc<ParentDomain>, CompletionQueue>),
        (false, false)
    );
    assert_eq!(
        threads!(QueuePair<Arc<ParentDomain>, CompletionQueue>),
        (false, false)
    );
    assert_eq!(
        threads!(QueuePair<&'static ParentDomain, CompletionQueue>),
        (false, false)
    );
    assert_eq!(
        threads!(QueuePair<ParentDomain, Rc<SoleCompletionQueue>>),
        (false, false)
    );
}
