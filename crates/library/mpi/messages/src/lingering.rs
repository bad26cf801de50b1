//! Requests that no call will ask for, whose data stay until they are complete.

use parking_lot::Mutex;
use weft_engine::RequestId;
use weft_process::engine::engine;

use crate::request::Request;

/// Requests that no call will ask for, and their data.
static LINGERING: Mutex<Vec<(Request, Box<dyn Send>)>> = Mutex::new(Vec::new());

/// Keeps the data of a request that no call will ask for until it is complete; lets go of those that are.
pub fn linger(request: Request, data: impl Send + 'static) {
    if request == Request::done() {
        return;
    }
    let mut lingering = LINGERING.lock();
    lingering.push((request, Box::new(data)));
    lingering.retain(|(send, _)| match send.as_engine() {
        Some(id) if id != RequestId::DONE && !engine().is_complete(id) => true,
        Some(id) => {
            engine().detach(id);
            false
        }
        None => false,
    });
}
