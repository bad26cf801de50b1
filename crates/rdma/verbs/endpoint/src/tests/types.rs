//! Who may be handed on and who shared: one thread drives an endpoint.

use std::marker::PhantomData;

use super::*;

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

#[test]
fn an_endpoint_goes_from_thread_to_thread_and_is_never_two_threads() {
    assert_eq!(
        (Has::<Endpoint>::SEND, Has::<Endpoint>::SYNC),
        (true, false)
    );
    assert_eq!(
        (Has::<&Endpoint>::SEND, Has::<&Endpoint>::SYNC),
        (false, false)
    );
    assert_eq!((Has::<Account>::SEND, Has::<Account>::SYNC), (true, true));
}

#[test]
fn categories_have_names() {
    for category in Category::ALL {
        assert_eq!(category.name().parse(), Ok(category));
    }
    let unknown = "fast".parse::<Category>().unwrap_err();
    assert!(unknown.contains("fast") && unknown.contains("2xdynamic"));
}
