//! The functions that differ from the standard's in more than their arguments' values.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

use mpi_abi::language::{self, Language};
use weft_abi::*;
use weft_abi_macros::foreign;
use weft_foreign::convert::{Array, Kind, Place, length};

use crate::constants::{FLAVOR, MODEL};
use crate::functions::standard;
use crate::handles::Handle;
use crate::ignored;
use crate::kinds::{
    COMMUNICATOR, DATATYPE, DISTRIB_ENUM, DTYPE_DISTRIBUTION, ERROR_CODE, INFO, KEYVAL, ORDER,
    RANK, REQUEST, TAG, WINDOW,
};
use crate::status::Status;
use crate::symbols;

/// The library has not the standard's ABI, which is said so.
#[foreign]
unsafe extern "C" fn MPI_Abi_get_version(abi_major: *mut c_int, abi_minor: *mut c_int) -> c_int {
    // SAFETY: the program's places.
    unsafe {
        abi_major.write(-1);
        abi_minor.write(-1);
    }
    MPI_SUCCESS
}

/// A class is its own: of two that stand for one of the standard's each comes back as it is.
#[foreign]
unsafe extern "C" fn MPI_Error_class(errorcode: c_int, errorclass: *mut c_int) -> c_int {
    let known = ERROR_CODE::to_standard(errorcode);
    let mut class = MPI_SUCCESS;
    // SAFETY: a place of this function's, or the program's.
    unsafe {
        let place: *mut c_int = if errorclass.is_null() {
            errorclass
        } else {
            &mut class
        };
        let code = standard::MPI_Error_class(known, place);
        if code == MPI_SUCCESS {
            errorclass.write(match class == known {
                true => errorcode,
                false => ERROR_CODE::to_foreign(class),
            });
        }
        ERROR_CODE::to_foreign(code)
    }
}

/// The number at which the attribute's value points, in the program's form: a place for each attribute of that kind, whose
/// value is the same for all objects or one of few. Fortran has the number itself for a value.
///
/// # Safety
/// A call of that language has stored the attribute's value: for C's an address of an `int`.
unsafe fn converted(
    language: Language,
    value: *mut c_void,
    places: &'static [AtomicI32],
    convert: fn(c_int) -> c_int,
) {
    // SAFETY: by this function's contract.
    unsafe {
        if language != Language::C {
            let value = value.cast::<isize>();
            *value = convert(*value as c_int) as isize;
            return;
        }
        let value = value.cast::<*const c_int>();
        let number = convert(*value.read_unaligned());
        let place = &places[(number as usize).min(places.len() - 1)];
        place.store(number, Ordering::Relaxed);
        value.write_unaligned(place.as_ptr());
    }
}

#[foreign]
unsafe extern "C" fn MPI_Comm_get_attr(
    comm: Handle,
    keyval: c_int,
    value: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    static HOST: [AtomicI32; 1] = [AtomicI32::new(0)];
    static IO: [AtomicI32; 1] = [AtomicI32::new(0)];
    static LAST_USED_CODE: [AtomicI32; 1] = [AtomicI32::new(0)];
    let language = language::of_next();
    let keyval = KEYVAL::to_standard(keyval);
    // SAFETY: the program's places; an attribute is stored where the flag says so.
    unsafe {
        let code =
            standard::MPI_Comm_get_attr(COMMUNICATOR::to_standard(comm), keyval, value, flag);
        if code == MPI_SUCCESS && *flag != 0 {
            match keyval {
                MPI_HOST => converted(language, value, &HOST, RANK::to_foreign),
                MPI_IO => converted(language, value, &IO, RANK::to_foreign),
                MPI_LASTUSEDCODE => {
                    converted(language, value, &LAST_USED_CODE, ERROR_CODE::to_foreign)
                }
                _ => {}
            }
        }
        code
    }
}

#[foreign]
unsafe extern "C" fn MPI_Attr_get(
    comm: Handle,
    keyval: c_int,
    value: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: as the caller has promised.
    unsafe { MPI_Comm_get_attr(comm, keyval, value, flag) }
}

