//! Categories (MPI-5.0 §15.3.9).

use std::ffi::{CStr, c_int};

use weft_abi_macros::mpi;
use weft_tool as tool;
use weft_tool::category;

use super::{give, store};
use crate::argument::Length;
use crate::array::ArrayMut;
use crate::entry::Result;
use crate::output::{InOutInt, Out, OutString};

#[mpi(T_category_get_num)]
fn t_category_get_num(num_cat: Out<c_int>) -> Result<()> {
    tool::enter()?;
    num_cat.set(category::ALL.len() as c_int);
    Ok(())
}

#[mpi(T_category_get_info)]
fn t_category_get_info(
    cat_index: c_int,
    name: Option<OutString>,
    name_len: Option<InOutInt>,
    desc: Option<OutString>,
    desc_len: Option<InOutInt>,
    num_cvars: Option<Out<c_int>>,
    num_pvars: Option<Out<c_int>>,
    num_categories: Option<Out<c_int>>,
) -> Result<()> {
    let category = category::at(cat_index)?;
    store(category.name, name, name_len);
    store(category.description, desc, desc_len);
    give(num_cvars, category.controls().len() as c_int);
    give(num_pvars, category.performances().len() as c_int);
    give(num_categories, category.categories().len() as c_int);
    Ok(())
}

#[mpi(T_category_get_index)]
fn t_category_get_index(name: &CStr, cat_index: Out<c_int>) -> Result<()> {
    cat_index.set(category::index(name.to_bytes())?);
    Ok(())
}

/// Stores as many of the members as there is room for.
fn list(members: &[i32], len: Length, indices: ArrayMut<c_int>) -> Result<()> {
    let places = indices.slice(len)?;
    for (place, member) in places.iter_mut().zip(members) {
        *place = *member;
    }
    Ok(())
}

#[mpi(T_category_get_cvars)]
fn t_category_get_cvars(cat_index: c_int, len: Length, indices: ArrayMut<c_int>) -> Result<()> {
    list(&category::at(cat_index)?.controls(), len, indices)
}

#[mpi(T_category_get_pvars)]
fn t_category_get_pvars(cat_index: c_int, len: Length, indices: ArrayMut<c_int>) -> Result<()> {
    list(&category::at(cat_index)?.performances(), len, indices)
}

#[mpi(T_category_get_categories)]
fn t_category_get_categories(
    cat_index: c_int,
    len: Length,
    indices: ArrayMut<c_int>,
) -> Result<()> {
    list(&category::at(cat_index)?.categories(), len, indices)
}

/// Nothing ever changes.
#[mpi(T_category_changed)]
fn t_category_changed(update_number: Out<c_int>) -> Result<()> {
    tool::enter()?;
    update_number.set(0);
    Ok(())
}
