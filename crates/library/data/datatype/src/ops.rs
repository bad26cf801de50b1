//! The predefined reduction operations and the types each is allowed on (MPI-5.0 §6.9.2, §6.9.4, §13.3.4).

use std::sync::OnceLock;

use crate::reduce::kernel::{
    self, And, Arithmetic, Connective, Exclusive, Max, Min, Or, Preference, Product, Sum,
};
use crate::reduce::{Complex, F16, F128, LongDouble};
use crate::{Element, Group, Predefined};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Max,
    Min,
    Sum,
    Prod,
    Land,
    Band,
    Lor,
    Bor,
    Lxor,
    Bxor,
    Maxloc,
    Minloc,
    Replace,
    NoOp,
}

/// Applies an operation to `count` elements: `inout[i] = input[i] op inout[i]`. The elements lie an extent
/// of the type apart, without any alignment. Bytes in a pair's holes keep their values.
///
/// # Safety
/// `input` is valid for reads and `inout` for writes of `count` elements, and they do not overlap.
pub type Kernel = unsafe fn(input: *const u8, inout: *mut u8, count: usize);

impl Op {
    pub const ALL: &[Op] = &[
        Op::Max,
        Op::Min,
        Op::Sum,
        Op::Prod,
        Op::Land,
        Op::Band,
        Op::Lor,
        Op::Bor,
        Op::Lxor,
        Op::Bxor,
        Op::Maxloc,
        Op::Minloc,
        Op::Replace,
        Op::NoOp,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Op::Max => "MPI_MAX",
            Op::Min => "MPI_MIN",
            Op::Sum => "MPI_SUM",
            Op::Prod => "MPI_PROD",
            Op::Land => "MPI_LAND",
            Op::Band => "MPI_BAND",
            Op::Lor => "MPI_LOR",
            Op::Bor => "MPI_BOR",
            Op::Lxor => "MPI_LXOR",
            Op::Bxor => "MPI_BXOR",
            Op::Maxloc => "MPI_MAXLOC",
            Op::Minloc => "MPI_MINLOC",
            Op::Replace => "MPI_REPLACE",
            Op::NoOp => "MPI_NO_OP",
        }
    }

    /// Whether only accumulates take it, and no reduction does (MPI-5.0 §12.3.4).
    pub const fn is_accumulate_only(self) -> bool {
        matches!(self, Op::Replace | Op::NoOp)
    }

    /// Whether the order of the operands may be changed (MPI_Op_commutative).
    pub const fn is_commutative(self) -> bool {
        !self.is_accumulate_only()
    }
}

/// Whether the standard allows `op` on `predefined`.
pub fn supports(op: Op, predefined: Predefined) -> bool {
    kernel(op, predefined).is_some()
}

/// Applies `op` to `count` elements; see [`Kernel`].
///
/// # Safety
/// As [`Kernel`].
///
/// # Panics
/// If `op` is not allowed on the type; [`supports`] tells.
pub unsafe fn combine(
    op: Op,
    predefined: Predefined,
    input: *const u8,
    inout: *mut u8,
    count: usize,
) {
    let Some(kernel) = kernel(op, predefined) else {
        panic!("{} is not allowed on {}", op.name(), predefined.name());
    };
    // SAFETY: by this function's contract.
    unsafe { kernel(input, inout, count) }
}

/// An operation's kernels for this processor, by type.
type Row = [Option<Kernel>; Predefined::ALL.len()];

/// Every kernel, by operation. Each row is made apart: a table of all is as long as a small thread's stack.
static KERNELS: [OnceLock<Row>; Op::ALL.len()] = [const { OnceLock::new() }; Op::ALL.len()];

/// The loop that applies `op` to elements of `predefined`, if the standard allows it, or programs count on it and other
/// libraries do: `MPI_CHAR`, and logical operations on `MPI_AINT`, `MPI_COUNT` and `MPI_OFFSET`.
#[inline]
pub fn kernel(op: Op, predefined: Predefined) -> Option<Kernel> {
    let row = KERNELS[op as usize].get_or_init(|| {
        std::array::from_fn(|predefined| find_kernel(op, Predefined::ALL[predefined]))
    });
    row[predefined as usize]
}

