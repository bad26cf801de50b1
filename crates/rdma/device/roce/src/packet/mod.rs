//! Packets: a checked [`View`] of what arrived, a valid [`Header`] to be sent.
//!
//! ```text
//! BTH 12      opcode:8 | SE:1 M:1 Pad:2 TVer:4 | P_Key:16 | reserved:8 | DestQP:24 | A:1 reserved:6 selective:1 | PSN:24
//! XRCETH 4    reserved:8 | XRC SRQ:24                     in every XRC request (annex A14)
//! DETH 8      Q_Key:32 | reserved:8 | SrcQP:24
//! RETH 16     virtual address:64 | R_Key:32 | DMA length:32
//! AtomicETH   virtual address:64 | R_Key:32 | swap or add:64 | compare:64
//! AETH 4      syndrome:8 | MSN:24
//! AtomicAckETH 8   original data:64
//! ImmDt 4, IETH 4
//! payload, 0..3 bytes of padding, ICRC 4 (little end first; all else big)
//! ```

mod icrc;
mod opcode;
#[cfg(test)]
mod tests;

pub use icrc::{ICRC_BYTES, Identified, IdentifiedCache, Route, UDP_PORT, icrc, icrc_matches};
pub use opcode::{Layout, Opcode, PacketOperation, Service};

pub const BTH_BYTES: usize = 12;
/// BTH, the longest headers behind it (XRCETH and AtomicETH) and ICRC.
pub const MAX_HEADER_BYTES: usize = BTH_BYTES + 4 + 28 + ICRC_BYTES;

/// The longest message of a queue pair; `max_msg_sz` of the port.
pub const MAX_MESSAGE_BYTES: u64 = 1 << 30;

/// The partition of everybody; the upper bit says full member.
pub const DEFAULT_PKEY: u16 = 0xffff;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reth {
    pub address: u64,
    pub rkey: u32,
    pub length: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomicEth {
    pub address: u64,
    pub rkey: u32,
    pub swap_or_add: u64,
    pub compare: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aeth {
    pub syndrome: u8,
    pub msn: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deth {
    pub qkey: u32,
    pub source_qpn: u32,
}

/// What an AETH's syndrome says (IBA 9.7.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syndrome {
    Ack,
    /// With the code of the RNR timer.
    ReceiverNotReady(u8),
    SequenceError,
    InvalidRequest,
    RemoteAccess,
    RemoteOperation,
    Reserved,
}

impl Syndrome {
    pub fn from_byte(byte: u8) -> Syndrome {
        match (byte >> 5, byte & 31) {
            (0, _) => Syndrome::Ack,
            (1, timer) => Syndrome::ReceiverNotReady(timer),
            (3, 0) => Syndrome::SequenceError,
            (3, 1) => Syndrome::InvalidRequest,
            (3, 2) => Syndrome::RemoteAccess,
            (3, 3) => Syndrome::RemoteOperation,
            _ => Syndrome::Reserved,
        }
    }

    /// Does it end the responder's queue pair?
    pub fn is_final(self) -> bool {
        matches!(
            self,
            Syndrome::InvalidRequest | Syndrome::RemoteAccess | Syndrome::RemoteOperation
        )
    }

    /// An ACK gives no credits (code 31): receivers without room answer RNR.
    pub fn byte(self) -> u8 {
        match self {
            Syndrome::Ack => 0x1f,
            Syndrome::ReceiverNotReady(timer) => 0x20 | (timer & 31),
            Syndrome::SequenceError => 0x60,
            Syndrome::InvalidRequest => 0x61,
            Syndrome::RemoteAccess => 0x62,
            Syndrome::RemoteOperation => 0x63,
            Syndrome::Reserved => 0x7f,
        }
    }
}

/// A valid header. Fields that the opcode's layout does not have are zero and not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub opcode: Opcode,
    pub solicited: bool,
    pub ack_request: bool,
    /// A reserved bit of the BTH, by which devices of this kind know each other: the requester understands a sequence error NAK that
    /// says what is held behind the error.
    pub selective: bool,
    pub pkey: u16,
    pub destination_qpn: u32,
    pub psn: u32,
    pub xrc_srq: u32,
    pub deth: Deth,
    pub reth: Reth,
    pub atomic: AtomicEth,
    pub aeth: Aeth,
    pub original: u64,
    /// In network byte order already: the application's 32 bits, unread.
    pub immediate: u32,
    pub invalidate: u32,
}

impl Header {
    pub fn new(opcode: Opcode, pkey: u16, destination_qpn: u32, psn: u32) -> Header {
        Header {
            opcode,
            solicited: false,
            ack_request: false,
            selective: false,
            pkey,
            destination_qpn,
            psn,
            xrc_srq: 0,
            deth: Deth::default(),
            reth: Reth::default(),
            atomic: AtomicEth::default(),
            aeth: Aeth::default(),
            original: 0,
            immediate: 0,
            invalidate: 0,
        }
    }

    /// Appends the header of a packet with this much payload.
    pub fn emit(&self, payload_bytes: usize, out: &mut Vec<u8>) {
        const MIGRATED: u8 = 0x40;
        out.push(self.opcode.byte());
        out.push(u8::from(self.solicited) << 7 | MIGRATED | padding(payload_bytes) << 4);
        out.extend_from_slice(&self.pkey.to_be_bytes());
        out.extend_from_slice(&(self.destination_qpn & 0xff_ffff).to_be_bytes());
        let flags = u32::from(self.ack_request) << 31 | u32::from(self.selective) << 24;
        let word = flags | self.psn & 0xff_ffff;
        out.extend_from_slice(&word.to_be_bytes());
        let layout = self.opcode.layout();
        if layout.xrc {
            out.extend_from_slice(&(self.xrc_srq & 0xff_ffff).to_be_bytes());
        }
        if layout.datagram {
            out.extend_from_slice(&self.deth.qkey.to_be_bytes());
            out.extend_from_slice(&(self.deth.source_qpn & 0xff_ffff).to_be_bytes());
        }
        if layout.reth {
            out.extend_from_slice(&self.reth.address.to_be_bytes());
            out.extend_from_slice(&self.reth.rkey.to_be_bytes());
            out.extend_from_slice(&self.reth.length.to_be_bytes());
        }
        if layout.atomic {
            out.extend_from_slice(&self.atomic.address.to_be_bytes());
            out.extend_from_slice(&self.atomic.rkey.to_be_bytes());
            out.extend_from_slice(&self.atomic.swap_or_add.to_be_bytes());
            out.extend_from_slice(&self.atomic.compare.to_be_bytes());
        }
        if layout.aeth {
            let word = u32::from(self.aeth.syndrome) << 24 | self.aeth.msn & 0xff_ffff;
            out.extend_from_slice(&word.to_be_bytes());
        }
        if layout.original {
            out.extend_from_slice(&self.original.to_be_bytes());
        }
        if layout.immediate {
            out.extend_from_slice(&self.immediate.to_ne_bytes());
        }
        if layout.invalidate {
            out.extend_from_slice(&self.invalidate.to_be_bytes());
        }
    }
}

/// Bytes that fill a payload up to a multiple of four.
pub fn padding(payload_bytes: usize) -> u8 {
    (payload_bytes.wrapping_neg() & 3) as u8
}

/// Why bytes are not a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    Short,
    Opcode,
    Version,
    Padding,
}

