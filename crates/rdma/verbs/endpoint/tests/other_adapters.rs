//! As on adapters other than the one in software: no account, no levels of sharing.

mod device;

use weft_endpoint::{Adapter, Category, Endpoints, Layout, plan_layout};
use weft_verbs::abi::Library;
use weft_verbs::{Device, devices};

/// The device as a library shows it that has no account.
fn silent() -> Device {
    let library = Library {
        softrdma_context_stat: None,
        ..*device::with(&[]).library()
    };
    devices(Box::leak(Box::new(library))).unwrap().remove(0)
}

#[test]
fn an_adapter_that_does_not_tell_of_uars_tells_of_what_was_made() {
    let adapter = Adapter {
        has_sharing: false,
        ..Adapter::CONNECTX4
    };
    let device = silent();
    for category in Category::ALL {
        for is_sole in [false, true] {
            if is_sole && category == Category::MpiThreads {
                continue;
            }
            let layout = Layout {
                is_sole,
                depth: 2,
                completion_depth: 2,
                buffers_each: 2,
                queue_pairs_each: 3,
                completion_queues_each: 2,
                ..category.layout(5)
            };
            let planned = plan_layout(&layout, 1, &adapter).unwrap();
            let endpoints = Endpoints::create_without_sharing(&device, &layout).unwrap();
            let usage = endpoints.usage().unwrap();
            assert_eq!(usage.hardware, None);
            assert_eq!(usage.objects, planned.rank.objects, "{category} {is_sole}");
        }
    }
}
