//! What programs in C++ use of the binding that MPI-3.0 removed, as Open MPI 4 has it: `libmpi_cxx.so.40` is another name of this library.
//!
//! Nearly all of the binding is inline: the program has the members of its classes. The library has the predefined objects and
//! the few members here. Also a program that calls C alone needs those, for its compiler puts the tables of virtual functions of all
//! classes into it, which name them.
//!
//! # Layout
//! 1. An object is the address of its class's virtual functions, and a handle of C's (Itanium C++ ABI §2.4).
//! 2. The tables of virtual functions are the program's, which exports them because its own library has them too (§5.2.3: any copy
//!    serves). Here each is a weak reference: one that is nowhere is null, and then nobody can call a virtual function.
//! 3. Objects are filled before the program's own constructors run, and as in `objects` the copy that counts may be the program's.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use mpi_abi::collective::op;
use weft_foreign::convert::Kind;

use crate::functions::standard;
use crate::handles::{DATATYPE, FILE, Handle, OPERATION, WINDOW};
use crate::objects::*;
use crate::symbols::Pointer;

/// Before the first virtual function stand the place in the whole object and the type (Itanium C++ ABI §2.5.2).
const FIRST_FUNCTION: usize = 2 * size_of::<usize>();

/// The classes, and a table of where their virtual functions stand, which the dynamic linker fills.
macro_rules! classes {
    ($($class:ident $table:literal;)*) => {
        #[derive(Clone, Copy)]
        enum Class { $($class,)* }

        std::arch::global_asm!(
            ".pushsection .data.rel.ro.weft_cxx_tables, \"aw\"",
            ".balign 8",
            ".globl weft_cxx_tables",
            ".hidden weft_cxx_tables",
            "weft_cxx_tables:",
            $(concat!(".weak ", $table), concat!(".quad ", $table),)*
            ".popsection",
        );
        const CLASSES: usize = [$($table),*].len();
    };
}

classes! {
    Comm "_ZTVN3MPI4CommE";
    CommNull "_ZTVN3MPI9Comm_NullE";
    Datatype "_ZTVN3MPI8DatatypeE";
    Errhandler "_ZTVN3MPI10ErrhandlerE";
    File "_ZTVN3MPI4FileE";
    Group "_ZTVN3MPI5GroupE";
    Info "_ZTVN3MPI4InfoE";
    Intracomm "_ZTVN3MPI9IntracommE";
    Op "_ZTVN3MPI2OpE";
    Request "_ZTVN3MPI7RequestE";
    Win "_ZTVN3MPI3WinE";
}

unsafe extern "C" {
    static weft_cxx_tables: [usize; CLASSES];
}

impl Class {
    /// What an object of the class begins with.
    fn functions(self) -> usize {
        // SAFETY: the dynamic linker has filled the table, and nobody writes to it after that.
        let table = unsafe { weft_cxx_tables[self as usize] };
        match table {
            0 => 0,
            table => table + FIRST_FUNCTION,
        }
    }
}

/// An object of the binding's.
#[repr(C)]
pub struct Object {
    functions: AtomicUsize,
    handle: AtomicUsize,
}

impl Object {
    const fn new() -> Object {
        Object {
            functions: AtomicUsize::new(0),
            handle: AtomicUsize::new(0),
        }
    }

    fn fill(&self, class: Class, handle: usize) {
        self.functions.store(class.functions(), Ordering::Relaxed);
        self.handle.store(handle, Ordering::Relaxed);
    }

    fn handle(&self) -> Handle {
        std::ptr::without_provenance_mut(self.handle.load(Ordering::Relaxed))
    }
}

/// The predefined objects: the name's symbol, the class, and the object of C's whose address is the handle.
macro_rules! objects {
    ($($symbol:ident $class:ident $object:ident;)*) => {
        $(
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals)]
            pub static $symbol: Object = Object::new();
        )*

        extern "C" fn fill() {
            $($symbol.fill(Class::$class, (&raw const $object).addr());)*
        }
    };
}

