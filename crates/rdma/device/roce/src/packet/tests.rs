use std::net::Ipv4Addr;

use proptest::prelude::*;

use super::*;
use crate::batch::Batch;

/// CRC-32 bit by bit, from its definition: reflected polynomial 0x04c11db7, register and result inverted.
fn naive_crc(bytes: impl IntoIterator<Item = u8>) -> u32 {
    let mut register = u32::MAX;
    for byte in bytes {
        for bit in 0..8 {
            let feedback = register & 1 ^ u32::from(byte >> bit & 1);
            register >>= 1;
            if feedback == 1 {
                register ^= 0x04c1_1db7_u32.reverse_bits();
            }
        }
    }
    !register
}

/// The ICRC of a whole IP packet as a wire tap would see it, ICRC at its end left out.
fn naive_icrc(ip_packet: &[u8]) -> u32 {
    let mut masked = ip_packet.to_vec();
    for at in [1, 8, 10, 11, 26, 27, 32] {
        masked[at] = 0xff;
    }
    naive_crc([0xff; 8].into_iter().chain(masked))
}

/// The IP packet that carries `packet` (without ICRC).
fn ip_packet(route: &Route, identification: u16, packet: &[u8]) -> Vec<u8> {
    let total = (20 + 8 + packet.len() + 4) as u16;
    let mut ip = vec![0x45, 0x12];
    ip.extend_from_slice(&total.to_be_bytes());
    ip.extend_from_slice(&identification.to_be_bytes());
    ip.extend_from_slice(&[0x40, 0, 63, 17, 0xab, 0xcd]);
    ip.extend_from_slice(&route.source.octets());
    ip.extend_from_slice(&route.destination.octets());
    ip.extend_from_slice(&route.source_port.to_be_bytes());
    ip.extend_from_slice(&4791u16.to_be_bytes());
    ip.extend_from_slice(&(total - 20).to_be_bytes());
    ip.extend_from_slice(&[0x55, 0x66]);
    ip.extend_from_slice(packet);
    ip
}

fn route() -> Route {
    Route {
        source: Ipv4Addr::new(192, 168, 7, 1),
        destination: Ipv4Addr::new(192, 168, 7, 2),
        source_port: 4791,
        destination_port: 4791,
    }
}

#[test]
fn naive_crc_is_crc_32() {
    assert_eq!(naive_crc(*b"123456789"), 0xcbf4_3926);
}

#[test]
fn icrc_agrees_with_its_definition() {
    for bytes in [12, 13, 16, 100, 1068, 4160] {
        let packet: Vec<u8> = (0..bytes).map(|i| (i * 7 + 3) as u8).collect();
        let expected = naive_icrc(&ip_packet(&route(), 0, &packet));
        assert_eq!(icrc(&route(), &packet), expected, "{bytes} bytes");
    }
}

#[test]
fn any_identification_is_accepted_and_a_wrong_bit_is_not() {
    let mut packet: Vec<u8> = (0..300u32).map(|i| (i * 11) as u8).collect();
    for identification in [0, 1, 0x8000, 0x1234, 0xffff] {
        let icrc = naive_icrc(&ip_packet(&route(), identification, &packet));
        assert!(icrc_matches(&route(), &packet, icrc, 0), "{identification}");
        let known = Identified::new(packet.len());
        assert_eq!(
            super::icrc(&route(), &packet) ^ known.change(identification),
            icrc
        );
        for bit in 0..32 {
            assert!(!icrc_matches(&route(), &packet, icrc ^ 1 << bit, 0));
        }
        for at in [0, 1, 5, 11, 12, 150, 299] {
            packet[at] ^= 0x10;
            assert!(!icrc_matches(&route(), &packet, icrc, 0), "byte {at}");
            packet[at] ^= 0x10;
        }
        // The masked byte may change on the way.
        packet[4] ^= 0xff;
        assert!(icrc_matches(&route(), &packet, icrc, 0));
        packet[4] ^= 0xff;
    }
}

#[test]
fn opcode_bytes_of_the_specification() {
    let byte = |service, kind| Opcode::new(service, kind).map(Opcode::byte);
    assert_eq!(
        byte(Service::Reliable, PacketOperation::SendOnly),
        Some(0x04)
    );
    assert_eq!(
        byte(Service::Reliable, PacketOperation::WriteOnly),
        Some(0x0a)
    );
    assert_eq!(
        byte(Service::Reliable, PacketOperation::ReadRequest),
        Some(0x0c)
    );
    assert_eq!(
        byte(Service::Reliable, PacketOperation::Acknowledge),
        Some(0x11)
    );
    assert_eq!(
        byte(Service::Reliable, PacketOperation::SendOnlyInvalidate),
        Some(0x17)
    );
    assert_eq!(
        byte(Service::Unreliable, PacketOperation::SendOnly),
        Some(0x24)
    );
    assert_eq!(
        byte(Service::Unreliable, PacketOperation::ReadRequest),
        None
    );
    assert_eq!(
        byte(Service::Datagram, PacketOperation::SendOnlyImmediate),
        Some(0x65)
    );
    assert_eq!(byte(Service::Datagram, PacketOperation::SendFirst), None);
    assert_eq!(
        byte(Service::ExtendedReliable, PacketOperation::FetchAdd),
        Some(0xb4)
    );
    assert_eq!(
        (0..=255).filter_map(Opcode::from_byte).count(),
        23 + 12 + 2 + 23
    );
    for byte in 0..=255 {
        if let Some(opcode) = Opcode::from_byte(byte) {
            assert_eq!(opcode.byte(), byte);
        }
    }
}

