//! One lane's counts, which it counts under its section: no count costs an atomic operation.

use std::ops::AddAssign;

/// What a lane has done since it was made, or several lanes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often the section was entered.
    pub entries: u64,
    /// Requests that found it held and were left on its list.
    pub submitted: u64,
    /// Messages sent with their payload in the first packet.
    pub eager: u64,
    /// Packets that held several of them.
    pub aggregates: u64,
    /// Messages sent as an RTS, whose payload the transport moves.
    pub rts: u64,
    /// Messages sent as an RTS alone, whose payload was kept back as the receiver has too much unmatched.
    pub rts_only: u64,
    /// Messages that came before their receive.
    pub unexpected: u64,
    /// Their payload, as far as it needed memory of its own.
    pub unexpected_bytes: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.entries += other.entries;
        self.submitted += other.submitted;
        self.eager += other.eager;
        self.aggregates += other.aggregates;
        self.rts += other.rts;
        self.rts_only += other.rts_only;
        self.unexpected += other.unexpected;
        self.unexpected_bytes += other.unexpected_bytes;
    }
}
