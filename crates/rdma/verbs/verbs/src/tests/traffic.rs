//! Requests go through: each operation, each kind of queue pair, events.

use super::*;

type Pair<D> = QueuePair<D, CompletionQueue>;

fn attributes() -> QueuePairAttributes {
    QueuePairAttributes {
        send_depth: 16,
        receive_depth: 16,
        inline_bytes: 64,
        ..Default::default()
    }
}

struct Side<D: Domain> {
    context: Context,
    queue: CompletionQueue,
    pair: Pair<D>,
    region: MemoryRegion,
}

impl<D: Domain> Side<D> {
    fn new(context: &Context, domain: D) -> Side<D> {
        let queue = CompletionQueue::new(context, 32, None).unwrap();
        let protection = domain.protection_domain().clone();
        let (sends, receives) = (queue.clone(), queue.clone());
        Side {
            context: context.clone(),
            pair: QueuePair::new(domain, sends, receives, None, &attributes()).unwrap(),
            region: MemoryRegion::new(&protection, &Buffer::new(4096), ACCESS).unwrap(),
            queue,
        }
    }

    /// Connected to itself.
    fn looped(context: &Context, domain: D) -> Side<D> {
        let side = Side::new(context, domain);
        let to = near(context, side.pair.number());
        side.pair.connect(&to).unwrap();
        side
    }

    fn next(&self) -> Completion {
        wait(|into| self.queue.poll(into).unwrap().len())
    }

    fn bytes<const N: usize>(&self, offset: usize) -> [u8; N] {
        let mut bytes = [0; N];
        self.region.read(offset, &mut bytes);
        bytes
    }
}

fn plain() -> Side<ProtectionDomain> {
    let context = open();
    let domain = ProtectionDomain::new(&context).unwrap();
    Side::looped(&context, domain)
}

#[test]
fn a_list_of_writes_has_one_completion() {
    let side = plain();
    side.region.write(0, b"0123456789abcdef");
    let mut list = SendList::with_room(16);
    for at in 0..16 {
        let to = side.region.remote().at(1000 + 15 - at as u64);
        list.push(Operation::Write(to), side.region.part(at, 1))
            .inlined(at % 2 == 0);
    }
    list.at(15).id(7).signalled(true);
    for _ in 0..3 {
        side.pair.post_send(&mut list).unwrap();
        let completion = side.next();
        assert!(completion.is_success());
        assert_eq!(
            (completion.id(), completion.queue_pair()),
            (7, side.pair.number())
        );
    }
    assert_eq!(&side.bytes::<16>(1000), b"fedcba9876543210");
}

#[test]
fn completions_that_wait_stay_where_a_queue_is_resized() {
    let side = plain();
    let mut list = SendList::with_room(16);
    for id in 0..16 {
        let to = Operation::Write(side.region.remote());
        list.push(to, side.region.part(0, 1)).id(id).signalled(true);
    }
    side.pair.post_send(&mut list).unwrap();
    let refused = side.queue.resize(15).unwrap_err();
    assert_eq!(
        (refused.call, refused.errno),
        ("ibv_resize_cq", libc::EINVAL)
    );
    side.queue.resize(4000).unwrap();
    side.queue.resize(16).unwrap();
    assert!((0..16).all(|id| side.next().id() == id));
}

#[test]
fn reads_and_atomics() {
    let side = plain();
    let remote = side.region.remote();
    side.region.write(2048, &40u64.to_ne_bytes());
    let mut list = SendList::with_room(3);
    let add = Operation::FetchAdd {
        remote: remote.at(2048),
        add: 2,
    };
    let swap = Operation::CompareSwap {
        remote: remote.at(2048),
        compare: 42,
        swap: 43,
    };
    list.push(add, side.region.part(0, 8));
    list.push(swap, side.region.part(8, 8));
    let read = Operation::Read(remote.at(2048));
    list.push(read, side.region.part(16, 8)).signalled(true);
    side.pair.post_send(&mut list).unwrap();
    assert!(side.next().is_success());
    let value = |offset| u64::from_ne_bytes(side.bytes(offset));
    assert_eq!([0, 8, 16].map(value), [40, 42, 43]);
}