#[foreign]
unsafe extern "C" fn MPI_Win_get_attr(
    win: Handle,
    keyval: c_int,
    value: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    static FLAVORS: [AtomicI32; 5] = [const { AtomicI32::new(0) }; 5];
    static MODELS: [AtomicI32; 3] = [const { AtomicI32::new(0) }; 3];
    let language = language::of_next();
    let keyval = KEYVAL::to_standard(keyval);
    // SAFETY: as above.
    unsafe {
        let code = standard::MPI_Win_get_attr(WINDOW::to_standard(win), keyval, value, flag);
        if code == MPI_SUCCESS && *flag != 0 {
            match keyval {
                MPI_WIN_CREATE_FLAVOR => converted(language, value, &FLAVORS, FLAVOR::to_foreign),
                MPI_WIN_MODEL => converted(language, value, &MODELS, MODEL::to_foreign),
                _ => {}
            }
        }
        code
    }
}

/// A key is shorter than in the standard ABI.
#[foreign]
unsafe extern "C" fn MPI_Info_get_nthkey(info: Handle, n: c_int, key: *mut c_char) -> c_int {
    let mut text = [0; MPI_MAX_INFO_KEY as usize];
    let room = match key.is_null() {
        true => std::ptr::null_mut(),
        false => text.as_mut_ptr(),
    };
    // SAFETY: the program has room for a key.
    unsafe {
        let code = standard::MPI_Info_get_nthkey(INFO::to_standard(info), n, room);
        if code == MPI_SUCCESS {
            text[symbols::MAX_INFO_KEY - 1] = 0;
            key.copy_from_nonoverlapping(text.as_ptr(), symbols::MAX_INFO_KEY);
        }
        code
    }
}

/// The standard has an `int` for the count, by an oversight; other libraries do not.
#[foreign]
unsafe extern "C" fn MPI_Psend_init(
    buf: *const c_void,
    partitions: c_int,
    count: MPI_Count,
    datatype: Handle,
    dest: c_int,
    tag: c_int,
    comm: Handle,
    info: Handle,
    request: *mut Handle,
) -> c_int {
    let mut place = Place::<REQUEST>::room(request);
    // SAFETY: as the caller has promised.
    unsafe {
        let code = standard::MPI_Psend_init_c(
            buf,
            partitions,
            count,
            DATATYPE::to_standard(datatype),
            RANK::to_standard(dest),
            TAG::to_standard(tag),
            COMMUNICATOR::to_standard(comm),
            INFO::to_standard(info),
            place.address(),
        );
        place.store();
        code
    }
}

/// No other library has the name, which is here so that the standard's does not stand for it.
#[foreign]
unsafe extern "C" fn MPI_Psend_init_c(
    buf: *const c_void,
    partitions: c_int,
    count: MPI_Count,
    datatype: Handle,
    dest: c_int,
    tag: c_int,
    comm: Handle,
    info: Handle,
    request: *mut Handle,
) -> c_int {
    // SAFETY: as the caller has promised.
    unsafe {
        MPI_Psend_init(
            buf, partitions, count, datatype, dest, tag, comm, info, request,
        )
    }
}

/// The count is wider than the standard's, as in [`MPI_Psend_init`].
#[foreign]
unsafe extern "C" fn MPI_Precv_init(
    buf: *mut c_void,
    partitions: c_int,
    count: MPI_Count,
    datatype: Handle,
    source: c_int,
    tag: c_int,
    comm: Handle,
    info: Handle,
    request: *mut Handle,
) -> c_int {
    let mut place = Place::<REQUEST>::room(request);
    // SAFETY: as the caller has promised.
    unsafe {
        let code = standard::MPI_Precv_init_c(
            buf,
            partitions,
            count,
            DATATYPE::to_standard(datatype),
            RANK::to_standard(source),
            TAG::to_standard(tag),
            COMMUNICATOR::to_standard(comm),
            INFO::to_standard(info),
            place.address(),
        );
        place.store();
        code
    }
}

