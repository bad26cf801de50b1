//! A queue pair's connection to a peer on another host.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use weft_roce::{Batch, Connection, datagram};

use super::request::Request;

#[derive(Default)]
pub struct RemoteConnection {
    state: Mutex<RemoteConnectionState>,
}

#[derive(Default)]
pub struct RemoteConnectionState {
    pub(super) connection: Option<Connection>,
    pub(super) posted: VecDeque<Request>,
    pub(super) batch: Batch,
    /// What is posted waits for the rest of its list.
    pub(super) gathers: bool,
    /// UD's, which has no connection.
    pub datagrams: Option<datagram::Sender>,
}

impl RemoteConnection {
    pub(super) fn state(&self) -> MutexGuard<'_, RemoteConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// No request is with the peer.
    pub fn is_drained(&self) -> bool {
        let state = self.state();
        state.connection.as_ref().is_none_or(Connection::is_drained)
    }
}