#[test]
fn a_queue_pair_in_a_thread_domain_works_from_another_thread() {
    let context = open();
    let domain = ProtectionDomain::new(&context).unwrap();
    let thread_domain = ThreadDomain::with_sharing(&context, 1).unwrap();
    let parent = ParentDomain::new(&domain, Some(thread_domain)).unwrap();
    let side = Side::looped(&context, parent);
    let side = std::thread::spawn(move || {
        side.region.write(0, b"hello");
        let mut list = SendList::with_room(1);
        let to = Operation::Write(side.region.remote().at(64));
        list.push(to, side.region.part(0, 5)).signalled(true);
        side.pair.post_send(&mut list).unwrap();
        assert!(side.next().is_success());
        side
    });
    assert_eq!(&side.join().unwrap().bytes::<5>(64), b"hello");
}

#[test]
fn a_queue_for_one_thread_tells_of_completions() {
    let context = open();
    let domain = ProtectionDomain::new(&context).unwrap();
    let region = MemoryRegion::new(&domain, &Buffer::new(64), ACCESS).unwrap();
    let queue = SoleCompletionQueue::new(&context, 8).unwrap();
    let pairs = [(); 2]
        .map(|()| QueuePair::new(domain.clone(), &queue, &queue, None, &attributes()).unwrap());
    let mut list = SendList::with_room(1);
    let to = Operation::Write(region.remote().at(32));
    list.push(to, region.part(0, 32)).signalled(true);
    for pair in &pairs {
        pair.connect(&near(&context, pair.number())).unwrap();
        pair.post_send(&mut list).unwrap();
        let completion = wait(|into| queue.poll(into).unwrap().len());
        assert!(completion.is_success());
        assert_eq!(completion.queue_pair(), pair.number());
    }
}

#[test]
fn queue_pairs_go_to_another_thread_with_their_queue() {
    let context = open();
    let domain = ProtectionDomain::new(&context).unwrap();
    let region = MemoryRegion::new(&domain, &Buffer::new(64), ACCESS).unwrap();
    let mut queues = SoleQueues::new(&context, 8).unwrap();
    for at in 0..2 {
        let parent = ParentDomain::new(&domain, Some(ThreadDomain::new(&context).unwrap()));
        queues.add(parent.unwrap(), &attributes()).unwrap();
        let to = near(&context, queues.number(at));
        queues.connect(at, &to).unwrap();
    }
    region.write(0, b"carried");
    let there = region.clone();
    let queues = std::thread::spawn(move || {
        let mut list = SendList::with_room(1);
        let to = Operation::Write(there.remote().at(32));
        list.push(to, there.part(0, 7)).signalled(true);
        for at in 0..queues.len() {
            queues.post_send(at, &mut list).unwrap();
            let completion = wait(|into| queues.poll(into).unwrap().len());
            assert!(completion.is_success());
            assert_eq!(completion.queue_pair(), queues.number(at));
        }
        queues
    });
    assert_eq!(queues.join().unwrap().len(), 2);
    let mut bytes = [0; 7];
    region.read(32, &mut bytes);
    assert_eq!(&bytes, b"carried");
}

