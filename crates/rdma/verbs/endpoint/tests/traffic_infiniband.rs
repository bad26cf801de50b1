//! Traffic over InfiniBand.

mod device;
mod traffic;

const IS_ETHERNET: bool = false;

fn software() -> weft_verbs::Device {
    device::with(&[("SOFTRDMA_LINK_LAYER", "infiniband")])
}
