//! Bulk transfers.

use weft_memory::Memory;
use weft_transport::{BulkDescriptor, Cookie, Endpoint, Header, Peer};

use crate::layouts::strided;
use crate::process::{Process, Tested, linked_pair, turn};
use crate::random::Random;

/// An offer as the engine would carry it: in the payload of a packet.
pub fn offer_bytes(offer: BulkDescriptor) -> Vec<u8> {
    offer.0.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

pub fn offer_from(payload: &[u8]) -> BulkDescriptor {
    let words = payload.chunks_exact(8);
    let mut words = words.map(|word| u64::from_ne_bytes(word.try_into().unwrap()));
    BulkDescriptor(std::array::from_fn(|_| words.next().unwrap()))
}

pub fn memory(bytes: &mut [u8]) -> Memory {
    Memory::contiguous(bytes.as_mut_ptr(), bytes.len())
}

/// Opens a transfer and says so in a packet.
pub fn offer<F: Tested>(from: &mut Process<F>, to: Peer, source: Memory, cookie: Cookie) {
    let header = Header([cookie, source.bytes as u64]);
    let offer = from.endpoint.bulk_send(to, source, cookie).unwrap();
    from.endpoint
        .send(to, header, &offer_bytes(offer), false)
        .unwrap();
}

/// The transfer that the next packet names.
pub fn take<F: Tested>(from: &mut Process<F>, to: &mut Process<F>) -> BulkDescriptor {
    turn(&mut [from, to], |all| !all[1].log.packets.is_empty());
    offer_from(&to.log.packets.pop_front().unwrap().2)
}

pub fn bulk_of_every_length_arrives<F: Tested>() {
    let (mut a, mut b) = linked_pair::<F>();
    let mut random = Random(2);
    let lengths = [
        1,
        17_000,
        100_000,
        131_072,
        131_073,
        262_144,
        262_145,
        1 << 20,
        5_000_000,
    ];
    for (cookie, bytes) in lengths.into_iter().enumerate() {
        let mut data = random.bytes(bytes);
        let mut got = vec![0; bytes];
        offer(&mut a, 1, memory(&mut data), cookie as u64);
        turn(&mut [&mut a, &mut b], |all| !all[1].log.packets.is_empty());
        let (_, header, payload) = b.log.packets.pop_front().unwrap();
        assert_eq!(header.0, [cookie as u64, bytes as u64]);
        let target = memory(&mut got);
        b.endpoint
            .bulk_receive(0, offer_from(&payload), bytes, target, 7)
            .unwrap();
        turn(&mut [&mut a, &mut b], |all| {
            all[0].log.sent == [cookie as u64] && all[1].log.received == [7]
        });
        assert!(got == data, "{bytes} bytes");
        (a.log.sent, b.log.received) = (Vec::new(), Vec::new());
    }
}

pub fn a_transfer_nobody_wants_yet_holds_up_no_other<F: Tested>() {
    let (mut a, mut b) = linked_pair::<F>();
    let mut random = Random(3);
    for bytes in [50_000, 400_000, 3_000_000] {
        let mut data = [random.bytes(bytes), random.bytes(bytes)];
        let mut got = [vec![0; bytes], vec![0; bytes]];
        let mut offers = Vec::new();
        for (cookie, data) in data.iter_mut().enumerate() {
            offer(&mut a, 1, memory(data), cookie as u64);
            offers.push(take(&mut a, &mut b));
        }
        for which in [1, 0] {
            let target = memory(&mut got[which]);
            b.endpoint
                .bulk_receive(0, offers[which], bytes, target, which as u64)
                .unwrap();
            turn(&mut [&mut a, &mut b], |all| {
                all[1].log.received == [which as u64]
            });
            b.log.received.clear();
        }
        turn(&mut [&mut a, &mut b], |all| all[0].log.sent.len() == 2);
        a.log.sent.clear();
        assert!(got == data, "{bytes} bytes");
    }
}

pub fn less_may_be_wanted_than_there_is<F: Tested>() {
    let (mut a, mut b) = linked_pair::<F>();
    let mut random = Random(4);
    for (bytes, wanted) in [
        (50_000, 10),
        (50_000, 0),
        (400_000, 300_000),
        (400_000, 7),
        (2_000_000, 1_000_000),
    ] {
        let mut data = random.bytes(bytes);
        let mut got = vec![0; wanted + 1];
        offer(&mut a, 1, memory(&mut data), 1);
        let descriptor = take(&mut a, &mut b);
        let target = memory(&mut got[..wanted]);
        b.endpoint
            .bulk_receive(0, descriptor, bytes, target, 2)
            .unwrap();
        turn(&mut [&mut a, &mut b], |all| {
            !all[0].log.sent.is_empty() && !all[1].log.received.is_empty()
        });
        (a.log.sent, b.log.received) = (Vec::new(), Vec::new());
        assert!(
            got[..wanted] == data[..wanted] && got[wanted] == 0,
            "{wanted} of {bytes} bytes"
        );
    }
}

/// Takes many transfers back, before they have come and after.
pub fn take_back_often<F: Tested>(a: &mut Process<F>, b: &mut Process<F>) {
    let lengths = [40_000, 100_000, 1_000_000];
    for (round, bytes) in lengths.into_iter().cycle().take(150).enumerate() {
        let mut data = vec![1; bytes];
        offer(a, 1, memory(&mut data), 5);
        let has_come = round % 2 == 0;
        if has_come {
            take(a, b);
        }
        a.endpoint.bulk_cancel(1, 5);
        a.log.sent.clear();
        drop(data);
        if !has_come {
            take(a, b);
        }
        assert!(a.log.sent.is_empty());
    }
    // What of the last has come is dropped, and the sender is told.
    for _ in 0..400 {
        a.poll();
        b.poll();
    }
}

pub fn transfers_can_be_taken_back<F: Tested>() {
    let (mut a, mut b) = linked_pair::<F>();
    take_back_often(&mut a, &mut b);
    let (mut data, mut got) = (vec![8; 100_000], vec![0; 100_000]);
    offer(&mut a, 1, memory(&mut data), 6);
    let descriptor = take(&mut a, &mut b);
    b.endpoint
        .bulk_receive(0, descriptor, 100_000, memory(&mut got), 7)
        .unwrap();
    turn(&mut [&mut a, &mut b], |all| {
        all[0].log.sent == [6] && all[1].log.received == [7]
    });
    assert!(got == data && b.log.lost.is_empty());
}

/// What does not lie together at one end or the other arrives, also where less is wanted, or nothing.
pub fn scattered_memory_is_sent_and_received<F: Tested>() {
    let (mut a, mut b) = linked_pair::<F>();
    let mut random = Random(5);
    for bytes in [20_000, 100_000, 1_000_000] {
        for (from_scattered, to_scattered) in [(true, true), (true, false), (false, true)] {
            for wanted in [bytes, bytes / 3, 0] {
                let content = random.bytes(bytes);
                let mut data = match from_scattered {
                    true => content.iter().flat_map(|&byte| [byte, 0xee]).collect(),
                    false => content.clone(),
                };
                let mut got = vec![0; if to_scattered { 2 * wanted } else { wanted }];
                let source = match from_scattered {
                    true => strided(&mut data),
                    false => memory(&mut data),
                };
                offer(&mut a, 1, source, 1);
                let descriptor = take(&mut a, &mut b);
                let target = match to_scattered {
                    true => strided(&mut got),
                    false => memory(&mut got),
                };
                b.endpoint
                    .bulk_receive(0, descriptor, bytes, target, 2)
                    .unwrap();
                turn(&mut [&mut a, &mut b], |all| {
                    all[0].log.sent == [1] && all[1].log.received == [2]
                });
                (a.log.sent, b.log.received) = (Vec::new(), Vec::new());
                let step = if to_scattered { 2 } else { 1 };
                let came = got.iter().step_by(step);
                assert!(
                    came.eq(content[..wanted].iter()),
                    "{wanted} of {bytes} bytes"
                );
            }
        }
    }
}
