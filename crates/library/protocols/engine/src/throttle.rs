//! How much a peer may leave unmatched at this process before it is asked to keep its payloads.

use weft_transport::Peer;

use crate::by_peer::ByPeer;

/// Bytes of unexpected payload that one peer may have stored here, on one lane.
pub const UNEXPECTED_BYTES: u64 = 16 << 20;
/// Unexpected messages, of whatever size, that one peer may have here before it is throttled.
pub const UNEXPECTED_MESSAGES: u64 = 2 << 20;

/// What one peer has here.
#[derive(Clone, Copy, Default)]
struct Account {
    bytes: u64,
    messages: u64,
    on: bool,
}

impl Account {
    fn above(&self, divisor: u64) -> bool {
        self.bytes > UNEXPECTED_BYTES / divisor || self.messages > UNEXPECTED_MESSAGES / divisor
    }
}

/// One lane's accounts.
#[derive(Default)]
pub(crate) struct Throttle {
    accounts: ByPeer<Account>,
}

/// A peer is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThrottleChange {
    pub on: bool,
}

impl Throttle {
    /// A message of `peer`'s was stored.
    pub fn stored(&mut self, peer: Peer, bytes: u64) -> Option<ThrottleChange> {
        let account = self.accounts.entry(peer);
        account.bytes += bytes;
        account.messages += 1;
        if account.on || !account.above(1) {
            return None;
        }
        account.on = true;
        Some(ThrottleChange { on: true })
    }

    /// A stored message of `peer`'s was taken.
    pub fn taken(&mut self, peer: Peer, bytes: u64) -> Option<ThrottleChange> {
        let account = self.accounts.get_mut(peer).expect("it was stored");
        account.bytes -= bytes;
        account.messages -= 1;
        if !account.on || account.above(2) {
            return None;
        }
        account.on = false;
        Some(ThrottleChange { on: false })
    }

    /// Bytes and messages stored of all peers.
    pub fn totals(&self) -> (u64, u64) {
        self.accounts
            .iter()
            .fold((0, 0), |(bytes, messages), (_, account)| {
                (bytes + account.bytes, messages + account.messages)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_on_at_the_limit_and_off_at_half() {
        let mut throttle = Throttle::default();
        let mut stored = 0;
        while throttle.stored(1, 1 << 20).is_none() {
            stored += 1;
        }
        assert_eq!(stored, UNEXPECTED_BYTES >> 20);
        assert_eq!(throttle.stored(1, 1 << 20), None);
        let mut taken = 1;
        while throttle.taken(1, 1 << 20) != Some(ThrottleChange { on: false }) {
            taken += 1;
        }
        assert_eq!(stored + 2 - taken, (UNEXPECTED_BYTES / 2) >> 20);
        assert_eq!(throttle.stored(0, 0), None);
    }

    #[test]
    fn many_empty_messages_turn_it_on() {
        let mut throttle = Throttle::default();
        assert!((0..UNEXPECTED_MESSAGES).all(|_| throttle.stored(0, 0).is_none()));
        assert_eq!(throttle.stored(0, 0), Some(ThrottleChange { on: true }));
        assert_eq!(throttle.totals(), (0, UNEXPECTED_MESSAGES + 1));
    }
}
