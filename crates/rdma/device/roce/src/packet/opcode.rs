//! BTH opcodes: the service in the upper three bits, the operation in the lower five (IBA table 38).

/// The transport service, as the opcode numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Service {
    /// RC
    Reliable = 0,
    /// UC
    Unreliable = 1,
    /// UD
    Datagram = 3,
    /// XRC
    ExtendedReliable = 5,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketOperation {
    SendFirst = 0,
    SendMiddle = 1,
    SendLast = 2,
    SendLastImmediate = 3,
    SendOnly = 4,
    SendOnlyImmediate = 5,
    WriteFirst = 6,
    WriteMiddle = 7,
    WriteLast = 8,
    WriteLastImmediate = 9,
    WriteOnly = 10,
    WriteOnlyImmediate = 11,
    ReadRequest = 12,
    ReadResponseFirst = 13,
    ReadResponseMiddle = 14,
    ReadResponseLast = 15,
    ReadResponseOnly = 16,
    Acknowledge = 17,
    AtomicAcknowledge = 18,
    CompareSwap = 19,
    FetchAdd = 20,
    SendLastInvalidate = 22,
    SendOnlyInvalidate = 23,
}

use PacketOperation::*;

/// By number; 21 is RESYNC of the reliable datagram service, which nobody has.
const KINDS: [Option<PacketOperation>; 24] = [
    Some(SendFirst),
    Some(SendMiddle),
    Some(SendLast),
    Some(SendLastImmediate),
    Some(SendOnly),
    Some(SendOnlyImmediate),
    Some(WriteFirst),
    Some(WriteMiddle),
    Some(WriteLast),
    Some(WriteLastImmediate),
    Some(WriteOnly),
    Some(WriteOnlyImmediate),
    Some(ReadRequest),
    Some(ReadResponseFirst),
    Some(ReadResponseMiddle),
    Some(ReadResponseLast),
    Some(ReadResponseOnly),
    Some(Acknowledge),
    Some(AtomicAcknowledge),
    Some(CompareSwap),
    Some(FetchAdd),
    None,
    Some(SendLastInvalidate),
    Some(SendOnlyInvalidate),
];

/// A service and an operation that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opcode {
    service: Service,
    kind: PacketOperation,
}

impl Opcode {
    pub fn new(service: Service, kind: PacketOperation) -> Option<Opcode> {
        let known = match service {
            Service::Reliable | Service::ExtendedReliable => true,
            Service::Unreliable => (kind as u8) <= WriteOnlyImmediate as u8,
            Service::Datagram => matches!(kind, SendOnly | SendOnlyImmediate),
        };
        known.then_some(Opcode { service, kind })
    }

    pub fn from_byte(byte: u8) -> Option<Opcode> {
        let service = match byte >> 5 {
            0 => Service::Reliable,
            1 => Service::Unreliable,
            3 => Service::Datagram,
            5 => Service::ExtendedReliable,
            _ => return None,
        };
        let kind = (*KINDS.get(usize::from(byte & 31))?)?;
        Opcode::new(service, kind)
    }

    pub fn byte(self) -> u8 {
        (self.service as u8) << 5 | self.kind as u8
    }

    pub fn service(self) -> Service {
        self.service
    }

    pub fn kind(self) -> PacketOperation {
        self.kind
    }

    /// Which headers follow the BTH.
    pub fn layout(self) -> Layout {
        let kind = self.kind;
        Layout {
            xrc: self.service == Service::ExtendedReliable && !kind.is_response(),
            datagram: self.service == Service::Datagram,
            reth: matches!(
                kind,
                WriteFirst | WriteOnly | WriteOnlyImmediate | ReadRequest
            ),
            atomic: matches!(kind, CompareSwap | FetchAdd),
            aeth: matches!(
                kind,
                ReadResponseFirst
                    | ReadResponseLast
                    | ReadResponseOnly
                    | Acknowledge
                    | AtomicAcknowledge
            ),
            original: kind == AtomicAcknowledge,
            immediate: kind.has_immediate(),
            invalidate: matches!(kind, SendLastInvalidate | SendOnlyInvalidate),
        }
    }
}

/// The headers behind a BTH; on the wire they stand in the order of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub xrc: bool,
    pub datagram: bool,
    pub reth: bool,
    pub atomic: bool,
    pub aeth: bool,
    pub original: bool,
    pub immediate: bool,
    pub invalidate: bool,
}

impl Layout {
    pub fn bytes(self) -> usize {
        usize::from(self.xrc) * 4
            + usize::from(self.datagram) * 8
            + usize::from(self.reth) * 16
            + usize::from(self.atomic) * 28
            + usize::from(self.aeth) * 4
            + usize::from(self.original) * 8
            + usize::from(self.immediate) * 4
            + usize::from(self.invalidate) * 4
    }
}

impl PacketOperation {
    /// Does it go from responder to requester?
    pub fn is_response(self) -> bool {
        (ReadResponseFirst as u8..=AtomicAcknowledge as u8).contains(&(self as u8))
    }

    pub fn is_read_response(self) -> bool {
        (ReadResponseFirst as u8..=ReadResponseOnly as u8).contains(&(self as u8))
    }

    pub fn has_immediate(self) -> bool {
        matches!(
            self,
            SendLastImmediate | SendOnlyImmediate | WriteLastImmediate | WriteOnlyImmediate
        )
    }

    pub fn is_send(self) -> bool {
        self as u8 <= SendOnlyImmediate as u8
            || matches!(self, SendLastInvalidate | SendOnlyInvalidate)
    }

    pub fn is_write(self) -> bool {
        (WriteFirst as u8..=WriteOnlyImmediate as u8).contains(&(self as u8))
    }

    /// Does a SEND or WRITE message begin with it?
    pub fn begins(self) -> bool {
        self.is_whole() || matches!(self, SendFirst | WriteFirst)
    }

    /// Does a SEND or WRITE message end with it?
    pub fn ends(self) -> bool {
        self.is_whole()
            || matches!(
                self,
                SendLast | SendLastImmediate | SendLastInvalidate | WriteLast | WriteLastImmediate
            )
    }

    fn is_whole(self) -> bool {
        matches!(
            self,
            SendOnly | SendOnlyImmediate | SendOnlyInvalidate | WriteOnly | WriteOnlyImmediate
        )
    }
}
