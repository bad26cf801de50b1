//! Other lanes move while one lane has traffic.

use weft_transport::loopback::{Loopback, Network};
use weft_transport::tracer::Tracer;

use super::{CONTEXT, engines, memory, route};
use crate::{Engine, Incoming, Outgoing, Route, Wanted};

/// Longer than a packet.
const LONG: usize = 5000;
const OTHER_LANE: u32 = 5;
/// Rounds of traffic after which a lane counts as one that is never looked at.
const ROUNDS: usize = 2000;

/// What a process does with the traffic of lane 0 in one round, in which the other has sent it one message.
type Round = fn(&Engine<Tracer<Loopback>>);

fn receives_at_once(engine: &Engine<Tracer<Loopback>>) {
    let mut byte = [0; 1];
    let id = engine.receive_from(1, 7, &mut byte);
    engine.wait(id);
}

fn finds_complete(engine: &Engine<Tracer<Loopback>>) {
    let mut byte = [0; 1];
    let id = engine.receive_from(1, 7, &mut byte);
    while engine.finish_complete(id).is_none() {
        engine.progress_lane(0);
    }
}

fn probes(engine: &Engine<Tracer<Loopback>>) {
    let wanted = Wanted {
        lane: 0,
        peer: 1,
        context: CONTEXT,
        source: 1,
        tag: 7,
    };
    while engine.probe(wanted).unwrap().is_none() {}
    let (id, _) = engine.extract(wanted).unwrap().unwrap();
    let mut byte = [0; 1];
    engine.wait(engine.receive_extracted(id, memory(&mut byte)));
}

fn waits_for_what_is_outside(engine: &Engine<Tracer<Loopback>>) {
    receives_at_once(engine);
    let mut asked = 0;
    engine.block_on_outside(|| {
        asked += 1;
        asked == 2
    });
}

/// Rounds of traffic in lane 0 from 1 to 0 in which a long message, in another lane, is taken.
fn rounds_until_taken(round: Round) -> Option<usize> {
    let pair = engines(&Network::new(1, 64, 1000), 2);
    let (mut sent, mut received) = ([1; LONG], [0; LONG]);
    let route = Route {
        lane: OTHER_LANE,
        ..route(1, 1, 3)
    };
    let receive = Incoming {
        route,
        memory: memory(&mut received),
    };
    let send = Outgoing {
        route: Route { peer: 0, ..route },
        memory: memory(&mut sent),
        synchronous: false,
    };
    let ids = [pair[0].receive(receive), pair[1].send(send)].map(Result::unwrap);
    let taken = (0..ROUNDS).find(|_| {
        pair[1].detach(pair[1].send_to(0, 7, &mut [1], false));
        round(&pair[0]);
        pair[1].progress();
        pair[0].is_complete(ids[0])
    });
    for _ in 0..ROUNDS {
        pair.iter().for_each(|engine| {
            engine.progress();
        });
    }
    for (engine, id) in pair.iter().zip(ids) {
        engine.wait(id);
    }
    taken
}

/// A few looks at a lane take a long message, and there is one in some hundred turns of another.
#[test]
fn a_lane_moves_whatever_another_does() {
    let all: [Round; 4] = [
        receives_at_once,
        finds_complete,
        probes,
        waits_for_what_is_outside,
    ];
    for (number, round) in all.into_iter().enumerate() {
        let taken = rounds_until_taken(round);
        assert!(
            taken.is_some_and(|rounds| rounds < 1000),
            "{number}: {taken:?}"
        );
    }
}
