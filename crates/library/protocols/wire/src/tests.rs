use super::*;
use proptest::prelude::*;

fn any_kind() -> impl Strategy<Value = PacketKind> {
    (1u64..13).prop_map(|k| View([k, 0]).kind().unwrap())
}

proptest! {
    #[test]
    fn header_round_trips(kind in any_kind(), flags in 0u8..4, source in 0u32..1 << 31, context: u32, tag in 0u32..1 << 31) {
        let packet = Packet { kind, flags, source, context, tag };
        prop_assert_eq!(View(packet.words()).packet(), Some(packet));
    }

    #[test]
    fn plain_eager_headers_are_known_at_a_glance(low: u64, high: u64, plain: bool) {
        let view = View([if plain { low & 0xffff_ffff_0000_0000 | 1 } else { low }, high]);
        let packet = view.packet().filter(|packet| packet.kind == PacketKind::Eager && packet.flags == 0);
        prop_assert_eq!(view.is_plain_eager(), packet.is_some());
        if let Some(packet) = packet {
            prop_assert_eq!(view.address(), (packet.source, packet.context, packet.tag));
        }
    }

    #[test]
    fn rts_round_trips(cookie: u64, bytes: u64, words: [u64; 4], is_last_zero: bool) {
        let [a, b, c, d] = words;
        let rts = Rts { cookie, bytes, transport: [a, b, c, if is_last_zero { 0 } else { d | 1 }] };
        let payload = rts.emit(<[u8]>::to_vec);
        prop_assert_eq!(payload.len(), if is_last_zero { RTS_BYTES - 8 } else { RTS_BYTES });
        prop_assert_eq!(Rts::parse(&payload), Some(rts));
        for bytes in [0, RTS_BYTES - 9, RTS_BYTES - 7, RTS_BYTES - 1, RTS_BYTES + 1] {
            let payload: Vec<u8> = payload.iter().copied().chain([0; 16]).take(bytes).collect();
            prop_assert_eq!(Rts::parse(&payload), None);
        }
    }

    #[test]
    fn a_valid_view_is_what_its_value_writes(words: [u64; 2]) {
        if let Some(packet) = View(words).packet() {
            prop_assert_eq!(packet.words(), words);
        }
    }

    #[test]
    fn aggregate_round_trips(messages in prop::collection::vec((any::<[u64; 2]>(), prop::collection::vec(any::<u8>(), 0..50)), 0..20)) {
        let total = messages.iter().map(|(_, m)| entry_bytes(m.len())).sum();
        let mut payload = vec![0; total];
        let mut at = 0;
        for (header, message) in &messages {
            put_entry(&mut payload[at..], *header, message.len()).copy_from_slice(message);
            at += entry_bytes(message.len());
        }
        let read: Vec<_> = Entries::new(&payload).map(|e| e.map(|e| (e.header, e.payload.to_vec()))).collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(read, messages);
    }

    #[test]
    fn any_bytes_end_as_an_aggregate(payload in prop::collection::vec(any::<u8>(), 0..200)) {
        let inside: usize = Entries::new(&payload).map(|e| e.map_or(0, |e| e.payload.len())).sum();
        prop_assert!(inside <= payload.len());
    }

    #[test]
    fn a_false_length_is_malformed(length in 9u64..) {
        let mut payload = [0u8; 32];
        Body([1, 2, length]).put(&mut payload[..24]);
        prop_assert!(Entries::new(&payload).next().unwrap().is_err());
    }
}

#[test]
fn out_of_range_headers_are_refused() {
    let good = Packet {
        kind: PacketKind::Eager,
        flags: 0,
        source: 1,
        context: 4,
        tag: 5,
    }
    .words();
    assert!(View(good).packet().is_some());
    for bad in [
        [good[0] & !0xff, good[1]],
        [good[0] | 0x0e, good[1]],
        [good[0] | 1 << 11, good[1]],
        [good[0] | 1 << 16, good[1]],
        [good[0] | 1 << 63, good[1]],
        [good[0], good[1] | 1 << 63],
    ] {
        assert!(View(bad).packet().is_none(), "{bad:x?}");
    }
}

#[test]
fn bodies_must_fit() {
    let mut bytes = [0u8; 17];
    Body([7, 9]).put(&mut bytes[..16]);
    assert_eq!(Body::<2>::whole(&bytes[..16]), Some(Body([7, 9])));
    assert_eq!(Body::<2>::whole(&bytes), None);
    assert_eq!(Body::<2>::whole(&bytes[..15]), None);
    assert_eq!(Body::<2>::split(&bytes).unwrap().1, &[0]);
}