#[test]
fn messages_wake_who_waits_on_the_channel() {
    let context = open();
    let domain = ProtectionDomain::new(&context).unwrap();
    let channel = Channel::new(&context).unwrap();
    let sends = CompletionQueue::new(&context, 8, None).unwrap();
    let receives = CompletionQueue::new(&context, 8, Some((&channel, 99))).unwrap();
    let srq = SharedReceiveQueue::new(&domain, 4).unwrap();
    let region = MemoryRegion::new(&domain, &Buffer::new(64), ACCESS).unwrap();
    let (from, to) = (sends.clone(), receives.clone());
    let pair = QueuePair::new(domain, from, to, Some(&srq), &attributes()).unwrap();
    pair.connect(&near(&context, pair.number())).unwrap();
    receives.arm(false).unwrap();
    let mut buffers = ReceiveList::with_room(1);
    buffers.push(5, region.part(32, 32));
    srq.post(&mut buffers).unwrap();
    region.write(0, b"ping");
    let mut list = SendList::with_room(1);
    list.push(Operation::SendWithImmediate(0x0102_0304), region.part(0, 4));
    pair.post_send(&mut list).unwrap();
    assert_eq!(channel.wait().unwrap(), 99);
    let completion = wait(|into| receives.poll(into).unwrap().len());
    assert_eq!((completion.id(), completion.bytes()), (5, 4));
    assert_eq!(completion.immediate(), Some(0x0102_0304));
    let mut bytes = [0; 4];
    region.read(32, &mut bytes);
    assert_eq!(&bytes, b"ping");
}

#[test]
fn datagrams() {
    let context = open();
    let domain = ProtectionDomain::new(&context).unwrap();
    let queue = CompletionQueue::new(&context, 8, None).unwrap();
    let region = MemoryRegion::new(&domain, &Buffer::new(256), ACCESS).unwrap();
    let attributes = QueuePairAttributes {
        kind: QpType::Ud,
        ..attributes()
    };
    let (from, to) = (queue.clone(), queue.clone());
    let pair = QueuePair::new(domain.clone(), from, to, None, &attributes).unwrap();
    pair.start_datagrams(1, 0x1111, 0).unwrap();
    let path = near(&context, 0).path;
    let handle = AddressHandle::new(&domain, 1, &path).unwrap();
    let mut buffers = ReceiveList::with_room(1);
    buffers.push(3, region.part(128, 48));
    pair.post_receive(&mut buffers).unwrap();
    region.write(0, b"datagram");
    let mut list = SendList::with_room(1);
    list.push(Operation::Send, region.part(0, 8))
        .to(&handle, pair.number(), 0x1111);
    drop(handle);
    pair.post_send(&mut list).unwrap();
    let completion = wait(|into| queue.poll(into).unwrap().len());
    assert_eq!((completion.id(), completion.bytes()), (3, 48));
    let mut bytes = [0; 8];
    region.read(128 + 40, &mut bytes);
    assert_eq!(&bytes, b"datagram");
}

/// Nothing is ever refused for want of a buffer: what the peer sends before there is a way in waits, and then finds those posted before.
#[test]
fn an_initialised_queue_pair_has_its_buffers_before_anything_comes() {
    let context = open();
    let domain = ProtectionDomain::new(&context).unwrap();
    let (near_side, far_side) = (
        Side::new(&context, domain.clone()),
        Side::new(&context, domain),
    );
    let mut to_far = near(&context, far_side.pair.number());
    to_far.receiver_not_ready_retries = 0;
    near_side.pair.connect(&to_far).unwrap();
    let mut list = SendList::with_room(1);
    near_side.region.write(0, b"early");
    let sent = list.push(Operation::Send, near_side.region.part(0, 5));
    sent.id(1).signalled(true);
    near_side.pair.post_send(&mut list).unwrap();
    let to_near = near(&context, near_side.pair.number());
    far_side.pair.initialise(&to_near).unwrap();
    assert_eq!(far_side.pair.state().unwrap(), IBV_QPS_INIT);
    let mut buffers = ReceiveList::with_room(1);
    buffers.push(2, far_side.region.part(64, 16));
    far_side.pair.post_receive(&mut buffers).unwrap();
    far_side.pair.connect_initialised(&to_near).unwrap();
    assert_eq!(far_side.pair.state().unwrap(), IBV_QPS_RTS);
    let received = far_side.next();
    assert_eq!((received.id(), received.bytes()), (2, 5));
    assert_eq!(&far_side.bytes::<5>(64), b"early");
    let sent = near_side.next();
    assert!(sent.is_success() && sent.id() == 1);
}

