//! A peer whose packets are well formed and false: each answer of the protocol for a request in each stage. What fits the
//! stage is taken; all else ends the peer, fails its requests once and leaves the process alone.

use weft_memory::Memory;
use weft_transport::loopback::{LoopbackEndpoint, Network};
use weft_transport::{Endpoint, Fabric, Header, Lost, Refused, Sink};
use weft_wire::{Body, FORGOTTEN, Packet, PacketKind};

use super::{CONTEXT, Traced, engines};
use crate::{Engine, Failure, RequestId};

const LIMIT: usize = 1000;
const ME: u32 = 0;
const LIAR: u32 = 1;

/// Stages of requests that the liar is to answer, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    SendQueued,
    SendSynchronous,
    SendOffered,
    SendOfferedSynchronous,
    SendKept,
    SendCancelling,
    ReceivePosted,
    ReceiveAsked,
    ReceiveTransfers,
    Complete,
    NeverMade,
}

const STAGES: [Stage; 11] = [
    Stage::SendQueued,
    Stage::SendSynchronous,
    Stage::SendOffered,
    Stage::SendOfferedSynchronous,
    Stage::SendKept,
    Stage::SendCancelling,
    Stage::ReceivePosted,
    Stage::ReceiveAsked,
    Stage::ReceiveTransfers,
    Stage::Complete,
    Stage::NeverMade,
];

/// The answers, by what fits.
const ANSWERS: [(PacketKind, u8, usize, &[Stage]); 6] = [
    (PacketKind::Cts, 0, 16, &[Stage::SendKept]),
    (PacketKind::Data, 0, 8 + 100, &[Stage::ReceiveAsked]),
    // Less than was announced.
    (PacketKind::Data, 0, 8 + 99, &[]),
    (
        PacketKind::Ack,
        0,
        8,
        &[
            Stage::SendSynchronous,
            Stage::SendOfferedSynchronous,
            Stage::SendCancelling,
        ],
    ),
    // What names no request that is under way may have been overtaken by its end.
    (
        PacketKind::Cancelled,
        0,
        8,
        &[
            Stage::SendCancelling,
            Stage::Complete,
            Stage::NeverMade,
            Stage::SendQueued,
            Stage::ReceivePosted,
            Stage::ReceiveAsked,
            Stage::ReceiveTransfers,
        ],
    ),
    (
        PacketKind::Cancelled,
        FORGOTTEN,
        8,
        &[
            Stage::SendCancelling,
            Stage::Complete,
            Stage::NeverMade,
            Stage::SendQueued,
            Stage::ReceivePosted,
            Stage::ReceiveAsked,
            Stage::ReceiveTransfers,
        ],
    ),
];

struct Stand {
    engine: Engine<Traced>,
    liar: LoopbackEndpoint,
    data: Box<[u8; 5000]>,
}

impl Stand {
    fn new() -> Stand {
        let network = Network::new(1, 64, LIMIT);
        let engine = engines(&network, 2).swap_remove(ME as usize);
        Stand {
            engine,
            liar: network.fabric(LIAR, 2).endpoint(0),
            data: Box::new([7; 5000]),
        }
    }

    fn turn(&self) {
        for _ in 0..30 {
            self.engine.progress();
        }
    }

    fn lie(&mut self, packet: Packet, payload: &[u8]) -> Result<(), Refused> {
        let sent = self.liar.send(ME, Header(packet.words()), payload, false);
        self.turn();
        sent
    }

    fn message(kind: PacketKind) -> Packet {
        Packet {
            kind,
            flags: 0,
            source: LIAR,
            context: CONTEXT,
            tag: 7,
        }
    }

    fn send(&mut self, bytes: usize, synchronous: bool) -> RequestId {
        let bytes = &mut self.data[..bytes];
        // SAFETY: the data live as long as the engine; the borrow checker need not know.
        let bytes = unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr(), bytes.len()) };
        self.engine.send_to(LIAR, 7, bytes, synchronous)
    }

    fn receive(&mut self) -> RequestId {
        let bytes = &mut self.data[..100];
        // SAFETY: as in `send`.
        let bytes = unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr(), bytes.len()) };
        self.engine.receive_from(LIAR as i32, 7, bytes)
    }

    /// A request in a stage.
    fn bring_to(&mut self, stage: Stage) -> RequestId {
        match stage {
            Stage::SendQueued => {
                for _ in 0..64 {
                    self.send(8, false);
                }
                self.send(8, false)
            }
            Stage::SendSynchronous => self.send(8, true),
            Stage::SendOffered => self.send(5000, false),
            Stage::SendOfferedSynchronous => self.send(5000, true),
            Stage::SendKept => {
                self.liar.throttle(ME, true);
                self.send(8, false)
            }
            Stage::SendCancelling => {
                let id = self.send(8, true);
                self.engine.cancel(id);
                id
            }
            Stage::ReceivePosted => self.receive(),
            Stage::ReceiveAsked => {
                let id = self.receive();
                let mut body = [0; 16];
                Body([1, 100]).put(&mut body);
                self.lie(Stand::message(PacketKind::RtsOnly), &body)
                    .unwrap();
                id
            }
            Stage::ReceiveTransfers => {
                let id = self.receive();
                let mut source = vec![3; 5000].leak();
                let memory = Memory::contiguous(std::mem::take(&mut source).as_mut_ptr(), 5000);
                let words = self.liar.bulk_send(ME, memory, 1).unwrap().0;
                let mut body = [0; 48];
                Body([1, 5000, words[0], words[1], words[2], words[3]]).put(&mut body);
                let rts = Header(Stand::message(PacketKind::Rts).words());
                self.liar.send(ME, rts, &body, false).unwrap();
                // Until the transfer is taken up, and not until it is over.
                let mut state = self.engine.lane(0).enter_soon();
                while state.core.in_flight.is_empty() {
                    let crate::state::State { endpoint, core } = &mut *state;
                    endpoint.poll(core);
                }
                id
            }
            Stage::Complete => {
                let id = self.send(8, true);
                let mut body = [0; 8];
                Body([id.bits()]).put(&mut body);
                self.lie(Packet::control(PacketKind::Ack), &body).unwrap();
                assert!(self.engine.is_complete(id));
                id
            }
            Stage::NeverMade => RequestId::from_bits(u64::MAX >> 4),
        }
    }
}

