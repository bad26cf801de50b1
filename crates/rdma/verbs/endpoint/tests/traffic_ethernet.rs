//! Traffic over Ethernet.

mod device;
mod traffic;

const IS_ETHERNET: bool = true;

fn software() -> weft_verbs::Device {
    device::with(&[("SOFTRDMA_LINK_LAYER", "ethernet")])
}
