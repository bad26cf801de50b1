//! Objects are destroyed in the library's order, whatever the program drops first; errors name the call.

use super::*;

/// A queue pair outlives the program's handles of all that it stands on: none of them can be destroyed under it.
#[test]
fn what_an_object_stands_on_stays() {
    let context = open();
    let domain = ProtectionDomain::new(&context).unwrap();
    let queue = CompletionQueue::new(&context, 8, None).unwrap();
    let attributes = QueuePairAttributes::default();
    let pair = QueuePair::new(
        domain.clone(),
        queue.clone(),
        queue.clone(),
        None,
        &attributes,
    )
    .unwrap();
    drop(queue);
    drop(domain);
    drop(context);
    assert_ne!(pair.number(), 0);
    assert_eq!(pair.state().unwrap(), IBV_QPS_RESET);
}

#[test]
fn a_region_keeps_its_memory() {
    let context = open();
    let domain = ProtectionDomain::new(&context).unwrap();
    let buffer = Buffer::new(100);
    let region = MemoryRegion::new(&domain, &buffer, ACCESS).unwrap();
    drop((context, domain, buffer));
    region.write(3, b"between words and beyond");
    let mut bytes = [0; 26];
    region.read(2, &mut bytes);
    assert_eq!(&bytes, b"\0between words and beyond\0");
}

#[test]
fn a_thread_domain_has_the_level_that_was_asked_for() {
    let context = open();
    for level in [1, 2] {
        assert!(ThreadDomain::with_sharing(&context, level).is_ok());
    }
    let error = ThreadDomain::with_sharing(&context, 3).err().unwrap();
    assert_eq!((error.call, error.errno), ("ibv_alloc_td", libc::EINVAL));
    assert!(error.to_string().starts_with("ibv_alloc_td on softrdma0: "));
}

#[test]
fn objects_of_two_contexts_do_not_go_together() {
    let (here, there) = (open(), open());
    let domain = ProtectionDomain::new(&here).unwrap();
    let foreign = ThreadDomain::new(&there).unwrap();
    let error = ParentDomain::new(&domain, Some(foreign)).err().unwrap();
    assert_eq!(error.errno, libc::EINVAL);
    let queue = CompletionQueue::new(&there, 8, None).unwrap();
    let attributes = QueuePairAttributes::default();
    let refused = QueuePair::new(domain, queue.clone(), queue, None, &attributes);
    let error = refused.err().unwrap();
    assert_eq!((error.call, error.errno), ("ibv_create_qp", libc::EINVAL));
}

#[test]
fn a_missing_library_is_an_error() {
    let error = library_at(FilePath::new("/nonexistent/libibverbs.so.1"));
    assert!(error.err().unwrap().to_string().contains("/nonexistent"));
}

#[test]
fn a_port_that_is_not_there_is_named() {
    let error = open().port(9).unwrap_err();
    assert_eq!(error.call, "ibv_query_port");
    assert_eq!(error.object, "port 9 of softrdma0");
}

#[test]
#[should_panic(expected = "16 bytes at 90 of a region of 100")]
fn a_part_beyond_the_end_is_refused() {
    let domain = ProtectionDomain::new(&open()).unwrap();
    let region = MemoryRegion::new(&domain, &Buffer::new(100), ACCESS).unwrap();
    region.part(90, 16);
}

/// Of this context alone, whatever other tests have open at the same time.
#[test]
fn a_context_tells_what_it_holds() {
    let (context, other) = (open(), open());
    let domain = ProtectionDomain::new(&context).unwrap();
    let _pd_elsewhere = ProtectionDomain::new(&other).unwrap();
    let queue = CompletionQueue::new(&context, 8, None).unwrap();
    let thread_domain = ThreadDomain::with_sharing(&context, 1).unwrap();
    let parent = ParentDomain::new(&domain, Some(thread_domain)).unwrap();
    let attributes = QueuePairAttributes::default();
    let pair = QueuePair::new(parent, queue.clone(), queue, None, &attributes).unwrap();
    let account = context.account().unwrap();
    assert_eq!((account.contexts, account.pds), (1, 1));
    assert_eq!((account.static_uars, account.dynamic_uars), (8, 1));
    assert_eq!((account.tds_level_1, account.used_uuars), (1, 1));
    assert_eq!((account.qps, account.cqs), (1, 1));
    drop(pair);
    let account = context.account().unwrap();
    assert_eq!((account.tds_level_1, account.qps, account.cqs), (0, 0, 0));
}
