//! From answers to packets.

use super::{ReadResponse, Responder, Response};
use crate::batch::Batch;
use crate::host::{Fault, Host, Region};
use crate::packet::{Aeth, Header, PacketOperation, Service, Syndrome};

/// Further copies of the last acknowledgement of a queue pair that goes, or fails: where one packet in twenty is lost, all of them and the
/// acknowledgement itself are in 6 of a million cases.
const PARTING_COPIES: usize = 3;

impl Responder {
    /// Everything up to this position was done.
    pub(super) fn acknowledge(&mut self, position: u64) {
        self.push_acknowledge(position, Syndrome::Ack);
    }

    pub fn acknowledge_all(&mut self) {
        if let Some(last) = self.expected.checked_sub(1) {
            self.acknowledge(last);
        }
    }

    pub fn abandon_expected(&mut self) {
        self.nak(Syndrome::RemoteOperation);
        self.failed = true;
    }

    /// The expected request is refused, or asked for.
    pub(super) fn nak(&mut self, syndrome: Syndrome) {
        self.nak_sent = true;
        self.push_acknowledge(self.expected, syndrome);
    }

    fn push_acknowledge(&mut self, position: u64, syndrome: Syndrome) {
        if let Some(Response::Acknowledge {
            syndrome: Syndrome::Ack,
            ..
        }) = self.responses.back()
        {
            self.responses.pop_back();
        }
        self.responses.push_back(Response::Acknowledge {
            position,
            syndrome,
            msn: self.msn,
        });
    }

    /// Is there anything but acknowledgements to be sent?
    pub fn owes_answers(&self) -> bool {
        let is_acknowledgement = |response: &Response| {
            matches!(
                response,
                Response::Acknowledge {
                    syndrome: Syndrome::Ack,
                    ..
                }
            )
        };
        self.held.has_news() || !self.responses.iter().all(is_acknowledgement)
    }

    pub fn transmit(&mut self, batch: &mut Batch, host: &mut impl Host) {
        while !batch.is_full()
            && let Some(response) = self.responses.pop_front()
        {
            match response {
                Response::Acknowledge {
                    position,
                    syndrome,
                    msn,
                } => {
                    let header = self.answer(PacketOperation::Acknowledge, position, syndrome, msn);
                    // After one that ends the queue pair nobody answers a request that comes again.
                    let copies = if syndrome.is_final() {
                        PARTING_COPIES
                    } else {
                        0
                    };
                    for header in header.iter().cycle().take(1 + copies) {
                        batch.push_bare(&self.link.route, header);
                    }
                }
                Response::Atomic {
                    position,
                    original,
                    msn,
                    ..
                } => {
                    let answer = self.answer(
                        PacketOperation::AtomicAcknowledge,
                        position,
                        Syndrome::Ack,
                        msn,
                    );
                    if let Some(mut header) = answer {
                        header.original = original;
                        batch.push_bare(&self.link.route, &header);
                    }
                }
                Response::Read(mut read) => {
                    if !self.send_read_response(&read, batch, host) {
                        // What was asked for again may have been answered before: then nobody waits, and the memory may be gone.
                        if !read.again {
                            self.fail_read(read.next, host);
                        }
                        continue;
                    }
                    read.next += 1;
                    if read.next < read.end {
                        self.responses.push_front(Response::Read(read));
                    }
                }
            }
        }
        self.send_report(batch);
    }

    /// Tells the peer what it has to send again.
    fn send_report(&mut self, batch: &mut Batch) {
        if !self.held.has_news() || batch.is_full() {
            return;
        }
        if let Some((header, bits)) = self.report() {
            let route = &self.link.route;
            let Ok(()) = batch.push(route, &header, bits.len(), |out| {
                out.copy_from_slice(&bits);
                Ok::<(), std::convert::Infallible>(())
            });
        }
    }

    /// The queue pair goes: nobody will answer a request that comes again, so what is due is said now, and its last
    /// acknowledgement a few times more, for a wire that loses packets.
    pub fn part(&mut self, batch: &mut Batch, host: &mut impl Host) {
        self.transmit(batch, host);
        if self.link.service == Service::Unreliable {
            return;
        }
        let last = self.expected.checked_sub(1);
        let parting = last.and_then(|last| {
            self.answer(PacketOperation::Acknowledge, last, Syndrome::Ack, self.msn)
        });
        if let Some(header) = parting.filter(|_| !self.failed) {
            for _ in 0..PARTING_COPIES {
                batch.push_bare(&self.link.route, &header);
            }
        }
    }

    pub(super) fn answer(
        &self,
        kind: PacketOperation,
        position: u64,
        syndrome: Syndrome,
        msn: u32,
    ) -> Option<Header> {
        let mut header = self.link.header(kind, self.sequence.psn(position))?;
        header.aeth = Aeth {
            syndrome: syndrome.byte(),
            msn,
        };
        Some(header)
    }

    /// One packet of a READ response; false if the memory cannot be read any more.
    fn send_read_response(
        &self,
        read: &ReadResponse,
        batch: &mut Batch,
        host: &mut impl Host,
    ) -> bool {
        let kind = match (read.next == read.first, read.next + 1 == read.end) {
            (true, true) => PacketOperation::ReadResponseOnly,
            (true, false) => PacketOperation::ReadResponseFirst,
            (false, true) => PacketOperation::ReadResponseLast,
            (false, false) => PacketOperation::ReadResponseMiddle,
        };
        let Some(header) = self.answer(kind, read.next, Syndrome::Ack, read.msn) else {
            return true;
        };
        let offset = (read.next - read.first) * self.link.mtu;
        let part = Region {
            address: read.region.address.wrapping_add(offset),
            length: (read.region.length - offset).min(self.link.mtu),
            ..read.region
        };
        let bytes = part.length as usize;
        batch
            .push(&self.link.route, &header, bytes, |out| {
                if out.is_empty() {
                    return Ok(());
                }
                host.read(&part, out)
            })
            .is_ok()
    }

    /// Memory went away while it was being read: what stands behind this position is not answered any more.
    fn fail_read(&mut self, position: u64, host: &mut impl Host) {
        self.responses.clear();
        self.expected = position;
        self.nak(Syndrome::RemoteAccess);
        self.fail(Fault::Access, host);
    }
}
