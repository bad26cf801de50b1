//! The background thread: what it does while the program computes, and how it makes way.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Poll;
use std::thread::{Scope, sleep};
use std::time::{Duration, Instant};

use weft_transport::loopback::{Loopback, Network};
use weft_transport::{Fabric, Peer};

use super::CONTEXT;
use crate::{Awaited, Background, Engine, Pace, RequestId, Status};

/// Long beside a nap; what is to happen happens within.
const LONG: Duration = Duration::from_secs(20);
/// A few naps.
const NAPS: Duration = Duration::from_millis(30);

/// A fabric with a doorbell: a sleep ends when it is rung, when something has come, or after a while.
struct Belled {
    inner: Loopback,
    rings: Mutex<u32>,
    rung: Condvar,
}

impl Fabric for Belled {
    type Endpoint = <Loopback as Fabric>::Endpoint;

    fn endpoint(&self, lane: u32) -> Self::Endpoint {
        self.inner.endpoint(lane)
    }

    fn signalled(&self) -> u64 {
        self.inner.signalled()
    }

    fn prepare_sleep(&self) -> u32 {
        *self.rings.lock().unwrap()
    }

    fn sleep(&self, ticket: u32, _timeout_ms: Option<u32>) {
        let begin = Instant::now();
        let mut rings = self.rings.lock().unwrap();
        while *rings == ticket && self.signalled() == 0 && begin.elapsed() < LONG {
            let waited = self.rung.wait_timeout(rings, Duration::from_micros(200));
            rings = waited.unwrap().0;
        }
    }

    fn wake(&self) {
        *self.rings.lock().unwrap() += 1;
        self.rung.notify_all();
    }
}

/// Two engines whose threads never spin, and the network that they are on.
fn pair() -> Vec<Engine<Belled>> {
    let network = Network::new(1, 4, 1000);
    let engine = |me: Peer| {
        let fabric = Belled {
            inner: network.fabric(me, 2),
            rings: Mutex::default(),
            rung: Condvar::new(),
        };
        Engine::new(fabric, me, 2, Pace::CROWDED, 1)
    };
    (0..2).map(engine).collect()
}

/// Ends the run when the test is over, also where it fails.
struct Running<'a>(&'a Engine<Belled>, &'a Background);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.end_background(self.1);
    }
}

fn run<'scope, 'a: 'scope>(
    scope: &'scope Scope<'scope, '_>,
    engine: &'a Engine<Belled>,
    background: &'a Background,
) -> Running<'a> {
    scope.spawn(move || engine.run_background(background));
    Running(engine, background)
}

fn wakes(engine: &Engine<Belled>) -> u64 {
    engine.watch.background_wakes.load(Ordering::Relaxed)
}

/// Waits for something that another thread does.
fn soon(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < LONG, "not soon: {what}");
        sleep(Duration::from_micros(100));
    }
}

fn watches_in_background(engine: &Engine<Belled>) -> bool {
    engine.watch.is_watched_in_background()
}

/// Counts in `polls` how often an operation is polled that ends with the request.
async fn counted(
    engine: &'static Engine<Belled>,
    awaited: Awaited,
    id: RequestId,
    polls: Arc<AtomicU32>,
) -> Status {
    poll_fn(|_| {
        polls.fetch_add(1, Ordering::SeqCst);
        match engine.await_request(&awaited, id) {
            true => Poll::Pending,
            false => Poll::Ready(Status::EMPTY),
        }
    })
    .await
}

#[test]
fn it_answers_while_nobody_else_does() {
    let pair = pair().leak();
    let (own, other) = (&pair[0], &pair[1]);
    let (background, mut byte, mut got) = (Background::new(), [7], [0]);
    let receive = own.receive_from(1, 0, &mut got);
    std::thread::scope(|scope| {
        let _running = run(scope, own, &background);
        soon("it watches", || watches_in_background(own));
        // Complete when it has matched.
        let send = other.send_to(0, 0, &mut byte, true);
        soon("an answer", || {
            other.progress();
            other.is_complete(send)
        });
        other.finish(send);
    });
    assert!(own.is_complete(receive));
    own.finish(receive);
    assert_eq!(got, [7]);
}

#[test]
fn it_polls_the_operations_that_say_so_alone() {
    let pair = pair().leak();
    let (own, other) = (&pair[0], &pair[1]);
    let background = Background::new();
    let (mut bytes, mut got) = ([7; 2], [[0]; 2]);
    let polls = [(); 2].map(|()| Arc::new(AtomicU32::new(0)));
    let receives = [0, 1].map(|tag| own.receive_from(1, tag, &mut got[tag as usize]));
    let program = own.begin(0, CONTEXT, |awaited| {
        counted(own, awaited, receives[0], polls[0].clone())
    });
    let in_background = own.begin_in_background(0, CONTEXT, |awaited| {
        counted(own, awaited, receives[1], polls[1].clone())
    });
    let (program, in_background) = (program.unwrap(), in_background.unwrap());
    std::thread::scope(|scope| {
        let _running = run(scope, own, &background);
        soon("it watches", || watches_in_background(own));
        let sends = [0, 1].map(|tag| other.send_to(0, tag, &mut bytes[tag as usize..][..1], true));
        soon("its operation is over", || {
            other.progress();
            own.is_complete(in_background)
        });
        sleep(NAPS);
        // Though there is something for the program, it sleeps.
        assert!(watches_in_background(own) && !own.is_complete(program));
        assert_eq!(
            polls.each_ref().map(|polls| polls.load(Ordering::SeqCst)),
            [1, 2]
        );
        own.wait(program);
        for send in sends {
            other.wait(send);
        }
    });
    own.finish(in_background);
    for receive in receives {
        own.finish(receive);
    }
}

