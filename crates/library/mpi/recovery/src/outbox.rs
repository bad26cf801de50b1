//! Notices leave in the order in which they were given, whichever threads give them: one thread sends at a time, and what
//! others give meanwhile it sends too. It may hear notices itself as it sends, and give further ones.

use std::collections::VecDeque;

use parking_lot::Mutex;
use weft_engine::Notice;
use weft_process::engine::engine;

struct Outbox {
    notices: VecDeque<Notice>,
    is_being_sent: bool,
}

static OUTBOX: Mutex<Outbox> = Mutex::new(Outbox {
    notices: VecDeque::new(),
    is_being_sent: false,
});

/// Called under the lock that orders what is given; [`send`] follows without it.
pub fn give(notices: impl IntoIterator<Item = Notice>) {
    OUTBOX.lock().notices.extend(notices);
}

pub fn send() {
    {
        let mut outbox = OUTBOX.lock();
        if std::mem::replace(&mut outbox.is_being_sent, true) {
            return;
        }
    }
    loop {
        let notice = {
            let mut outbox = OUTBOX.lock();
            let next = outbox.notices.pop_front();
            outbox.is_being_sent = next.is_some();
            next
        };
        let Some(notice) = notice else {
            return;
        };
        engine().notify(notice);
    }
}
