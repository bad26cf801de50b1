//! Requests that were executed before: their answer was lost, or is still on its way (IBA 9.7.5.1.1).
//!
//! SENDs and WRITEs are acknowledged again, READs are read again, atomics answered from memory. Answers that are
//! not sent yet save their order by position.

use super::{ReadResponse, Responder, Response};
use crate::host::{Access, Host};
use crate::packet::{Header, PacketOperation};

impl Responder {
    pub(super) fn duplicate(&mut self, position: u64, header: &Header, host: &mut impl Host) {
        match header.opcode.kind() {
            PacketOperation::ReadRequest => self.read_again(position, header, host),
            PacketOperation::CompareSwap | PacketOperation::FetchAdd => {
                self.answer_atomic_again(position)
            }
            _ if header.ack_request => self.acknowledge_again(position),
            _ => (),
        }
    }

    /// Unless something still to be sent implies it. Where no response can be missing behind it, everything is
    /// acknowledged at once.
    fn acknowledge_again(&mut self, position: u64) {
        if self.responses.iter().any(|r| r.position() >= position) {
            return;
        }
        if self.reads_end <= position {
            self.acknowledge(self.expected - 1);
        } else {
            self.acknowledge(position);
        }
    }

    /// Reads anew, all that was asked for or its end. What cannot be read any more was a late copy of a request long
    /// answered, or will be asked for until the peer gives up.
    fn read_again(&mut self, position: u64, header: &Header, host: &mut impl Host) {
        let Ok(region) = self.region(header) else {
            return;
        };
        let end = position + self.link.packets(region.length);
        let readable = region.length == 0 || host.check(&region, Access::Read).is_ok();
        if end > self.expected || !self.config.read || !readable {
            return;
        }
        // A requester that asks for the end of a response has its beginning.
        self.responses.retain(|response| match response {
            Response::Read(read) => !(read.first..read.end).contains(&position),
            _ => true,
        });
        if self.has_reads_enough(true) {
            return;
        }
        self.insert(Response::Read(ReadResponse {
            first: position,
            next: position,
            end,
            region,
            msn: self.msn,
            again: true,
        }));
    }

    /// One that is not remembered was answered long ago.
    fn answer_atomic_again(&mut self, position: u64) {
        let queued = self
            .responses
            .iter()
            .any(|r| matches!(r, Response::Atomic { position: at, .. } if *at == position));
        let known = self.atomics.iter().find(|(at, _)| *at == position);
        if let Some(&(_, original)) = known
            && !queued
        {
            let msn = self.msn;
            self.insert(Response::Atomic {
                position,
                original,
                msn,
                again: true,
            });
        }
    }

    fn insert(&mut self, response: Response) {
        let at = self
            .responses
            .iter()
            .position(|other| other.position() > response.position())
            .unwrap_or(self.responses.len());
        self.responses.insert(at, response);
    }
}
