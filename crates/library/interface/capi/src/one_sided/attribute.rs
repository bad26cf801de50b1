//! Attributes of windows (MPI-5.0 §7.7.3), the predefined ones (§12.2.6) among them.

use std::ffi::{c_int, c_void};
use std::ptr::with_exposed_provenance;

use weft_abi::*;
use weft_abi_macros::mpi;
use weft_error::Class;
use weft_error::argument;
use weft_handle::WindowId;
use weft_objects::attributes::{self, Holder, Value};
use weft_window as window;
use weft_window::Attribute;

use crate::entry::Result;
use crate::key::{self, Copy, Delete};
use crate::output::{InOutInt, Out, OutAddress};

#[mpi(Win_create_keyval)]
fn win_create_keyval(
    win_copy_attr_fn: Copy<MPI_Win>,
    win_delete_attr_fn: Delete<MPI_Win>,
    win_keyval: Out<c_int>,
    extra_state: *mut c_void,
) -> Result<()> {
    let functions = key::functions::<WindowId>(win_copy_attr_fn, win_delete_attr_fn, extra_state);
    win_keyval.set(attributes::create_key(Holder::Window, functions)?);
    Ok(())
}

#[mpi(Win_free_keyval)]
fn win_free_keyval(win_keyval: InOutInt) -> Result<()> {
    attributes::free_key(Holder::Window, win_keyval.get())?;
    win_keyval.set(MPI_KEYVAL_INVALID);
    Ok(())
}

#[mpi(Win_set_attr)]
fn win_set_attr(win: WindowId, win_keyval: c_int, attribute_val: *mut c_void) -> Result<()> {
    let value = key::given(attribute_val);
    // The program's delete function may free it.
    let shared = window::share(win)?;
    let attributes = &shared.attributes;
    check_own(win_keyval)?;
    attributes.set(win.handle(), win_keyval, value)
}

#[mpi(Win_get_attr)]
fn win_get_attr(
    win: WindowId,
    win_keyval: c_int,
    attribute_val: OutAddress,
    flag: Out<bool>,
) -> Result<()> {
    let Some(attribute) = predefined(win_keyval) else {
        let value = window::find(win)?.attributes.get(win_keyval)?;
        key::store(value.as_ref(), attribute_val, flag);
        return Ok(());
    };
    let word = window::value(win, attribute)?;
    match attribute {
        Attribute::Base => key::store(Some(&Value::Pointer(word)), attribute_val, flag),
        Attribute::Size => {
            let place: *const i64 = with_exposed_provenance(word);
            key::store_predefined(Some(place), attribute_val, flag);
        }
        Attribute::DisplacementUnit | Attribute::CreateFlavor | Attribute::Model => {
            let place: *const c_int = with_exposed_provenance(word);
            key::store_predefined(Some(place), attribute_val, flag);
        }
    }
    Ok(())
}

#[mpi(Win_delete_attr)]
fn win_delete_attr(win: WindowId, win_keyval: c_int) -> Result<()> {
    // The program's delete function may free it.
    let shared = window::share(win)?;
    let attributes = &shared.attributes;
    check_own(win_keyval)?;
    attributes.delete(win.handle(), win_keyval)
}

/// A predefined attribute can only be read.
fn check_own(key: c_int) -> Result<()> {
    match predefined(key) {
        None => Ok(()),
        Some(_) => {
            let what = format_args!("{key} is of a predefined attribute");
            Err(argument(Class::Keyval, "win_keyval", what))
        }
    }
}

fn predefined(key: c_int) -> Option<Attribute> {
    Some(match key {
        MPI_WIN_BASE => Attribute::Base,
        MPI_WIN_SIZE => Attribute::Size,
        MPI_WIN_DISP_UNIT => Attribute::DisplacementUnit,
        MPI_WIN_CREATE_FLAVOR => Attribute::CreateFlavor,
        MPI_WIN_MODEL => Attribute::Model,
        _ => return None,
    })
}