objects! {
    _ZN3MPI10COMM_WORLDE Intracomm ompi_mpi_comm_world;
    _ZN3MPI9COMM_SELFE Intracomm ompi_mpi_comm_self;
    _ZN3MPI9COMM_NULLE CommNull ompi_mpi_comm_null;
    _ZN3MPI10GROUP_NULLE Group ompi_mpi_group_null;
    _ZN3MPI11GROUP_EMPTYE Group ompi_mpi_group_empty;
    _ZN3MPI12REQUEST_NULLE Request ompi_request_null;
    _ZN3MPI8WIN_NULLE Win ompi_mpi_win_null;
    _ZN3MPI9FILE_NULLE File ompi_mpi_file_null;
    _ZN3MPI9INFO_NULLE Info ompi_mpi_info_null;
    _ZN3MPI15ERRHANDLER_NULLE Errhandler ompi_mpi_errhandler_null;
    _ZN3MPI16ERRORS_ARE_FATALE Errhandler ompi_mpi_errors_are_fatal;
    _ZN3MPI13ERRORS_RETURNE Errhandler ompi_mpi_errors_return;
    _ZN3MPI23ERRORS_THROW_EXCEPTIONSE Errhandler ompi_mpi_errors_throw_exceptions;
    _ZN3MPI7OP_NULLE Op ompi_mpi_op_null;
    _ZN3MPI3MAXE Op ompi_mpi_op_max;
    _ZN3MPI3MINE Op ompi_mpi_op_min;
    _ZN3MPI3SUME Op ompi_mpi_op_sum;
    _ZN3MPI4PRODE Op ompi_mpi_op_prod;
    _ZN3MPI6MAXLOCE Op ompi_mpi_op_maxloc;
    _ZN3MPI6MINLOCE Op ompi_mpi_op_minloc;
    _ZN3MPI4BANDE Op ompi_mpi_op_band;
    _ZN3MPI3BORE Op ompi_mpi_op_bor;
    _ZN3MPI4BXORE Op ompi_mpi_op_bxor;
    _ZN3MPI4LANDE Op ompi_mpi_op_land;
    _ZN3MPI3LORE Op ompi_mpi_op_lor;
    _ZN3MPI4LXORE Op ompi_mpi_op_lxor;
    _ZN3MPI7REPLACEE Op ompi_mpi_op_replace;
    _ZN3MPI13DATATYPE_NULLE Datatype ompi_mpi_datatype_null;
    _ZN3MPI4BYTEE Datatype ompi_mpi_byte;
    _ZN3MPI6PACKEDE Datatype ompi_mpi_packed;
    _ZN3MPI4CHARE Datatype ompi_mpi_char;
    _ZN3MPI5SHORTE Datatype ompi_mpi_short;
    _ZN3MPI3INTE Datatype ompi_mpi_int;
    _ZN3MPI4LONGE Datatype ompi_mpi_long;
    _ZN3MPI9LONG_LONGE Datatype ompi_mpi_long_long_int;
    _ZN3MPI11SIGNED_CHARE Datatype ompi_mpi_signed_char;
    _ZN3MPI13UNSIGNED_CHARE Datatype ompi_mpi_unsigned_char;
    _ZN3MPI14UNSIGNED_SHORTE Datatype ompi_mpi_unsigned_short;
    _ZN3MPI8UNSIGNEDE Datatype ompi_mpi_unsigned;
    _ZN3MPI13UNSIGNED_LONGE Datatype ompi_mpi_unsigned_long;
    _ZN3MPI18UNSIGNED_LONG_LONGE Datatype ompi_mpi_unsigned_long_long;
    _ZN3MPI5FLOATE Datatype ompi_mpi_float;
    _ZN3MPI6DOUBLEE Datatype ompi_mpi_double;
    _ZN3MPI11LONG_DOUBLEE Datatype ompi_mpi_long_double;
    _ZN3MPI5WCHARE Datatype ompi_mpi_wchar;
    _ZN3MPI4BOOLE Datatype ompi_mpi_cxx_bool;
    _ZN3MPI7COMPLEXE Datatype ompi_mpi_cxx_cplex;
    _ZN3MPI14DOUBLE_COMPLEXE Datatype ompi_mpi_cxx_dblcplex;
    _ZN3MPI19LONG_DOUBLE_COMPLEXE Datatype ompi_mpi_cxx_ldblcplex;
    _ZN3MPI9FLOAT_INTE Datatype ompi_mpi_float_int;
    _ZN3MPI10DOUBLE_INTE Datatype ompi_mpi_double_int;
    _ZN3MPI8LONG_INTE Datatype ompi_mpi_long_int;
    _ZN3MPI9SHORT_INTE Datatype ompi_mpi_short_int;
    _ZN3MPI15LONG_DOUBLE_INTE Datatype ompi_mpi_longdbl_int;
    _ZN3MPI13LONG_LONG_INTE Datatype ompi_mpi_long_long_int;
    _ZN3MPI6TWOINTE Datatype ompi_mpi_2int;
    _ZN3MPI9CHARACTERE Datatype ompi_mpi_character;
    _ZN3MPI7LOGICALE Datatype ompi_mpi_logical;
    _ZN3MPI7INTEGERE Datatype ompi_mpi_integer;
    _ZN3MPI8INTEGER1E Datatype ompi_mpi_integer1;
    _ZN3MPI8INTEGER2E Datatype ompi_mpi_integer2;
    _ZN3MPI8INTEGER4E Datatype ompi_mpi_integer4;
    _ZN3MPI4REALE Datatype ompi_mpi_real;
    _ZN3MPI5REAL2E Datatype ompi_mpi_real2;
    _ZN3MPI5REAL4E Datatype ompi_mpi_real4;
    _ZN3MPI5REAL8E Datatype ompi_mpi_real8;
    _ZN3MPI16DOUBLE_PRECISIONE Datatype ompi_mpi_dblprec;
    _ZN3MPI9F_COMPLEXE Datatype ompi_mpi_cplex;
    _ZN3MPI16F_DOUBLE_COMPLEXE Datatype ompi_mpi_dblcplex;
    _ZN3MPI10TWOINTEGERE Datatype ompi_mpi_2integer;
    _ZN3MPI7TWOREALE Datatype ompi_mpi_2real;
    _ZN3MPI19TWODOUBLE_PRECISIONE Datatype ompi_mpi_2dblprec;
}