/// A thread that waits becomes the watcher, and then the background thread sleeps too.
#[test]
fn it_leaves_the_doorbell_to_a_thread_that_waits() {
    let pair = pair().leak();
    let (own, other) = (&pair[0], &pair[1]);
    let background = Background::new();
    let mut got = [0];
    std::thread::scope(|scope| {
        let _running = run(scope, own, &background);
        for round in 0..20 {
            soon("it watches", || watches_in_background(own));
            let receive = own.receive_from(1, round, &mut got);
            let waiter = scope.spawn(move || own.wait(receive));
            soon("the thread watches", || {
                own.watch.is_watched() && !watches_in_background(own)
            });
            sleep(NAPS);
            let before = wakes(own);
            sleep(NAPS);
            assert_eq!(wakes(own), before, "it wakes though a thread watches");
            other.wait(other.send_to(0, round as u32, &mut [3], true));
            assert_eq!(waiter.join().unwrap().failure, None);
        }
    });
}

/// It does not take turns with a thread that tests.
#[test]
fn it_naps_while_others_make_progress() {
    let pair = pair().leak();
    let own = &pair[0];
    let background = Background::new();
    let mut got = [0];
    let receive = own.receive_from(1, 0, &mut got);
    std::thread::scope(|scope| {
        let _running = run(scope, own, &background);
        soon("it watches", || watches_in_background(own));
        soon("it naps", || {
            own.progress();
            own.fabric().wake();
            !watches_in_background(own)
        });
        let (begin, before) = (Instant::now(), wakes(own));
        while begin.elapsed() < NAPS {
            own.progress();
        }
        let after = wakes(own);
        let most = 2 + begin.elapsed().as_millis() as u64;
        assert!((1..=most).contains(&(after - before)), "{}", after - before);
    });
    own.cancel(receive);
    own.wait(receive);
}

/// Whatever it does at the moment.
#[test]
fn it_ends_when_it_is_told() {
    let pair = pair().leak();
    let own = &pair[0];
    for wait_us in [0, 500, 1000, 1500, 3000, 20_000] {
        let background = Background::new();
        let begin = Instant::now();
        std::thread::scope(|scope| {
            let _running = run(scope, own, &background);
            sleep(Duration::from_micros(wait_us));
        });
        assert!(begin.elapsed() < LONG / 4);
    }
    // While a thread watches.
    let background = Background::new();
    let mut got = [0];
    std::thread::scope(|scope| {
        let receive = own.receive_from(1, 0, &mut got);
        let waiter = scope.spawn(move || own.wait(receive));
        soon("the thread watches", || own.watch.is_watched());
        let begin = Instant::now();
        let runner = scope.spawn(|| own.run_background(&background));
        sleep(NAPS);
        own.end_background(&background);
        runner.join().unwrap();
        assert!(begin.elapsed() < LONG / 4);
        pair[1].wait(pair[1].send_to(0, 0, &mut [3], true));
        waiter.join().unwrap();
    });
}

/// Waits in a poll, once a request is complete, until the program says so; ends then.
async fn patient(
    engine: &'static Engine<Belled>,
    awaited: Awaited,
    id: RequestId,
    stages: Arc<AtomicU32>,
) -> Status {
    poll_fn(|_| {
        if engine.await_request(&awaited, id) {
            return Poll::Pending;
        }
        stages.store(1, Ordering::SeqCst);
        engine.block_on_outside(|| stages.load(Ordering::SeqCst) == 2);
        Poll::Ready(Status::EMPTY)
    })
    .await
}

/// It sleeps in that, watches, and makes progress.
fn a_poll_waits(in_background: bool) {
    let pair = pair().leak();
    let (own, other) = (&pair[0], &pair[1]);
    let background = Background::new();
    let (mut byte, mut got) = ([7], [[0]; 3]);
    let stages = Arc::new(AtomicU32::new(0));
    let polls = Arc::new(AtomicU32::new(0));
    let receives = [0, 1, 2].map(|tag| own.receive_from(1, tag, &mut got[tag as usize]));
    let make = |awaited| patient(own, awaited, receives[0], stages.clone());
    let operation = match in_background {
        true => own.begin_in_background(0, CONTEXT, make),
        false => own.begin(0, CONTEXT, make),
    }
    .unwrap();
    let program = own.begin(0, CONTEXT, |awaited| {
        counted(own, awaited, receives[1], polls.clone())
    });
    let program = program.unwrap();
    std::thread::scope(|scope| {
        let running = in_background.then(|| run(scope, own, &background));
        let waiter = (!in_background).then(|| scope.spawn(|| own.wait(operation)));
        soon("a thread watches", || own.watch.is_watched());
        let mut send = |tag| other.send_to(0, tag, &mut byte, true);
        let first = send(0);
        soon("the poll waits", || {
            other.progress();
            stages.load(Ordering::SeqCst) == 1
        });
        other.wait(first);
        for tag in [1, 2] {
            other.wait(send(tag));
        }
        soon("it makes progress meanwhile", || {
            own.is_complete(receives[2])
        });
        sleep(NAPS);
        // The background thread polls no operation of the program's there either.
        assert_eq!(own.is_complete(program), !in_background);
        stages.store(2, Ordering::SeqCst);
        own.fabric().wake();
        soon("the operation is over", || own.is_complete(operation));
        drop(running);
        waiter.map(|waiter| waiter.join().unwrap());
    });
    if in_background {
        own.finish(operation);
    }
    own.wait(program);
    for receive in receives {
        own.finish(receive);
    }
}

#[test]
fn a_watcher_waits_in_a_poll() {
    a_poll_waits(false);
}

#[test]
fn it_waits_in_a_poll() {
    a_poll_waits(true);
}
