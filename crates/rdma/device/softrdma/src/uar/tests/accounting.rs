//! What is counted of contexts and objects, and how others read it.

use super::*;
use crate::uar::figures::read_contexts;
use crate::uar::record::{CHUNK_MAGIC, RECORDS, WORDS};

#[test]
fn objects_are_counted_while_they_live() {
    let host = Host::new();
    let context = host.open(Settings::default());
    let pd = context.count(Object::ProtectionDomain);
    let regions: Vec<_> = (0..3)
        .map(|_| context.count(Object::MemoryRegion))
        .collect();
    let xrc = context.count(Object::XrcReceiveQueuePair);
    let domains = [Sharing::Page, Sharing::Uuar].map(|s| context.alloc_td(Some(s)).unwrap());
    let queue_pair = context.create_qp(Some(&domains[1])).unwrap();
    let queues = (
        context.create_cq(true).unwrap(),
        context.create_srq(None).unwrap(),
    );
    let figures = host.figures();
    assert_eq!((figures.contexts, figures.pds, figures.mrs), (1, 1, 3));
    assert_eq!((figures.qps, figures.cqs, figures.srqs), (2, 1, 1));
    assert_eq!((figures.tds_level_1, figures.tds_level_2), (1, 1));
    assert_eq!((figures.static_uars, figures.dynamic_uars), (8, 2));
    assert_eq!((figures.static_uuars, figures.dynamic_uuars), (16, 4));
    assert_eq!((figures.used_uuars, figures.wasted_uuars()), (1, 19));
    assert_eq!(figures.bytes(), (256 + 2 * 80 + 9) * 1024 + 4 * 144);
    drop((pd, regions, xrc, queue_pair, queues, domains));
    let empty = Figures {
        contexts: 1,
        static_uars: 8,
        dynamic_uars: 2,
        static_uuars: 16,
        dynamic_uuars: 4,
        ..Figures::default()
    };
    assert_eq!(host.figures(), empty);
    drop(context);
    assert_eq!(host.figures(), Figures::default());
}

#[test]
fn contexts_are_told_apart() {
    let host = Host::new();
    let contexts = [
        host.open(Settings::default()),
        Context::open(
            Settings {
                low_latency_uuars: 6,
                ..dynamic()
            },
            3,
            host.device.clone(),
            host.ledger.clone(),
        )
        .unwrap(),
    ];
    let _queue_pair = contexts[1].create_qp(None).unwrap();
    let read = host.ledger.contexts();
    assert_eq!(read.len(), 2);
    assert_eq!((read[0].device, read[0].number), (0, 1));
    assert_eq!((read[1].device, read[1].number), (3, 2));
    assert_eq!(
        (read[0].policy, read[1].policy),
        (Policy::Static, Policy::Dynamic)
    );
    assert_eq!((read[1].total_uuars, read[1].low_latency_uuars), (16, 6));
    assert_eq!((read[0].figures.qps, read[1].figures.qps), (0, 1));
}

#[test]
fn records_of_many_objects_are_found_and_used_again() {
    let host = Host::new();
    let context = host.open(Settings::default());
    for _ in 0..3 {
        let queues: Vec<_> = (0..200)
            .map(|_| context.create_cq(false).unwrap())
            .collect();
        for queue in &queues {
            drop(queue.enter());
        }
        assert_eq!(host.figures().cqs, 200);
    }
    assert_eq!(host.figures().cq_lock.takes, 600);
    // 202 records at a time, 31 to a chunk.
    assert_eq!(host.ledger.chunk_count(), 7);
}

#[test]
fn a_context_without_memory_for_its_figures_is_refused() {
    struct Full;
    impl ChunkSource for Full {
        fn allocate(&self) -> Option<(&'static Chunk, u64)> {
            None
        }
        fn publish(&self, _: u64) {}
    }
    let host = Host {
        device: Device::new(100),
        ledger: Arc::new(Ledger::new(Box::new(Full))),
    };
    let error = host.try_open(Settings::default()).err().unwrap();
    assert_eq!(error.errno(), libc::ENOMEM);
    assert_eq!(host.device.free(), 100);
}

#[test]
fn nonsense_in_another_process_is_survived() {
    let mut chunk = [[0u64; WORDS]; RECORDS];
    assert_eq!(read_contexts(0, |_| Some(chunk)), []);
    assert_eq!(read_contexts(4096, |_| Some(chunk)), []);
    assert_eq!(read_contexts(4096, |_| None), []);
    // A context in what does not say that it is a chunk.
    chunk[1][0] = 1 | 7 << 16;
    assert_eq!(read_contexts(4096, |_| Some(chunk)), []);
    // A ring of chunks with a context that says enormous things and a record of an unknown kind.
    chunk[0] = [4096; WORDS];
    chunk[0][0] = CHUNK_MAGIC;
    chunk[1] = [u64::MAX; WORDS];
    chunk[2] = [u64::MAX; WORDS];
    chunk[2][0] = 1 | 7 << 16;
    chunk[3] = [u64::MAX; WORDS];
    chunk[3][0] = 2 | 7 << 16;
    chunk[4] = chunk[3];
    chunk[4][0] = 2 | 8 << 16;
    let contexts = read_contexts(4096, |_| Some(chunk));
    assert_eq!(contexts.len(), 1);
    assert_eq!((contexts[0].number, contexts[0].figures.qps), (7, u64::MAX));
    assert_eq!(contexts[0].figures.bytes(), u64::MAX);
    assert_eq!(contexts[0].figures.wasted_uuars(), 0);
}