fn find_kernel(op: Op, predefined: Predefined) -> Option<Kernel> {
    use Group::{Byte, CInteger, Floating, FortranInteger, Logical, MultiLanguage};
    let element = predefined.element();
    match (op, predefined.group()) {
        (Op::Max, CInteger | FortranInteger | MultiLanguage | Floating) => ordered::<Max>(element),
        (Op::Min, CInteger | FortranInteger | MultiLanguage | Floating) => ordered::<Min>(element),
        (Op::Sum, CInteger | FortranInteger | MultiLanguage | Floating | Group::Complex) => {
            number::<Sum>(element)
        }
        (Op::Prod, CInteger | FortranInteger | MultiLanguage | Floating | Group::Complex) => {
            number::<Product>(element)
        }
        (Op::Land, CInteger | Logical | MultiLanguage) => truth::<And>(element),
        (Op::Lor, CInteger | Logical | MultiLanguage) => truth::<Or>(element),
        (Op::Lxor, CInteger | Logical | MultiLanguage) => truth::<Exclusive>(element),
        (Op::Band, CInteger | FortranInteger | Byte | MultiLanguage) => bits::<And>(element),
        (Op::Bor, CInteger | FortranInteger | Byte | MultiLanguage) => bits::<Or>(element),
        (Op::Bxor, CInteger | FortranInteger | Byte | MultiLanguage) => bits::<Exclusive>(element),
        (Op::Maxloc, Group::Pair) => located::<Max>(element),
        (Op::Minloc, Group::Pair) => located::<Min>(element),
        (Op::Replace, Group::Pair) => replaced_pair(element),
        (Op::Replace, _) => replaced(element),
        (Op::NoOp, _) => Some(kernel::nothing),
        _ => None,
    }
}

/// The instance of a generic kernel for an element's representation, among those listed, and for this processor.
macro_rules! instance {
    ($element:expr, $make:ident::<$op:ty>, $($name:ident: $representation:ty),* $(,)?) => {
        match $element {
            $(Element::$name => Some(match kernel::is_wide() {
                true => kernel::wide::$make::<$representation, $op> as Kernel,
                false => kernel::narrow::$make::<$representation, $op>,
            }),)*
            _ => None,
        }
    };
}

fn ordered<P: Preference>(element: Element) -> Option<Kernel> {
    instance!(element, ordered::<P>,
        I8: i8, I16: i16, I32: i32, I64: i64, I128: i128, U8: u8, U16: u16, U32: u32, U64: u64,
        F16: F16, F32: f32, F64: f64, LongDouble: LongDouble, F128: F128,
    )
}

fn number<A: Arithmetic>(element: Element) -> Option<Kernel> {
    instance!(element, number::<A>,
        I8: i8, I16: i16, I32: i32, I64: i64, I128: i128, U8: u8, U16: u16, U32: u32, U64: u64,
        F16: F16, F32: f32, F64: f64, LongDouble: LongDouble, F128: F128,
        ComplexF16: Complex<F16>, ComplexF32: Complex<f32>, ComplexF64: Complex<f64>,
        ComplexLongDouble: Complex<LongDouble>, ComplexF128: Complex<F128>,
    )
}

fn truth<C: Connective>(element: Element) -> Option<Kernel> {
    instance!(element, truth::<C>,
        I8: u8, I16: u16, I32: u32, I64: u64, U8: u8, U16: u16, U32: u32, U64: u64, U128: u128,
    )
}

fn bits<C: Connective>(element: Element) -> Option<Kernel> {
    instance!(element, bits::<C>,
        I8: u8, I16: u16, I32: u32, I64: u64, I128: u128, U8: u8, U16: u16, U32: u32, U64: u64,
    )
}

/// The instance of a generic kernel for a pair's types of value and index.
macro_rules! pair_instance {
    ($element:expr, $make:ident, $($op:ty)?) => {
        match $element {
            Element::FloatInt => Some(kernel::$make::<f32, i32, $($op)?> as Kernel),
            Element::DoubleInt => Some(kernel::$make::<f64, i32, $($op)?> as Kernel),
            Element::LongInt => Some(kernel::$make::<i64, i32, $($op)?> as Kernel),
            Element::IntInt => Some(kernel::$make::<i32, i32, $($op)?> as Kernel),
            Element::ShortInt => Some(kernel::$make::<i16, i32, $($op)?> as Kernel),
            Element::LongDoubleInt => Some(kernel::$make::<LongDouble, i32, $($op)?> as Kernel),
            Element::FloatFloat => Some(kernel::$make::<f32, f32, $($op)?> as Kernel),
            Element::DoubleDouble => Some(kernel::$make::<f64, f64, $($op)?> as Kernel),
            _ => None,
        }
    };
}

fn located<P: Preference>(element: Element) -> Option<Kernel> {
    pair_instance!(element, located, P)
}

fn replaced_pair(element: Element) -> Option<Kernel> {
    pair_instance!(element, replaced_pair,)
}

fn replaced(element: Element) -> Option<Kernel> {
    match element.extent() {
        1 => Some(kernel::replaced::<1>),
        2 => Some(kernel::replaced::<2>),
        4 => Some(kernel::replaced::<4>),
        8 => Some(kernel::replaced::<8>),
        16 => Some(kernel::replaced::<16>),
        32 => Some(kernel::replaced::<32>),
        _ => None,
    }
}
