//! The objects of this process by their numbers, as its agent and its pollers find them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::completion_queue::CompletionQueue;
use super::event::EventSource;
use super::queue_pair::QueuePair;
use super::table::Table;
use crate::fabric::numbers::QUEUES;
use crate::fabric::{FABRIC_SLOT, Number};

pub struct Tables {
    pub cqs: Table<CompletionQueue>,
    pub srqs: Table<EventSource>,
    queue_pairs: Table<QueuePair>,
    /// XRC receive queue pairs, which several handles of this process may stand for.
    shared_queue_pairs: Mutex<HashMap<Number, Vec<&'static QueuePair>>>,
}

impl Default for Tables {
    fn default() -> Tables {
        Tables {
            cqs: Table::new(QUEUES as usize),
            srqs: Table::new(QUEUES as usize),
            queue_pairs: Table::new(QUEUES as usize),
            shared_queue_pairs: Mutex::default(),
        }
    }
}

impl Tables {
    pub fn enter_queue_pair(&self, qp: &'static QueuePair) {
        match qp.number.slot() {
            FABRIC_SLOT => self.shared().entry(qp.number).or_default().push(qp),
            _ => self.queue_pairs.enter(qp.number.index(), qp),
        }
    }

    pub fn leave_queue_pair(&self, qp: &QueuePair) {
        match qp.number.slot() {
            FABRIC_SLOT => {
                let mut shared = self.shared();
                if let Some(handles) = shared.get_mut(&qp.number) {
                    handles.retain(|handle| !std::ptr::eq(*handle, qp));
                }
                shared.retain(|_, handles| !handles.is_empty());
            }
            _ => self.queue_pairs.leave(qp.number.index()),
        }
    }

    fn shared(&self) -> MutexGuard<'_, HashMap<Number, Vec<&'static QueuePair>>> {
        self.shared_queue_pairs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The handles of a queue pair.
    pub fn handles(&self, number: Number) -> Vec<&'static QueuePair> {
        match number.slot() {
            FABRIC_SLOT => self.shared().get(&number).cloned().unwrap_or_default(),
            _ => self.queue_pair(number.index()).into_iter().collect(),
        }
    }

    /// A queue pair of this process's own.
    #[inline]
    pub fn queue_pair(&self, index: u16) -> Option<&'static QueuePair> {
        self.queue_pairs.at(index)
    }

    /// A completion of queue pair `qpn` was polled: its send queue is free up to and with `index`.
    #[inline]
    pub fn release_send_queue(&self, qpn: u32, index: u32) {
        if let Some(qp) = self.queue_pairs.at(Number::from_bits(qpn).index()) {
            qp.release_send_indexes(index);
        }
    }
}
