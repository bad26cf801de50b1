//! The operations that wait for messages whose senders, or receivers, may be asked (`enquiring.rs`), and when each asks next.

use parking_lot::Mutex;
use slab::Slab;
use std::sync::Arc;
use std::time::Instant;

use crate::request_id::RequestId;
use crate::waiter::{Operation, Question};
use crate::waiting::{LOOK_EVERY, Patience};

/// The operations of an engine that may ask.
#[derive(Default)]
pub(crate) struct Asking {
    /// An operation is here from when it first waits so until it is over.
    operations: Mutex<Slab<Asker>>,
    next_look: Mutex<Option<Instant>>,
}

struct Asker {
    operation: Arc<Operation>,
    /// The request that it waited for at the last look. Its patience begins anew with each request.
    about: Option<RequestId>,
    patience: Patience,
}

impl Asking {
    /// An operation waits for what it may ask about.
    pub fn asks(&self, operation: &Arc<Operation>, question: Question) {
        if let Some((_, last)) = &mut *operation.question.lock() {
            *last = question;
            return;
        }
        let asker = Asker {
            operation: operation.clone(),
            about: None,
            patience: Patience::default(),
        };
        // Not while the question is locked, which `due` locks after these.
        let key = self.operations.lock().insert(asker);
        *operation.question.lock() = Some((key, question));
    }

    /// An operation is over.
    pub fn remove(&self, operation: &Operation) {
        let asked = operation.question.lock().take();
        if let Some((key, _)) = asked {
            self.operations.lock().remove(key);
        }
    }

    /// The questions that are to be asked now: none, if a thread has looked within [`LOOK_EVERY`].
    pub fn due(&self) -> Vec<Question> {
        let now = Instant::now();
        if !self.begin_look(now) {
            return Vec::new();
        }
        let mut operations = self.operations.lock();
        let askers = operations.iter_mut();
        askers.filter_map(|(_, asker)| asker.due(now)).collect()
    }

    fn begin_look(&self, now: Instant) -> bool {
        let mut next_look = self.next_look.lock();
        let is_due = next_look.is_none_or(|at| now >= at);
        if is_due {
            *next_look = Some(now + LOOK_EVERY);
        }
        is_due
    }
}

impl Asker {
    fn due(&mut self, now: Instant) -> Option<Question> {
        let (_, question) = (*self.operation.question.lock())?;
        if self.about != Some(question.id) {
            self.about = Some(question.id);
            self.patience = Patience::default();
        }
        self.patience.is_over(now).then_some(question)
    }
}
