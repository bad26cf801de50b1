//! The execution of requests in their order.

use super::{INVALID, Message, ReadResponse, Refusal, Responder, Response};
use crate::host::{
    Access, Atomic, Fault, Host, Immediate, Receive, ReceiveDone, ReceiveKind, Region, RemoteError,
    Status,
};
use crate::packet::{Header, MAX_MESSAGE_BYTES, PacketOperation, Service, Syndrome};

impl From<RemoteError> for Refusal {
    fn from(error: RemoteError) -> Refusal {
        match error {
            RemoteError::Access => Refusal::Wrong(Syndrome::RemoteAccess, Fault::Access),
            RemoteError::Request => INVALID,
            RemoteError::Operation => Refusal::Wrong(Syndrome::RemoteOperation, Fault::Receive),
        }
    }
}

impl Responder {
    /// Executes the expected request; how many positions it takes.
    pub(super) fn execute(
        &mut self,
        header: &Header,
        payload: &[u8],
        host: &mut impl Host,
    ) -> Result<u64, Refusal> {
        let kind = header.opcode.kind();
        if kind.is_send() {
            self.check_payload(kind, payload)?;
            self.execute_send(header, payload, host)?;
            return Ok(1);
        }
        if kind.is_write() {
            self.check_payload(kind, payload)?;
            self.execute_write(header, payload, host)?;
            return Ok(1);
        }
        if self.message.is_some() || !payload.is_empty() {
            return Err(INVALID);
        }
        match kind {
            PacketOperation::ReadRequest => self.execute_read(header, host),
            _ => self.execute_atomic(header, host),
        }
    }

    /// First and middle packets are full, a last one is not empty (IBA 9.7.4.1.6).
    fn check_payload(&self, kind: PacketOperation, payload: &[u8]) -> Result<(), Refusal> {
        let bytes = payload.len() as u64;
        let right = match (kind.begins(), kind.ends()) {
            (_, false) => bytes == self.link.mtu,
            (true, true) => bytes <= self.link.mtu,
            (false, true) => (1..=self.link.mtu).contains(&bytes),
        };
        if right { Ok(()) } else { Err(INVALID) }
    }

    fn srq(&self, header: &Header) -> Option<u32> {
        (self.link.service == Service::ExtendedReliable).then_some(header.xrc_srq)
    }

    fn take_receive(&mut self, header: &Header, host: &mut impl Host) -> Result<Receive, Refusal> {
        if let Some(receive) = self.spare.take() {
            return Ok(receive);
        }
        host.take_receive(self.srq(header))?
            .ok_or(Refusal::NotReady)
    }

    fn execute_send(
        &mut self,
        header: &Header,
        payload: &[u8],
        host: &mut impl Host,
    ) -> Result<(), Refusal> {
        let kind = header.opcode.kind();
        let (receive, filled) = match (kind.begins(), self.message.take()) {
            (true, None) => (self.take_receive(header, host)?, 0),
            (false, Some(Message::Send { receive, filled })) => (receive, filled),
            (_, other) => {
                self.message = other;
                return Err(INVALID);
            }
        };
        let end = filled + payload.len() as u64;
        let source_qpn = self.link.remote_qpn;
        if end > receive.capacity {
            host.receive_done(
                receive,
                ReceiveDone::failed(Status::LocalLength, source_qpn),
            );
            return Err(Refusal::Wrong(Syndrome::InvalidRequest, Fault::Receive));
        }
        if host.fill_receive(&receive, filled, payload).is_err() {
            let done = ReceiveDone::failed(Status::LocalProtection, source_qpn);
            host.receive_done(receive, done);
            return Err(Refusal::Wrong(Syndrome::RemoteOperation, Fault::Receive));
        }
        if !kind.ends() {
            self.message = Some(Message::Send {
                receive,
                filled: end,
            });
            return Ok(());
        }
        let immediate = match kind {
            PacketOperation::SendLastInvalidate | PacketOperation::SendOnlyInvalidate => {
                if let Err(error) = host.invalidate(self.srq(header), header.invalidate) {
                    self.spare = Some(receive);
                    return Err(error.into());
                }
                Immediate::Invalidated(header.invalidate)
            }
            _ if kind.has_immediate() => Immediate::Data(header.immediate),
            _ => Immediate::None,
        };
        let done = ReceiveDone {
            status: Status::Success,
            kind: ReceiveKind::Send,
            bytes: end as u32,
            immediate,
            solicited: header.solicited,
            source_qpn,
        };
        host.receive_done(receive, done);
        Ok(())
    }

