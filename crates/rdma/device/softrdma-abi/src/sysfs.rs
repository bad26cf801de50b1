//! What programs read below `/sys`. Our devices have no folder there: their files are answered from memory, all
//! others are read.

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::OnceLock;

use weft_softrdma::verbs::attributes::device_attributes;
use weft_softrdma::verbs::device::{Device, devices};

const FAILED: c_int = -1;

/// `/sys`, or what `SYSFS_PATH` says, without slashes at its end.
pub extern "C" fn ibv_get_sysfs_path() -> *const c_char {
    static PATH: OnceLock<Vec<u8>> = OnceLock::new();
    let path = PATH.get_or_init(|| {
        let path = std::env::var_os("SYSFS_PATH").unwrap_or_else(|| OsString::from("/sys"));
        let mut path = path.into_vec();
        while path.last() == Some(&b'/') {
            path.pop();
        }
        path.push(0);
        path
    });
    path.as_ptr().cast()
}

/// Reads a small file whole, without the line's end. Gives its length, or -1.
///
/// # Safety
/// The texts end with a zero, `buffer` is writable for `size`.
pub unsafe extern "C" fn ibv_read_sysfs_file(
    folder: *const c_char,
    file: *const c_char,
    buffer: *mut c_char,
    size: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    let (folder, file) = unsafe { (CStr::from_ptr(folder), CStr::from_ptr(file)) };
    let folder = Path::new(OsStr::from_bytes(folder.to_bytes()));
    let file = OsStr::from_bytes(file.to_bytes());
    let content = match of_device(folder, file) {
        Some(answer) => answer.map(String::into_bytes),
        None => from_file(&folder.join(file), size),
    };
    let Some(mut content) = content else {
        return FAILED;
    };
    if content.last() == Some(&b'\n') {
        content.pop();
    }
    content.truncate(size);
    // SAFETY: the content is no longer than the buffer, and ends in it where there is room.
    unsafe {
        std::ptr::copy_nonoverlapping(content.as_ptr(), buffer.cast(), content.len());
        if content.len() < size {
            buffer.add(content.len()).write(0);
        }
    }
    content.len() as c_int
}

fn from_file(path: &Path, size: usize) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(size as u64).read_to_end(&mut content).ok()?;
    Some(content)
}

/// The answer for a folder of one of our devices; `None` for any other folder. The inner `None`: no such file.
fn of_device(folder: &Path, file: &OsStr) -> Option<Option<String>> {
    let device = devices().ok()?.iter().find(|device| {
        // SAFETY: devices live as long as the process.
        let public = unsafe { &*device.as_abi() };
        [&public.ibdev_path, &public.dev_path]
            .iter()
            .any(|path| folder == Path::new(&text(*path)))
    })?;
    Some(content(device, file.to_str()?))
}

fn content(device: &Device, file: &str) -> Option<String> {
    let attributes = device_attributes(device);
    Some(match file {
        "board_id" | "hca_type" => "softrdma".to_owned(),
        "fw_ver" => text(&attributes.fw_ver),
        "hw_rev" => attributes.hw_ver.to_string(),
        "ibdev" | "node_desc" => device.name().to_owned(),
        "node_guid" => guid(attributes.node_guid),
        "sys_image_guid" => guid(attributes.sys_image_guid),
        "node_type" => "1: CA".to_owned(),
        _ => return None,
    })
}

fn text(characters: &[c_char]) -> String {
    let ended = characters.iter().take_while(|character| **character != 0);
    ended
        .map(|character| char::from(*character as u8))
        .collect()
}

/// As the kernel writes it: four groups of four digits.
fn guid(big_endian: u64) -> String {
    let [a, b, c, d, e, f, g, h] = big_endian.to_ne_bytes();
    format!("{a:02x}{b:02x}:{c:02x}{d:02x}:{e:02x}{f:02x}:{g:02x}{h:02x}")
}