#[test]
fn extended_reliable_connections() {
    let context = open();
    let domain = ProtectionDomain::new(&context).unwrap();
    let queue = CompletionQueue::new(&context, 8, None).unwrap();
    let xrc = XrcDomain::open(&context, None).unwrap();
    let srq = SharedReceiveQueue::in_xrc_domain(&domain, &xrc, &queue, 4).unwrap();
    let receiver = XrcReceiveQueuePair::new(&xrc).unwrap();
    let region = MemoryRegion::new(&domain, &Buffer::new(64), ACCESS).unwrap();
    let attributes = QueuePairAttributes {
        kind: QpType::XrcSend,
        receive_depth: 0,
        ..attributes()
    };
    let (from, to) = (queue.clone(), queue.clone());
    let sender = QueuePair::new(domain, from, to, None, &attributes).unwrap();
    receiver.connect(&near(&context, sender.number())).unwrap();
    sender.connect(&near(&context, receiver.number())).unwrap();
    let opened = XrcReceiveQueuePair::open(&xrc, receiver.number()).unwrap();
    assert_eq!(opened.number(), receiver.number());
    for handle in [&receiver, &opened] {
        let attributes = handle.query().unwrap();
        assert_eq!(attributes.dest_qp_num, sender.number());
        assert_eq!(attributes.qp_state, IBV_QPS_RTS);
    }
    let mut buffers = ReceiveList::with_room(1);
    buffers.push(8, region.part(32, 8));
    srq.post(&mut buffers).unwrap();
    region.write(0, b"extended");
    let mut list = SendList::with_room(1);
    list.push(Operation::Send, region.part(0, 8))
        .xrc(srq.number().unwrap());
    sender.post_send(&mut list).unwrap();
    let completion = wait(|into| queue.poll(into).unwrap().len());
    assert_eq!((completion.id(), completion.bytes()), (8, 8));
}

#[test]
fn memory_of_the_library() {
    let context = open();
    let domain = ProtectionDomain::new(&context).unwrap();
    let mut side = Side::looped(&context, domain.clone());
    let buffer = Buffer::from_library(&domain, 4096).unwrap();
    side.region = MemoryRegion::new(&domain, &buffer, ACCESS).unwrap();
    side.region.write(0, b"buffer");
    let mut list = SendList::with_room(1);
    let to = Operation::Write(side.region.remote().at(100));
    list.push(to, side.region.part(0, 6)).signalled(true);
    side.pair.post_send(&mut list).unwrap();
    assert!(side.next().is_success());
    assert_eq!(&side.bytes::<6>(100), b"buffer");
}

#[test]
fn a_full_queue_says_how_far_it_came() {
    let side = plain();
    let mut list = SendList::with_room(64);
    for _ in 0..64 {
        let to = Operation::Write(side.region.remote().at(64));
        list.push(to, side.region.part(0, 1)).signalled(true);
    }
    let refused = side.pair.post_send(&mut list).unwrap_err();
    assert_eq!(refused.error.errno, libc::ENOMEM);
    assert_eq!(refused.error.call, "ibv_post_send");
    assert!((16..64).contains(&refused.posted), "{refused}");
}

#[test]
fn a_wrong_key_fails_the_request_and_the_queue_pair_tells() {
    let side = plain();
    let mut list = SendList::with_room(1);
    let nowhere = Remote {
        address: side.region.remote().address,
        key: !0,
    };
    list.push(Operation::Write(nowhere), side.region.part(0, 8))
        .id(4);
    side.pair.post_send(&mut list).unwrap();
    let completion = side.next();
    assert_eq!(
        (completion.id(), completion.status()),
        (4, IBV_WC_REM_ACCESS_ERR)
    );
    let event = side.context.wait_for_event().unwrap();
    assert_eq!(event.subject, Subject::QueuePair(side.pair.number()));
    assert_eq!(side.pair.state().unwrap(), IBV_QPS_ERR);
    side.pair.reset().unwrap();
    assert_eq!(side.pair.state().unwrap(), IBV_QPS_RESET);
}
