//! What the two sides say to each other: messages of one length, numbers big endian.
//!
//! A request asks for a connection and tells how to reach the asking queue pair; the other side replies with its own, or
//! rejects; the asking side says when it is ready. For datagrams a request asks for a queue pair's number, and the reply
//! ends it. Who disconnects says so, and waits until the other has closed the TCP connection.

/// Private data of any message.
pub const PRIVATE_MAX: usize = 255;

const MAGIC: [u8; 4] = *b"WCM1";
const HEADER_LEN: usize = 56;
pub const LEN: usize = HEADER_LEN + PRIVATE_MAX + 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    Request = 1,
    Reply = 2,
    Ready = 3,
    Reject = 4,
    Disconnect = 5,
}

impl MessageKind {
    fn from_byte(byte: u8) -> Option<MessageKind> {
        use MessageKind::*;
        [Request, Reply, Ready, Reject, Disconnect]
            .into_iter()
            .find(|kind| *kind as u8 == byte)
    }
}

/// `responder_resources` and `initiator_depth` are the sender's own. Only a rejection has a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub kind: MessageKind,
    pub port_space: u16,
    pub qp_num: u32,
    pub psn: u32,
    pub qkey: u32,
    pub lid: u16,
    pub mtu: u8,
    pub responder_resources: u8,
    pub initiator_depth: u8,
    pub retry_count: u8,
    pub rnr_retry_count: u8,
    pub srq: bool,
    pub flow_control: bool,
    pub reason: u32,
    pub gid: [u8; 16],
    pub private: Vec<u8>,
}

impl Message {
    /// A message with nothing to tell but its kind.
    pub fn bare(kind: MessageKind) -> Message {
        Message {
            kind,
            port_space: 0,
            qp_num: 0,
            psn: 0,
            qkey: 0,
            lid: 0,
            mtu: 0,
            responder_resources: 0,
            initiator_depth: 0,
            retry_count: 0,
            rnr_retry_count: 0,
            srq: false,
            flow_control: false,
            reason: 0,
            gid: [0; 16],
            private: Vec::new(),
        }
    }

    /// Private data beyond [`PRIVATE_MAX`] cannot be: C counts them in a byte.
    pub fn encode(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = self.kind as u8;
        bytes[5] = self.private.len() as u8;
        bytes[6..8].copy_from_slice(&self.port_space.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.qp_num.to_be_bytes());
        bytes[12..16].copy_from_slice(&self.psn.to_be_bytes());
        bytes[16..20].copy_from_slice(&self.qkey.to_be_bytes());
        bytes[20..22].copy_from_slice(&self.lid.to_be_bytes());
        bytes[22] = self.mtu;
        bytes[23] = self.responder_resources;
        bytes[24] = self.initiator_depth;
        bytes[25] = self.retry_count;
        bytes[26] = self.rnr_retry_count;
        bytes[27] = u8::from(self.srq);
        bytes[28] = u8::from(self.flow_control);
        bytes[32..36].copy_from_slice(&self.reason.to_be_bytes());
        bytes[40..56].copy_from_slice(&self.gid);
        bytes[HEADER_LEN..][..self.private.len()].copy_from_slice(&self.private);
        bytes
    }

    /// `None` when it is no message of ours.
    pub fn decode(bytes: &[u8; LEN]) -> Option<Message> {
        if bytes[..4] != MAGIC {
            return None;
        }
        let half = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| (u32::from(half(at)) << 16) | u32::from(half(at + 2));
        let mut gid = [0; 16];
        gid.copy_from_slice(&bytes[40..56]);
        Some(Message {
            kind: MessageKind::from_byte(bytes[4])?,
            port_space: half(6),
            qp_num: word(8),
            psn: word(12),
            qkey: word(16),
            lid: half(20),
            mtu: bytes[22],
            responder_resources: bytes[23],
            initiator_depth: bytes[24],
            retry_count: bytes[25],
            rnr_retry_count: bytes[26],
            srq: bytes[27] != 0,
            flow_control: bytes[28] != 0,
            reason: word(32),
            gid,
            private: bytes[HEADER_LEN..][..usize::from(bytes[5])].to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        for private in [0, 1, PRIVATE_MAX] {
            let message = Message {
                port_space: 0x0106,
                qp_num: 0x12_3456,
                psn: 0xfe_dcba,
                qkey: 0x0123_4567,
                lid: 0xbeef,
                mtu: 3,
                responder_resources: 16,
                initiator_depth: 15,
                retry_count: 7,
                rnr_retry_count: 6,
                srq: true,
                flow_control: false,
                reason: 28,
                gid: *b"0123456789abcdef",
                private: (0..private).map(|byte| byte as u8).collect(),
                ..Message::bare(MessageKind::Reply)
            };
            assert_eq!(Message::decode(&message.encode()), Some(message));
        }
    }

    #[test]
    fn other_peoples_bytes_are_refused() {
        let mut bytes = Message::bare(MessageKind::Ready).encode();
        bytes[4] = 6;
        assert_eq!(Message::decode(&bytes), None);
        bytes = Message::bare(MessageKind::Ready).encode();
        bytes[3] ^= 1;
        assert_eq!(Message::decode(&bytes), None);
        assert_eq!(Message::decode(&[0; LEN]), None);
    }
}
