//! Devices' ports that go down on request ([`Faults::down`](crate::fault::Faults)), as this process sees it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use weft_verbs_abi::IBV_EVENT_PORT_ERR;

use super::event::{AsyncEvents, Element};
use crate::fabric::numbers::MAX_DEVICES;

/// By device.
#[derive(Default)]
pub struct Links([Link; MAX_DEVICES as usize]);

#[derive(Default)]
struct Link {
    /// Posts so far: written by whoever posts.
    posts: AtomicU32,
    /// Set once, by the post after which the port is down.
    is_down: AtomicBool,
    /// Of the contexts in which the device is open, with the port's number.
    contexts: Mutex<Vec<(u8, Arc<AsyncEvents>)>>,
}

impl Links {
    #[cold]
    pub fn is_down(&self, device: u32) -> bool {
        self.0[device as usize].is_down.load(Ordering::Acquire)
    }

    /// Counts a post. The one that was asked for takes the port down, and contexts are told.
    #[cold]
    pub fn posts(&self, device: u32, down: &[(u32, u32)]) {
        let link = &self.0[device as usize];
        let posts = link.posts.fetch_add(1, Ordering::Relaxed) + 1;
        if down.contains(&(device, posts)) {
            link.is_down.store(true, Ordering::Release);
            let contexts = link.contexts.lock();
            for (port, events) in &*contexts.unwrap_or_else(PoisonError::into_inner) {
                events.raise(IBV_EVENT_PORT_ERR, Element::Port(*port));
            }
        }
    }

    /// A context of the device is open.
    pub fn open(&self, (device, port): (u32, u8), events: &Arc<AsyncEvents>) {
        let contexts = self.0[device as usize].contexts.lock();
        contexts
            .unwrap_or_else(PoisonError::into_inner)
            .push((port, events.clone()));
    }

    pub fn close(&self, device: u32, events: &Arc<AsyncEvents>) {
        let contexts = self.0[device as usize].contexts.lock();
        contexts
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|(_, open)| !Arc::ptr_eq(open, events));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_goes_down_with_the_post_that_was_named() {
        let (links, events) = (Links::default(), Arc::new(AsyncEvents::new().unwrap()));
        links.open((1, 7), &events);
        for post in 1..=4 {
            links.posts(1, &[(0, 1), (1, 3)]);
            assert_eq!((links.is_down(1), links.is_down(0)), (post >= 3, false));
        }
        let (kind, element) = events.next(|_| ()).unwrap();
        assert!(kind == IBV_EVENT_PORT_ERR && element == Element::Port(7));
        links.close(1, &events);
        assert_eq!(Arc::strong_count(&events), 1);
    }
}