/// No other library has the name, which is here so that the standard's does not stand for it.
#[foreign]
unsafe extern "C" fn MPI_Precv_init_c(
    buf: *mut c_void,
    partitions: c_int,
    count: MPI_Count,
    datatype: Handle,
    source: c_int,
    tag: c_int,
    comm: Handle,
    info: Handle,
    request: *mut Handle,
) -> c_int {
    // SAFETY: as the caller has promised.
    unsafe {
        MPI_Precv_init(
            buf, partitions, count, datatype, source, tag, comm, info, request,
        )
    }
}

/// How many arguments a datatype was made with.
struct Made {
    combiner: c_int,
    integers: c_int,
}

fn made(datatype: MPI_Datatype) -> Option<Made> {
    let (mut integers, mut addresses, mut datatypes, mut combiner) = (0, 0, 0, 0);
    // SAFETY: places of this function's.
    let code = unsafe {
        standard::MPI_Type_get_envelope(
            datatype,
            &mut integers,
            &mut addresses,
            &mut datatypes,
            &mut combiner,
        )
    };
    (code == MPI_SUCCESS).then_some(Made { combiner, integers })
}

/// The integers of a datatype that are constants (MPI-5.0 §5.1.13).
///
/// # Safety
/// So many integers as the envelope says stand there.
unsafe fn constants(made: &Made, integers: *mut c_int) {
    let last = made.integers as usize;
    // SAFETY: by this function's contract.
    let integers = unsafe { std::slice::from_raw_parts_mut(integers, last) };
    match made.combiner {
        MPI_COMBINER_SUBARRAY => integers[last - 1] = ORDER::to_foreign(integers[last - 1]),
        MPI_COMBINER_DARRAY => {
            integers[last - 1] = ORDER::to_foreign(integers[last - 1]);
            // Counted from the end: order, sizes of the grid, arguments, distributions.
            let dimensions = integers[2] as usize;
            let arguments = last - 1 - 2 * dimensions;
            for at in arguments..arguments + dimensions {
                integers[at] = DTYPE_DISTRIBUTION::to_foreign(integers[at]);
                integers[at - dimensions] = DISTRIB_ENUM::to_foreign(integers[at - dimensions]);
            }
        }
        _ => {}
    }
}

#[foreign]
unsafe extern "C" fn MPI_Type_get_contents(
    datatype: Handle,
    max_integers: c_int,
    max_addresses: c_int,
    max_datatypes: c_int,
    array_of_integers: *mut c_int,
    array_of_addresses: *mut MPI_Aint,
    array_of_datatypes: *mut Handle,
) -> c_int {
    let datatype = DATATYPE::to_standard(datatype);
    let mut datatypes = Array::<DATATYPE>::room(array_of_datatypes, length(max_datatypes));
    // SAFETY: as the caller has promised.
    unsafe {
        let code = standard::MPI_Type_get_contents(
            datatype,
            max_integers,
            max_addresses,
            max_datatypes,
            array_of_integers,
            array_of_addresses,
            datatypes.address(),
        );
        if code != MPI_SUCCESS {
            return code;
        }
        datatypes.store();
        if let Some(made) = made(datatype) {
            constants(&made, array_of_integers);
        }
        code
    }
}

#[foreign]
unsafe extern "C" fn MPI_Type_get_contents_c(
    datatype: Handle,
    max_integers: MPI_Count,
    max_addresses: MPI_Count,
    max_large_counts: MPI_Count,
    max_datatypes: MPI_Count,
    array_of_integers: *mut c_int,
    array_of_addresses: *mut MPI_Aint,
    array_of_large_counts: *mut MPI_Count,
    array_of_datatypes: *mut Handle,
) -> c_int {
    let datatype = DATATYPE::to_standard(datatype);
    let mut datatypes = Array::<DATATYPE>::room(array_of_datatypes, length(max_datatypes));
    let (mut integers, mut addresses, mut counts, mut number, mut combiner) = (0, 0, 0, 0, 0);
    // SAFETY: as the caller has promised.
    unsafe {
        let code = standard::MPI_Type_get_contents_c(
            datatype,
            max_integers,
            max_addresses,
            max_large_counts,
            max_datatypes,
            array_of_integers,
            array_of_addresses,
            array_of_large_counts,
            datatypes.address(),
        );
        if code != MPI_SUCCESS {
            return code;
        }
        datatypes.store();
        standard::MPI_Type_get_envelope_c(
            datatype,
            &mut integers,
            &mut addresses,
            &mut counts,
            &mut number,
            &mut combiner,
        );
        let made = Made {
            combiner,
            integers: integers as c_int,
        };
        constants(&made, array_of_integers);
        code
    }
}

