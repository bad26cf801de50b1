//! What was planned is what the device holds: today's driver, whose uUARs come with the queue pairs.

mod device;

use weft_endpoint::{Adapter, Category, Endpoints, Layout, Policy, plan_layout};

#[test]
fn every_category_with_1_to_64_threads() {
    let device = device::with(&[("SOFTRDMA_UAR_POLICY", "dynamic")]);
    let adapter = Adapter {
        policy: Policy::Dynamic,
        context_dynamic_uars: None,
        ..Adapter::CONNECTX4
    };
    for category in Category::ALL {
        for threads in 1..=64 {
            let layout = Layout {
                depth: 2,
                completion_depth: 2,
                ..category.layout(threads)
            };
            let planned = plan_layout(&layout, 1, &adapter).unwrap();
            let endpoints = Endpoints::create(&device, &layout).unwrap();
            let usage = endpoints.usage().unwrap();
            assert_eq!(usage.objects, planned.rank.objects, "{category} {threads}");
            assert_eq!(
                usage.hardware,
                Some(planned.rank.hardware),
                "{category} {threads}"
            );
        }
    }
}
