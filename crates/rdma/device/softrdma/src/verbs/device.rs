//! The list of devices (ibv_get_device_list(3), ibv_get_device_name(3), ibv_get_device_guid(3)).

use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;

use weft_verbs_abi::*;

use crate::call::{Errno, Result, pointer};
use crate::config::Config;
use crate::identity;

/// A device. Providers look behind the public structure for their own one, to see whether the device is theirs: the
/// zeros there say no.
#[repr(C)]
pub struct Device {
    abi: ibv_device,
    foreign: [u64; 16],
    pub index: u32,
    pub config: &'static Config,
}

// SAFETY: never changed once made.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

impl Device {
    fn new(config: &'static Config, index: u32) -> Device {
        let mut abi = ibv_device {
            node_type: IBV_NODE_CA,
            transport_type: IBV_TRANSPORT_IB,
            ..Default::default()
        };
        write_text(&mut abi.name, &format!("softrdma{index}"));
        write_text(&mut abi.dev_name, &format!("uverbs{index}"));
        let path = format!("/sys/class/infiniband_verbs/uverbs{index}");
        write_text(&mut abi.dev_path, &path);
        let path = format!("/sys/class/infiniband/softrdma{index}");
        write_text(&mut abi.ibdev_path, &path);
        Device {
            abi,
            foreign: [0; 16],
            index,
            config,
        }
    }

    /// # Safety
    /// `device` came from [`ibv_get_device_list`].
    pub unsafe fn from_abi(device: *mut ibv_device) -> &'static Device {
        // SAFETY: devices live as long as the process, and begin with the public structure.
        unsafe { &*device.cast::<Device>() }
    }

    pub fn as_abi(&'static self) -> *mut ibv_device {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// In network order.
    pub fn guid(&self) -> [u8; 8] {
        identity::guid(self.config.ip, self.index)
    }

    pub fn name(&self) -> &str {
        let name = self.abi.name.as_ptr();
        // SAFETY: `new` ended the text with a zero.
        let name = unsafe { CStr::from_ptr(name) };
        name.to_str().unwrap_or_default()
    }
}

fn write_text<const N: usize>(target: &mut [c_char; N], text: &str) {
    for (to, from) in target[..N - 1].iter_mut().zip(text.bytes()) {
        *to = from as c_char;
    }
}

/// All devices of the process; made once. A setting that cannot be used is told on stderr, each time.
pub fn devices() -> Result<&'static [Device]> {
    static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
    let config = Config::of_process().map_err(|error| {
        eprintln!("softrdma: {error}");
        Errno::EINVAL
    })?;
    Ok(DEVICES.get_or_init(|| {
        let device = |index| Device::new(config, index);
        (0..config.devices).map(device).collect()
    }))
}

/// The list ends with a null pointer and is given back by [`ibv_free_device_list`].
///
/// # Safety
/// `count` is null or writable.
pub unsafe extern "C" fn ibv_get_device_list(count: *mut c_int) -> *mut *mut ibv_device {
    let list = devices().and_then(|devices| {
        let bytes = (devices.len() + 1) * size_of::<*mut ibv_device>();
        // SAFETY: plain memory from the C allocator, checked below.
        let list = unsafe { libc::calloc(1, bytes) }.cast::<*mut ibv_device>();
        if list.is_null() {
            return Err(Errno::ENOMEM);
        }
        for (at, device) in devices.iter().enumerate() {
            // SAFETY: the list has one place more than there are devices.
            unsafe { list.add(at).write(device.as_abi()) };
        }
        Ok(list)
    });
    if !count.is_null() {
        let found = list.map_or(0, |_| devices().map_or(0, <[_]>::len));
        // SAFETY: the caller's promise.
        unsafe { count.write(found as c_int) };
    }
    pointer(list)
}

/// # Safety
/// `list` is null or came from [`ibv_get_device_list`].
pub unsafe extern "C" fn ibv_free_device_list(list: *mut *mut ibv_device) {
    // SAFETY: it was made by calloc.
    unsafe { libc::free(list.cast()) };
}

/// # Safety
/// `device` came from [`ibv_get_device_list`].
pub unsafe extern "C" fn ibv_get_device_name(device: *mut ibv_device) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { Device::from_abi(device) }.abi.name.as_ptr()
}

/// In network order.
///
/// # Safety
/// `device` came from [`ibv_get_device_list`].
pub unsafe extern "C" fn ibv_get_device_guid(device: *mut ibv_device) -> u64 {
    // SAFETY: the caller's promise.
    u64::from_ne_bytes(unsafe { Device::from_abi(device) }.guid())
}

/// # Safety
/// `device` came from [`ibv_get_device_list`].
pub unsafe extern "C" fn ibv_get_device_index(device: *mut ibv_device) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { Device::from_abi(device) }.index as c_int
}