/// None is known to the library, and so nothing is stored.
#[foreign]
unsafe extern "C" fn MPI_T_event_get_info(
    event_index: c_int,
    name: *mut c_char,
    name_len: *mut c_int,
    verbosity: *mut c_int,
    array_of_datatypes: *mut Handle,
    array_of_displacements: *mut MPI_Aint,
    num_elements: *mut c_int,
    enumtype: *mut MPI_T_enum,
    info: *mut Handle,
    desc: *mut c_char,
    desc_len: *mut c_int,
    bind: *mut c_int,
) -> c_int {
    // SAFETY: as the caller has promised.
    unsafe {
        standard::MPI_T_event_get_info(
            event_index,
            name,
            name_len,
            verbosity,
            array_of_datatypes.cast(),
            array_of_displacements,
            num_elements,
            enumtype,
            info.cast(),
            desc,
            desc_len,
            bind,
        )
    }
}

/// Arguments that count at the root only stand there only, so how long the arrays are is known there only.
#[foreign]
unsafe extern "C" fn MPI_Comm_spawn(
    command: *const c_char,
    argv: *mut *mut c_char,
    maxprocs: c_int,
    info: Handle,
    root: c_int,
    comm: Handle,
    intercomm: *mut Handle,
    array_of_errcodes: *mut c_int,
) -> c_int {
    let mut place = Place::<COMMUNICATOR>::room(intercomm);
    // SAFETY: as the caller has promised.
    unsafe {
        let code = standard::MPI_Comm_spawn(
            command,
            argv,
            maxprocs,
            INFO::to_standard(info),
            RANK::to_standard(root),
            COMMUNICATOR::to_standard(comm),
            place.address(),
            array_of_errcodes,
        );
        place.store();
        code
    }
}

#[foreign]
unsafe extern "C" fn MPI_Comm_spawn_multiple(
    count: c_int,
    array_of_commands: *mut *mut c_char,
    array_of_argv: *mut *mut *mut c_char,
    array_of_maxprocs: *const c_int,
    array_of_info: *const Handle,
    root: c_int,
    comm: Handle,
    intercomm: *mut Handle,
    array_of_errcodes: *mut c_int,
) -> c_int {
    let root = RANK::to_standard(root);
    let comm = COMMUNICATOR::to_standard(comm);
    let mut place = Place::<COMMUNICATOR>::room(intercomm);
    let mut own = -1;
    // SAFETY: as the caller has promised; a place of this function's.
    unsafe {
        standard::MPI_Comm_rank(comm, &mut own);
        let count_here = if own == root { length(count) } else { 0 };
        let mut info = Array::<INFO>::holding(array_of_info, count_here);
        let code = standard::MPI_Comm_spawn_multiple(
            count,
            array_of_commands,
            array_of_argv,
            array_of_maxprocs,
            info.address(),
            root,
            comm,
            place.address(),
            array_of_errcodes,
        );
        place.store();
        code
    }
}

/// A status is the same in C, in Fortran and in its module `mpi_f08`.
macro_rules! statuses {
    ($($name:ident)*) => {$(
        #[foreign]
        unsafe extern "C" fn $name(from: *const c_int, to: *mut c_int) -> c_int {
            if ignored::is_ignored(from) {
                return ERROR_CODE::to_foreign(MPI_ERR_ARG);
            }
            // SAFETY: the caller passes two statuses.
            unsafe { to.cast::<Status>().write_unaligned(from.cast::<Status>().read_unaligned()) };
            MPI_SUCCESS
        }
    )*};
}

statuses! {
    MPI_Status_c2f MPI_Status_f2c MPI_Status_c2f08 MPI_Status_f082c MPI_Status_f082f MPI_Status_f2f08
}