    fn execute_write(
        &mut self,
        header: &Header,
        payload: &[u8],
        host: &mut impl Host,
    ) -> Result<(), Refusal> {
        let kind = header.opcode.kind();
        let (region, written) = match (kind.begins(), &self.message) {
            (true, None) => (self.begin_write(header, host)?, 0),
            (false, Some(Message::Write { region, written })) => (*region, *written),
            _ => return Err(INVALID),
        };
        let end = written + payload.len() as u64;
        if kind.ends() != (end == region.length) || end > region.length {
            return Err(INVALID);
        }
        let receive = match kind.has_immediate() {
            true => Some(self.take_receive(header, host)?),
            false => None,
        };
        let part = Region {
            address: region.address.wrapping_add(written),
            length: payload.len() as u64,
            ..region
        };
        if !payload.is_empty()
            && let Err(error) = host.write(&part, payload)
        {
            self.spare = receive;
            return Err(error.into());
        }
        if let Some(receive) = receive {
            let done = ReceiveDone {
                status: Status::Success,
                kind: ReceiveKind::WriteWithImmediate,
                bytes: end as u32,
                immediate: Immediate::Data(header.immediate),
                solicited: header.solicited,
                source_qpn: self.link.remote_qpn,
            };
            host.receive_done(receive, done);
        }
        self.message = (!kind.ends()).then_some(Message::Write {
            region,
            written: end,
        });
        Ok(())
    }

    fn begin_write(&self, header: &Header, host: &mut impl Host) -> Result<Region, Refusal> {
        if !self.config.write {
            return Err(INVALID);
        }
        let region = self.region(header)?;
        self.check(&region, Access::Write, host)?;
        Ok(region)
    }

    fn check(&self, region: &Region, access: Access, host: &mut impl Host) -> Result<(), Refusal> {
        match region.srq {
            _ if region.length > 0 => host.check(region, access)?,
            Some(srq) => host.check_queue(srq)?,
            None => {}
        }
        Ok(())
    }

    /// What a RETH names. Of an empty region the key is not looked at.
    pub(super) fn region(&self, header: &Header) -> Result<Region, Refusal> {
        let length = u64::from(header.reth.length);
        if length > MAX_MESSAGE_BYTES {
            return Err(INVALID);
        }
        Ok(Region {
            rkey: header.reth.rkey,
            address: header.reth.address,
            length,
            srq: self.srq(header),
        })
    }

    fn execute_read(&mut self, header: &Header, host: &mut impl Host) -> Result<u64, Refusal> {
        if !self.config.read || self.has_reads_enough(false) {
            return Err(INVALID);
        }
        let region = self.region(header)?;
        self.check(&region, Access::Read, host)?;
        let positions = self.link.packets(region.length);
        self.msn += 1;
        self.reads_end = self.expected + positions;
        self.responses.push_back(Response::Read(ReadResponse {
            first: self.expected,
            next: self.expected,
            end: self.expected + positions,
            region,
            msn: self.msn,
            again: false,
        }));
        Ok(positions)
    }

    fn execute_atomic(&mut self, header: &Header, host: &mut impl Host) -> Result<u64, Refusal> {
        let wanted = &header.atomic;
        if !self.config.atomic || self.has_reads_enough(false) || !wanted.address.is_multiple_of(8)
        {
            return Err(INVALID);
        }
        let atomic = match header.opcode.kind() {
            PacketOperation::CompareSwap => Atomic::CompareSwap {
                compare: wanted.compare,
                swap: wanted.swap_or_add,
            },
            PacketOperation::FetchAdd => Atomic::FetchAdd {
                add: wanted.swap_or_add,
            },
            _ => return Err(INVALID),
        };
        let region = Region {
            rkey: wanted.rkey,
            address: wanted.address,
            length: 8,
            srq: self.srq(header),
        };
        let original = host.atomic(&region, atomic)?;
        self.msn += 1;
        self.reads_end = self.expected + 1;
        self.remember_atomic(original);
        self.responses.push_back(Response::Atomic {
            position: self.expected,
            original,
            msn: self.msn,
            again: false,
        });
        Ok(1)
    }

    /// As many results are kept as the peer may have atomics under way.
    fn remember_atomic(&mut self, original: u64) {
        if self.atomics.len() >= usize::from(self.config.max_dest_rd_atomic) {
            self.atomics.pop_front();
        }
        self.atomics.push_back((self.expected, original));
    }
}
