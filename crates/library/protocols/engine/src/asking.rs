//! The operations that wait for messages whose senders, or receivers, may be asked (`enquiring.rs`), and when each asks next.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::patience::Patience;
use crate::request_id::RequestId;
use crate::waiter::{Operation, Question};

/// Between two looks at all of them.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Of an engine.
#[derive(Default)]
pub(crate) struct Asking {
    /// By the requests that stand for them: an operation is here from when it first waits so until it is over.
    operations: Mutex<HashMap<RequestId, Asker>>,
    next_look: Mutex<Option<Instant>>,
}

struct Asker {
    operation: Arc<Operation>,
    /// What it waited for when it was looked at last; its patience is for that.
    about: Option<RequestId>,
    patience: Patience,
}

impl Asking {
    /// An operation waits for what it may ask about.
    pub fn asks(&self, operation: &Arc<Operation>, question: Question) {
        if operation.question.lock().replace(question).is_some() {
            return;
        }
        let asker = Asker {
            operation: operation.clone(),
            about: None,
            patience: Patience::default(),
        };
        self.operations.lock().insert(operation.request, asker);
    }

    /// An operation is over.
    pub fn remove(&self, operation: &Operation) {
        if operation.question.lock().take().is_some() {
            self.operations.lock().remove(&operation.request);
        }
    }

    /// What is to be asked now. Nothing, if another look was a moment ago.
    pub fn due(&self) -> Vec<Question> {
        if !self.begin_look() {
            return Vec::new();
        }
        let mut operations = self.operations.lock();
        operations.values_mut().filter_map(Asker::due).collect()
    }

    fn begin_look(&self) -> bool {
        let now = Instant::now();
        let mut next_look = self.next_look.lock();
        let is_due = next_look.is_none_or(|at| now >= at);
        if is_due {
            *next_look = Some(now + LOOK_EVERY);
        }
        is_due
    }
}

impl Asker {
    fn due(&mut self) -> Option<Question> {
        let question = (*self.operation.question.lock())?;
        if self.about != Some(question.id) {
            self.about = Some(question.id);
            self.patience = Patience::default();
        }
        self.patience.is_over().then_some(question)
    }
}