/// Run by the dynamic linker, before any constructor of the program's.
#[used]
#[unsafe(link_section = ".init_array")]
static FILL: extern "C" fn() = fill;

/// The addresses that are constants, as in C.
macro_rules! addresses {
    ($($symbol:ident = $value:expr;)*) => {$(
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals)]
        pub static $symbol: Pointer = Pointer::to(std::ptr::without_provenance($value));
    )*};
}

addresses! {
    _ZN3MPI6BOTTOME = 0;
    _ZN3MPI8IN_PLACEE = 1;
    _ZN3MPI9ARGV_NULLE = 0;
    _ZN3MPI10ARGVS_NULLE = 0;
}

/// `MPI::Comm::Comm()`, of a whole object and of a part of one.
macro_rules! constructors {
    ($($symbol:ident $copy:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $symbol(this: &Object) {
            this.fill(Class::Comm, (&raw const ompi_mpi_comm_null).addr());
        }

        /// From a `Comm_Null`, which any communicator is.
        #[unsafe(no_mangle)]
        pub extern "C" fn $copy(this: &Object, other: &Object) {
            this.fill(Class::Comm, other.handle().addr());
        }
    )*};
}

constructors! {
    _ZN3MPI4CommC1Ev _ZN3MPI4CommC1ERKNS_9Comm_NullE;
    _ZN3MPI4CommC2Ev _ZN3MPI4CommC2ERKNS_9Comm_NullE;
}

/// Members that give an object back, of which the null handle stays.
macro_rules! releases {
    ($($symbol:ident $kind:ident $function:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $symbol(this: &Object) {
            let mut handle = $kind::to_standard(this.handle());
            // SAFETY: a place for a handle.
            unsafe { standard::$function(&mut handle) };
            let freed = $kind::to_foreign(handle);
            this.handle.store(freed.addr(), Ordering::Relaxed);
        }
    )*};
}

releases! {
    _ZN3MPI3Win4FreeEv WINDOW MPI_Win_free;
    _ZN3MPI4File5CloseEv FILE MPI_File_close;
    _ZN3MPI8Datatype4FreeEv DATATYPE MPI_Type_free;
}

/// `MPI::InitializeIntercepts`, which `MPI::Init` calls: what it would prepare, is.
#[unsafe(no_mangle)]
pub extern "C" fn _ZN3MPI20InitializeInterceptsEv() {}

/// A `MPI::User_function`.
type UserFunction = unsafe extern "C-unwind" fn(*const c_void, *mut c_void, c_int, &Object);

/// The function of C's that `MPI::Op::Init` makes an operation with. It calls the one of C++'s, which the library passes behind the
/// parameters as soon as the operation has it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn ompi_mpi_cxx_op_intercept(
    input: *mut c_void,
    inout: *mut c_void,
    length: *const c_int,
    datatype: *const usize,
    function: UserFunction,
) {
    let object = Object::new();
    // SAFETY: the library's call, with a length, a datatype, and what the program set (`ompi_op_set_cxx_callback`).
    unsafe {
        object.fill(Class::Datatype, *datatype);
        function(input, inout, *length, &object);
    }
}

/// Gives the operation its function of C++'s.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompi_op_set_cxx_callback(op: Handle, function: UserFunction) {
    // SAFETY: `MPI::Op::Init` calls it, for an operation that it has just made with the function above.
    unsafe { op::bind(OPERATION::to_standard(op), function as usize) };
}
