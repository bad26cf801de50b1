//! Requests from behind the expected one.

use super::Responder;
use super::held::MOST_HELD;
use crate::host::Host;
use crate::packet::{Header, PacketOperation, Syndrome};

impl Responder {
    /// Keeps it; false if the peer has to send it again. Whatever the peer sends, no more is kept than a window of packets of
    /// the path MTU.
    pub(super) fn hold(&mut self, position: u64, header: &Header, payload: &[u8]) -> bool {
        let window = self.config.window.min(MOST_HELD);
        let may = header.selective
            && self.holds
            && position - self.expected <= window
            && payload.len() as u64 <= self.link.mtu;
        if may {
            self.held.insert(position, header, payload);
        }
        may
    }

    /// The expected request may have come before.
    pub(super) fn execute_held(&mut self, host: &mut impl Host) {
        let mut acknowledges = false;
        while !self.failed
            && let Some((header, payload)) = self.held.take(self.expected)
        {
            let before = self.expected;
            self.due(&header, &payload, host);
            if self.expected == before {
                acknowledges = false;
                break;
            }
            let kind = header.opcode.kind();
            acknowledges = kind.is_send() || kind.is_write();
        }
        if acknowledges {
            // The packet that asked for it may have been the one that was missing.
            self.acknowledge(self.expected - 1);
        }
        self.held.advance(self.expected);
    }

    /// What is missing, and what is there behind it.
    pub(super) fn report(&mut self) -> Option<(Header, Vec<u8>)> {
        let link = self.link;
        let bits = self
            .held
            .report(self.expected, |header| match header.opcode.kind() {
                PacketOperation::ReadRequest => link.packets(u64::from(header.reth.length)),
                _ => 1,
            });
        let syndrome = Syndrome::SequenceError;
        let header = self.answer(
            PacketOperation::Acknowledge,
            self.expected,
            syndrome,
            self.msn,
        )?;
        Some((header, bits))
    }
}
