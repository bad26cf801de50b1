//! Address handles (ibv_create_ah(3), ibv_create_ah_from_wc(3)).

use std::ffi::c_int;

use weft_verbs_abi::*;

use super::context::Context;
use super::device::Device;
use super::domain::Pd;
use super::limits::PORT;
use crate::call::{self, Errno, Result, code, pointer, require};
use crate::config::LinkLayer;
use crate::fault::Call;
use crate::identity::{self, GIDS};
use crate::path::request::AddressVector;
use crate::users::UseGuard;

#[repr(C)]
pub struct Ah {
    abi: ibv_ah,
    vector: AddressVector,
    _use: UseGuard,
}

impl Ah {
    /// Where it leads; none for null.
    ///
    /// # Safety
    /// `ah` is null or an address handle of this device that is not destroyed while the result is used.
    pub unsafe fn vector(ah: *mut ibv_ah) -> Option<&'static AddressVector> {
        // SAFETY: each begins with the public structure.
        unsafe { ah.cast::<Ah>().as_ref() }.map(|ah| &ah.vector)
    }
}

/// Whether an address vector can be used on this device.
pub fn check(device: &Device, attributes: &ibv_ah_attr) -> Result {
    let global = attributes.is_global != 0;
    let valid = attributes.port_num == PORT
        && (!global || u32::from(attributes.grh.sgid_index) < GIDS)
        && (global || device.config.link_layer == LinkLayer::Infiniband)
        && attributes.sl < 16;
    require(valid, Errno::EINVAL)
}

/// # Safety
/// `pd` is a protection domain, `attributes` readable.
pub unsafe extern "C" fn ibv_create_ah(
    pd: *mut ibv_pd,
    attributes: *mut ibv_ah_attr,
) -> *mut ibv_ah {
    // SAFETY: the caller's promise.
    let ah = unsafe { Pd::checked(pd).and_then(|pd| create(pd, &*attributes)) };
    pointer(ah)
}

fn create(pd: &'static Pd, attributes: &ibv_ah_attr) -> Result<*mut ibv_ah> {
    let context = pd.context;
    check(context.device, attributes)?;
    context.inject_fault(Call::CreateAh)?;
    let ah = Ah {
        abi: ibv_ah {
            context: context.as_abi(),
            pd: std::ptr::from_ref(pd).cast_mut().cast(),
            handle: 0,
        },
        vector: AddressVector {
            attributes: *attributes,
            host: identity::host_of_address(context.device.config, attributes),
        },
        _use: UseGuard::new(&pd.users),
    };
    Ok(Box::into_raw(Box::new(ah)).cast())
}

/// # Safety
/// `ah` is an address handle of this device, destroyed once.
pub unsafe extern "C" fn ibv_destroy_ah(ah: *mut ibv_ah) -> c_int {
    // SAFETY: it was made by `create`.
    drop(unsafe { Box::from_raw(ah.cast::<Ah>()) });
    code(Ok(()))
}

/// The way back to who sent a datagram.
///
/// # Safety
/// `context` is open; `wc` and, if the completion says that there is one, `grh` are readable; `attributes` is writable.
pub unsafe extern "C" fn ibv_init_ah_from_wc(
    context: *mut ibv_context,
    port: u8,
    wc: *mut ibv_wc,
    grh: *mut ibv_grh,
    attributes: *mut ibv_ah_attr,
) -> c_int {
    // SAFETY: the caller's promise.
    let (device, wc) = unsafe { (Context::from_abi(context).device, &*wc) };
    let mut answer = ibv_ah_attr {
        dlid: wc.slid,
        sl: wc.sl,
        src_path_bits: wc.dlid_path_bits,
        port_num: port,
        ..Default::default()
    };
    let global = if wc.wc_flags & IBV_WC_GRH == 0 {
        Ok(())
    } else {
        answer.is_global = 1;
        // SAFETY: the completion says that it is there.
        route_back(device, unsafe { &*grh }).map(|route| answer.grh = route)
    };
    call::status(global.map(|()| {
        // SAFETY: the caller's promise.
        unsafe { attributes.write(answer) };
    }))
}

/// The header before a datagram: a GRH, or over IPv4 the IP header in its second half.
fn route_back(device: &Device, grh: &ibv_grh) -> Result<ibv_global_route> {
    const HOP_LIMIT: u8 = 0xff;
    let word = u32::from_be(grh.version_tclass_flow);
    let (source, destination, traffic_class, flow_label) = if word >> 28 == 6 {
        let class = (word >> 20) as u8;
        (grh.sgid.bytes(), grh.dgid.bytes(), class, word & 0xf_ffff)
    } else {
        let ip = grh.dgid.bytes();
        let mapped = |four: &[u8]| {
            let mut gid = [0; 16];
            gid[10..12].fill(0xff);
            gid[12..].copy_from_slice(four);
            gid
        };
        // The IP header is the last twenty bytes: the last four of `sgid` and all of `dgid`.
        let class = grh.sgid.bytes()[13];
        (mapped(&ip[8..12]), mapped(&ip[12..16]), class, 0)
    };
    let own = (0..GIDS)
        .find(|&index| identity::gid(device.config, device.index, index) == Some(destination));
    let multicast = identity::index_for_multicast(destination);
    Ok(ibv_global_route {
        dgid: ibv_gid { raw: source },
        flow_label,
        sgid_index: own.or(multicast).ok_or(Errno::EINVAL)? as u8,
        hop_limit: HOP_LIMIT,
        traffic_class,
    })
}

/// # Safety
/// As of [`ibv_init_ah_from_wc`]; `pd` is a protection domain.
pub unsafe extern "C" fn ibv_create_ah_from_wc(
    pd: *mut ibv_pd,
    wc: *mut ibv_wc,
    grh: *mut ibv_grh,
    port: u8,
) -> *mut ibv_ah {
    let mut attributes = ibv_ah_attr::default();
    // SAFETY: the caller's promise.
    unsafe {
        if ibv_init_ah_from_wc((*pd).context, port, wc, grh, &mut attributes) != 0 {
            return std::ptr::null_mut();
        }
        ibv_create_ah(pd, &mut attributes)
    }
}
