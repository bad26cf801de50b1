//! The devices, opened once and for good, and which of them has an address.

use std::net::IpAddr;
use std::sync::OnceLock;

use weft_verbs_abi::*;

use crate::call::{Errno, Outcome};

/// The one port of the device that is used.
pub const PORT: u8 = 1;

pub struct Device {
    pub context: *mut ibv_context,
    /// Index and value of the GID that is used: that of an IPv4 address where the device has one.
    pub gid_index: u8,
    pub gid: [u8; 16],
    pub lid: u16,
    pub mtu: ibv_mtu,
    pub max_rd_atomic: u8,
    pd: OnceLock<usize>,
}

// SAFETY: contexts are for all threads; the rest does not change.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

/// The verbs library and what it has.
pub struct Devices {
    pub library: Library,
    pub devices: Vec<Device>,
}

const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/// ENODEV when there is no device, with the reason on stderr when there is no library.
pub fn devices() -> Outcome<&'static Devices> {
    static DEVICES: OnceLock<Option<Devices>> = OnceLock::new();
    let devices = DEVICES.get_or_init(|| match Library::load() {
        Ok(library) => Some(open_all(library)),
        Err(error) => {
            eprintln!("softrdma: librdmacm: {error}");
            None
        }
    });
    devices.as_ref().ok_or(Errno(libc::ENODEV))
}

fn open_all(library: Library) -> Devices {
    let mut devices = Vec::new();
    let mut count = 0;
    // SAFETY: the list is as long as said, and given back once; devices that are open outlive it.
    unsafe {
        let list = (library.get_device_list)(&raw mut count);
        if !list.is_null() {
            for at in 0..count as usize {
                let context = (library.open_device)(*list.add(at));
                if !context.is_null() {
                    devices.extend(describe(&library, context));
                }
            }
            (library.free_device_list)(list);
        }
    }
    Devices { library, devices }
}

/// `None` when its port does not answer.
fn describe(library: &Library, context: *mut ibv_context) -> Option<Device> {
    let mut port = ibv_port_attr::default();
    let mut attributes = ibv_device_attr::default();
    // SAFETY: the context is open, the structures are ours.
    unsafe {
        if library.query_port(context, PORT, &raw mut port) != 0
            || (library.query_device)(context, &raw mut attributes) != 0
        {
            return None;
        }
    }
    let gids = (0..port.gid_tbl_len.clamp(0, 255)).map_while(|index| {
        let mut gid = ibv_gid::default();
        // SAFETY: as above.
        let answer = unsafe { (library.query_gid)(context, PORT, index, &raw mut gid) };
        (answer == 0).then(|| (index as u8, gid.bytes()))
    });
    let gids: Vec<_> = gids.collect();
    let mapped = gids.iter().find(|(_, gid)| gid[..12] == MAPPED);
    let (gid_index, gid) = *mapped.or(gids.first())?;
    Some(Device {
        context,
        gid_index,
        gid,
        lid: port.lid,
        mtu: port.active_mtu,
        max_rd_atomic: attributes.max_qp_rd_atom.clamp(0, 255) as u8,
        pd: OnceLock::new(),
    })
}

impl Devices {
    /// The device that has the address. Addresses that no device has (loopback, other interfaces) lead to the first.
    pub fn towards(&'static self, ip: IpAddr) -> Outcome<&'static Device> {
        let mapped = match ip {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        };
        let mut devices = self.devices.iter();
        let found = devices.find(|device| device.gid == mapped);
        found.or(self.devices.first()).ok_or(Errno(libc::ENODEV))
    }
}

impl Device {
    /// The protection domain of those who bring none.
    pub fn pd(&self, library: &Library) -> Outcome<*mut ibv_pd> {
        // SAFETY: the context is open.
        let pd = *self
            .pd
            .get_or_init(|| unsafe { (library.alloc_pd)(self.context) } as usize);
        let pd = pd as *mut ibv_pd;
        if pd.is_null() {
            Err(Errno(libc::ENOMEM))
        } else {
            Ok(pd)
        }
    }
}
