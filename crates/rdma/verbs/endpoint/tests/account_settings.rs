//! What was planned is what the device holds: other numbers of uUARs than mlx5's defaults.

mod device;

use weft_endpoint::{Adapter, Category, Endpoints, Layout, plan_layout};

#[test]
fn figure_16s_context_with_1_to_16_threads() {
    let device = device::with(&[("MLX5_TOTAL_UUARS", "6"), ("MLX5_NUM_LOW_LAT_UUARS", "2")]);
    let adapter = Adapter {
        total_uuars: 6,
        low_latency_uuars: 2,
        ..Adapter::CONNECTX4
    };
    for category in Category::ALL {
        for threads in 1..=16 {
            let layout = Layout {
                depth: 2,
                completion_depth: 2,
                ..category.layout(threads)
            };
            let planned = plan_layout(&layout, 1, &adapter).unwrap();
            let endpoints = Endpoints::create(&device, &layout).unwrap();
            let usage = endpoints.usage().unwrap();
            assert_eq!(
                usage.hardware,
                Some(planned.rank.hardware),
                "{category} {threads}"
            );
        }
    }
}