#[test]
fn an_answer_that_does_not_fit_the_stage_ends_the_peer() {
    for (kind, flags, bytes, fitting) in ANSWERS {
        for stage in STAGES {
            let what = format!("{kind:?} of {bytes} B, flags {flags}, for {stage:?}");
            let mut stand = Stand::new();
            let id = stand.bring_to(stage);
            let mut payload = vec![9; bytes];
            Body([id.bits()]).put(&mut payload[..8]);
            let packet = Packet {
                flags,
                ..Packet::control(kind)
            };
            stand.lie(packet, &payload).unwrap();
            // Nonsense in any case: too short for anything.
            let is_ended = stand.lie(packet, &[]) == Err(Refused::Lost);
            assert_eq!(is_ended, !fitting.contains(&stage), "{what}");
            let state = stand.engine.lane(0).enter_soon();
            assert!(state.core.lost.contains(&LIAR), "{what}");
            assert!(state.core.in_flight.is_empty(), "{what}");
            assert!(state.core.outbound.is_empty() && state.core.actions.is_empty());
            drop(state);
            if stage == Stage::NeverMade {
                continue;
            }
            assert!(stand.engine.is_complete(id), "{what}");
            let status = stand.engine.finish(id);
            let well = match (kind, stage) {
                (_, Stage::Complete) => true,
                // The transport's own word completes it.
                (_, Stage::ReceiveTransfers) => status.failure.is_none(),
                (PacketKind::Cts, Stage::SendKept) => true,
                (PacketKind::Data, Stage::ReceiveAsked) => bytes == 108,
                (PacketKind::Ack, Stage::SendSynchronous) => true,
                (PacketKind::Cancelled, Stage::SendCancelling) => flags == FORGOTTEN,
                _ => false,
            };
            assert_eq!(status.failure.is_none(), well, "{what}");
        }
    }
}

/// That a receive gets no message fails it while it is posted, and says nothing of any other request.
#[test]
fn an_answer_fails_a_posted_receive_alone() {
    for stage in STAGES {
        let mut stand = Stand::new();
        let id = stand.bring_to(stage);
        let is_complete = stand.engine.is_complete(id);
        let mut payload = [0; 16];
        Body([id.bits(), 9]).put(&mut payload);
        stand
            .lie(Packet::control(PacketKind::Answer), &payload)
            .unwrap();
        let state = stand.engine.lane(0).enter_soon();
        assert!(!state.core.lost.contains(&LIAR), "{stage:?}");
        drop(state);
        match stage {
            Stage::ReceivePosted => {
                let failure = stand.engine.finish(id).failure;
                assert_eq!(failure, Some(Failure::Operation(9)));
            }
            Stage::NeverMade | Stage::ReceiveTransfers => {}
            _ => assert_eq!(stand.engine.is_complete(id), is_complete, "{stage:?}"),
        }
        // A receive of the slot's next user.
        let next = stand.receive();
        stand
            .lie(Packet::control(PacketKind::Answer), &payload)
            .unwrap();
        assert!(!stand.engine.is_complete(next), "{stage:?}");
        let mut payload = [0; 16];
        Body([next.bits(), 256]).put(&mut payload);
        stand
            .lie(Packet::control(PacketKind::Answer), &payload)
            .unwrap();
        assert!(
            stand.engine.is_complete(next),
            "no number: the peer is ended"
        );
        assert_eq!(stand.engine.finish(next).failure, Some(Failure::PeerLost));
    }
}