/// A packet as it arrived: from the BTH to the ICRC. Its lengths are right; its values are the sender's.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    bytes: &'a [u8],
    header: Header,
    payload: (usize, usize),
}

impl<'a> View<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<View<'a>, Malformed> {
        let bth = bytes.first_chunk::<BTH_BYTES>().ok_or(Malformed::Short)?;
        let opcode = Opcode::from_byte(bth[0]).ok_or(Malformed::Opcode)?;
        if bth[1] & 0x0f != 0 {
            return Err(Malformed::Version);
        }
        let start = BTH_BYTES + opcode.layout().bytes();
        let padded_end = bytes
            .len()
            .checked_sub(ICRC_BYTES)
            .filter(|&end| end >= start)
            .ok_or(Malformed::Short)?;
        let pad = usize::from(bth[1] >> 4 & 3);
        let end = padded_end
            .checked_sub(pad)
            .filter(|&end| end >= start && (padded_end - start).is_multiple_of(4))
            .ok_or(Malformed::Padding)?;
        Ok(View {
            bytes,
            header: read_header(opcode, bth, &bytes[BTH_BYTES..start]),
            payload: (start, end),
        })
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[self.payload.0..self.payload.1]
    }

    /// The invariant CRC that the packet carries.
    pub fn icrc(&self) -> u32 {
        let at = self.bytes.len() - ICRC_BYTES;
        self.bytes[at..]
            .first_chunk()
            .map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// Everything before the ICRC.
    pub fn covered(&self) -> &'a [u8] {
        &self.bytes[..self.bytes.len() - ICRC_BYTES]
    }
}

/// The header of this layout; `rest` is as long as the layout says.
fn read_header(opcode: Opcode, bth: &[u8; BTH_BYTES], rest: &[u8]) -> Header {
    let mut fields = Fields(rest);
    let layout = opcode.layout();
    let mut bth_fields = Fields(&bth[4..]);
    let destination_qpn = bth_fields.u32() & 0xff_ffff;
    let word = bth_fields.u32();
    let pkey = u16::from_be_bytes([bth[2], bth[3]]);
    let mut header = Header::new(opcode, pkey, destination_qpn, word & 0xff_ffff);
    header.solicited = bth[1] & 0x80 != 0;
    header.ack_request = word >> 31 == 1;
    header.selective = word >> 24 & 1 == 1;
    if layout.xrc {
        header.xrc_srq = fields.u32() & 0xff_ffff;
    }
    if layout.datagram {
        header.deth.qkey = fields.u32();
        header.deth.source_qpn = fields.u32() & 0xff_ffff;
    }
    if layout.reth {
        header.reth.address = fields.u64();
        header.reth.rkey = fields.u32();
        header.reth.length = fields.u32();
    }
    if layout.atomic {
        header.atomic.address = fields.u64();
        header.atomic.rkey = fields.u32();
        header.atomic.swap_or_add = fields.u64();
        header.atomic.compare = fields.u64();
    }
    if layout.aeth {
        let word = fields.u32();
        header.aeth.syndrome = (word >> 24) as u8;
        header.aeth.msn = word & 0xff_ffff;
    }
    if layout.original {
        header.original = fields.u64();
    }
    if layout.immediate {
        header.immediate = fields.u32().to_be();
    }
    if layout.invalidate {
        header.invalidate = fields.u32();
    }
    header
}

/// Big-endian fields one behind the other; past the end they are zero.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u32(&mut self) -> u32 {
        self.take().map_or(0, u32::from_be_bytes)
    }

    fn u64(&mut self) -> u64 {
        self.take().map_or(0, u64::from_be_bytes)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*field)
    }
}