#[test]
fn a_write_byte_by_byte() {
    let opcode = Opcode::new(Service::Reliable, PacketOperation::WriteOnlyImmediate).unwrap();
    let mut header = Header::new(opcode, 0xffff, 0x01_0203, 0xa_bcde);
    header.solicited = true;
    header.ack_request = true;
    header.reth = Reth {
        address: 0x1122_3344_5566_7788,
        rkey: 0x99aa_bbcc,
        length: 5,
    };
    header.immediate = 0xdead_beef_u32.to_be();
    let mut bytes = Vec::new();
    header.emit(5, &mut bytes);
    let expected = [
        0x0b, 0xf0, 0xff, 0xff, 0x00, 0x01, 0x02, 0x03, 0x80, 0x0a, 0xbc, 0xde, // BTH
        0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0, 0, 0,
        5, // RETH
        0xde, 0xad, 0xbe, 0xef, // ImmDt
    ];
    assert_eq!(bytes, expected);
}

#[test]
fn syndromes_of_the_specification() {
    for (byte, syndrome) in [
        (0x1f, Syndrome::Ack),
        (0x2e, Syndrome::ReceiverNotReady(14)),
        (0x60, Syndrome::SequenceError),
        (0x61, Syndrome::InvalidRequest),
        (0x62, Syndrome::RemoteAccess),
        (0x63, Syndrome::RemoteOperation),
    ] {
        assert_eq!(syndrome.byte(), byte);
        assert_eq!(Syndrome::from_byte(byte), syndrome);
    }
    assert_eq!(Syndrome::from_byte(0), Syndrome::Ack);
    assert_eq!(Syndrome::from_byte(0x40), Syndrome::Reserved);
    assert_eq!(Syndrome::from_byte(0x65), Syndrome::Reserved);
}

fn any_header() -> impl Strategy<Value = Header> {
    let opcode = (0u8..=255).prop_filter_map("no opcode", Opcode::from_byte);
    let numbers = proptest::collection::vec(any::<u64>(), 12);
    (opcode, numbers, any::<bool>(), any::<bool>()).prop_map(|(opcode, n, solicited, ack)| {
        let layout = opcode.layout();
        let mut header = Header::new(opcode, n[0] as u16, n[1] as u32 >> 8, n[2] as u32 >> 8);
        header.solicited = solicited;
        header.ack_request = ack;
        header.selective = n[8] & 1 == 1;
        if layout.xrc {
            header.xrc_srq = n[3] as u32 >> 8;
        }
        if layout.datagram {
            header.deth = Deth {
                qkey: n[4] as u32,
                source_qpn: n[5] as u32 >> 8,
            };
        }
        if layout.reth {
            header.reth = Reth {
                address: n[4],
                rkey: n[5] as u32,
                length: n[6] as u32,
            };
        }
        if layout.atomic {
            header.atomic = AtomicEth {
                address: n[4],
                rkey: n[5] as u32,
                swap_or_add: n[6],
                compare: n[7],
            };
        }
        if layout.aeth {
            header.aeth = Aeth {
                syndrome: n[4] as u8,
                msn: n[5] as u32 >> 8,
            };
        }
        if layout.original {
            header.original = n[6];
        }
        if layout.immediate {
            header.immediate = n[7] as u32;
        }
        if layout.invalidate {
            header.invalidate = n[7] as u32;
        }
        header
    })
}

proptest! {
    #[test]
    fn what_is_sent_is_read(header in any_header(), payload in proptest::collection::vec(any::<u8>(), 0..600)) {
        let mut batch = Batch::new();
        let fill = |out: &mut [u8]| { out.copy_from_slice(&payload); Ok::<(), ()>(()) };
        batch.push(&route(), &header, payload.len(), fill).unwrap();
        let (destination, bytes) = batch.iter().next().unwrap();
        prop_assert_eq!(destination, route().destination);
        prop_assert_eq!(bytes.len() % 4, 0);
        let view = View::parse(bytes).unwrap();
        prop_assert_eq!(view.header(), &header);
        prop_assert_eq!(view.payload(), &payload[..]);
        prop_assert_eq!(view.icrc(), naive_icrc(&ip_packet(&route(), 0, view.covered())));
    }

    #[test]
    fn any_bytes_are_a_packet_or_not(mut bytes in proptest::collection::vec(any::<u8>(), 0..120), opcode in 0u8..=255, flags in 0u8..=255) {
        if bytes.len() > 1 {
            bytes[0] = opcode;
            bytes[1] = flags & 0xf0;
        }
        if let Ok(view) = View::parse(&bytes) {
            let header = BTH_BYTES + view.header().opcode.layout().bytes();
            let pad = usize::from(bytes[1] >> 4 & 3);
            prop_assert_eq!(header + view.payload().len() + pad + ICRC_BYTES, bytes.len());
            let mut again = Vec::new();
            view.header().emit(view.payload().len(), &mut again);
            // All but reserved bits and the migration bit.
            prop_assert_eq!(again[0], bytes[0]);
            prop_assert_eq!(&again[5..8], &bytes[5..8]);
            prop_assert_eq!(&again[9..12], &bytes[9..12]);
        }
    }

    #[test]
    fn truncated_packets_are_not_read_beyond(header in any_header(), cut in 0usize..64) {
        let mut batch = Batch::new();
        batch.push_bare(&route(), &header);
        let (_, bytes) = batch.iter().next().unwrap();
        let saved = bytes.len().saturating_sub(cut + 1);
        prop_assert!(View::parse(&bytes[..saved]).is_err());
    }
}