/// Each word of each kind of packet may be anything: the peer is ended or not, and nothing else happens.
#[test]
fn any_packet_at_all_is_survived() {
    let mut random = 1u64;
    let mut word = || {
        random = random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let drawn = random >> 16;
        // Small numbers are likelier to name something.
        if drawn.is_multiple_of(3) {
            drawn
        } else {
            drawn % 8
        }
    };
    for _ in 0..200 {
        let mut stand = Stand::new();
        let ids = [
            Stage::SendOfferedSynchronous,
            Stage::ReceivePosted,
            Stage::ReceiveAsked,
        ]
        .map(|stage| stand.bring_to(stage));
        for _ in 0..4 {
            let kind = 1 + word() % 12;
            let header = Header([
                kind | (word() % 8) << 8 | (word() % 2) << 32,
                u64::from(CONTEXT) | 7 << 32,
            ]);
            let mut payload = vec![0; (word() % 7 * 8) as usize];
            for chunk in payload.chunks_exact_mut(8) {
                let id = ids[(word() % 3) as usize].bits();
                let any = if word() % 2 == 0 { id } else { word() };
                chunk.copy_from_slice(&any.to_le_bytes());
            }
            if stand.liar.send(ME, header, &payload, false).is_err() {
                break;
            }
            stand.turn();
        }
        stand.liar.end(ME, &Lost("over".into()));
        stand.turn();
        for id in ids {
            assert!(stand.engine.is_complete(id), "{}", stand.engine.report());
            stand.engine.finish(id);
        }
    }
}

/// What was asked of a peer, and what it has promised, is dropped in the turn in which it is ended: the request that it was
/// asked for is over, and its place may be another's.
#[test]
fn what_was_asked_of_an_ended_peer_is_not_done() {
    for seed in 0..50 {
        let network = Network::new(seed, 64, LIMIT);
        let engine = engines(&network, 2).swap_remove(ME as usize);
        let mut liar = network.fabric(LIAR, 2).endpoint(0);
        let mut got = [0; 5000];
        let receive = engine.receive_from(LIAR as i32, 7, &mut got);
        let mut source = [3; 5000];
        let memory = Memory::contiguous(source.as_mut_ptr(), 5000);
        let [a, b, c, d] = liar.bulk_send(ME, memory, 1).unwrap().0;
        let mut body = [0; 48];
        Body([1, 5000, a, b, c, d]).put(&mut body);
        let rts = Header(Stand::message(PacketKind::Rts).words());
        liar.send(ME, rts, &body, false).unwrap();
        liar.send(ME, Header([0xee, 0]), &[], false).unwrap();
        while !engine.is_complete(receive) {
            engine.progress();
        }
        let failed = engine.finish(receive).failure == Some(Failure::PeerLost);
        // In its place.
        let mut other = [0; 8];
        let next = engine.receive_from(ME as i32, 1, &mut other);
        for _ in 0..20 {
            engine.progress();
        }
        assert!(!engine.is_complete(next), "seed {seed}");
        assert!(failed || got == [3; 5000], "seed {seed}");
        assert_eq!(network.open_transfers(), 0);
        engine.cancel(next);
        engine.finish(next);
    }
}

/// As above, the transport telling of the loss in the very poll that brought what asks something of the peer.
#[test]
fn what_was_asked_of_a_peer_that_is_lost_in_the_same_poll_is_not_done() {
    let answers = [
        (Stage::SendKept, PacketKind::Cts, 0, 16),
        (Stage::SendOffered, PacketKind::Cancelled, FORGOTTEN, 8),
        (Stage::ReceivePosted, PacketKind::RtsOnly, 0, 16),
        (Stage::ReceivePosted, PacketKind::Rts, 0, 48),
    ];
    for (stage, kind, flags, bytes) in answers {
        let mut stand = Stand::new();
        let id = stand.bring_to(stage);
        if stage == Stage::SendOffered {
            stand.engine.cancel(id);
        }
        let mut payload = vec![0; bytes];
        Body([id.bits()]).put(&mut payload[..8]);
        let packet = match stage {
            Stage::ReceivePosted => Stand::message(kind),
            _ => Packet {
                flags,
                ..Packet::control(kind)
            },
        };
        let lane = stand.engine.lane(0);
        let mut state = lane.enter_soon();
        state.core.packet(LIAR, Header(packet.words()), &payload);
        assert_eq!(state.core.actions.len(), 1, "{kind:?}");
        state.endpoint.end(LIAR, &Lost("over".into()));
        state.core.lost(LIAR, &Lost("over".into()));
        assert_eq!(
            stand.engine.finish(id).failure,
            Some(Failure::PeerLost),
            "{kind:?}"
        );
        // In its place, while the lane is still inside that turn.
        let free = lane.returned.take_linked();
        assert_eq!(free, id.index());
        state.core.free.begin_at(free, &stand.engine.slots);
        state.act();
        assert!(state.core.actions.is_empty() && state.core.outbound.is_empty());
        stand.engine.leave(lane, state);
        let next = stand.engine.receive_from(ME as i32, 1, &mut [0; 8]);
        assert_eq!(next.index(), id.index());
        stand.turn();
        assert!(!stand.engine.is_complete(next), "{kind:?}");
        stand.engine.cancel(next);
        stand.engine.finish(next);
    }
}
