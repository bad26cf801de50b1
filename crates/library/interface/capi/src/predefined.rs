//! The ABI's numbers of predefined handles, and the library's names of what they stand for.

use weft_abi::*;
use weft_objects::{Op, Predefined, TypeId};

/// A number of no object, whatever the kind.
pub const NOTHING: u64 = u64::MAX;

/// The number that a predefined handle is.
const fn number<T>(handle: *mut T) -> usize {
    union Bits<T> {
        handle: *mut T,
        number: usize,
    }
    // SAFETY: a predefined handle is a number without provenance, so its bytes are an integer's.
    unsafe { Bits { handle }.number }
}

pub const COMM_WORLD: usize = number(MPI_COMM_WORLD);
pub const COMM_SELF: usize = number(MPI_COMM_SELF);
pub const GROUP_EMPTY: usize = number(MPI_GROUP_EMPTY);
pub const ERRORS_ARE_FATAL: usize = number(MPI_ERRORS_ARE_FATAL);
pub const ERRORS_ABORT: usize = number(MPI_ERRORS_ABORT);
pub const ERRHANDLER_NULL: usize = number(MPI_ERRHANDLER_NULL);
pub const ERRORS_RETURN: usize = number(MPI_ERRORS_RETURN);

/// From the first datatype's number to the last one's.
const DATATYPES_START: usize = number(MPI_DATATYPE_NULL);
const DATATYPES: usize = 256;

macro_rules! datatypes {
    ($($handle:ident = $predefined:ident,)*) => {
        const PAIRS: &[(usize, Predefined)] = &[$((number($handle), Predefined::$predefined),)*];
    };
}

datatypes! {
    MPI_AINT = Aint,
    MPI_COUNT = Count,
    MPI_OFFSET = Offset,
    MPI_PACKED = Packed,
    MPI_SHORT = Short,
    MPI_INT = Int,
    MPI_LONG = Long,
    MPI_LONG_LONG = LongLong,
    MPI_UNSIGNED_SHORT = UnsignedShort,
    MPI_UNSIGNED = Unsigned,
    MPI_UNSIGNED_LONG = UnsignedLong,
    MPI_UNSIGNED_LONG_LONG = UnsignedLongLong,
    MPI_FLOAT = Float,
    MPI_C_FLOAT_COMPLEX = CFloatComplex,
    MPI_CXX_FLOAT_COMPLEX = CxxFloatComplex,
    MPI_DOUBLE = Double,
    MPI_C_DOUBLE_COMPLEX = CDoubleComplex,
    MPI_CXX_DOUBLE_COMPLEX = CxxDoubleComplex,
    MPI_LOGICAL = Logical,
    MPI_INTEGER = Integer,
    MPI_REAL = Real,
    MPI_COMPLEX = Complex,
    MPI_DOUBLE_PRECISION = DoublePrecision,
    MPI_DOUBLE_COMPLEX = DoubleComplex,
    MPI_CHARACTER = Character,
    MPI_LONG_DOUBLE = LongDouble,
    MPI_C_LONG_DOUBLE_COMPLEX = CLongDoubleComplex,
    MPI_CXX_LONG_DOUBLE_COMPLEX = CxxLongDoubleComplex,
    MPI_FLOAT_INT = FloatInt,
    MPI_DOUBLE_INT = DoubleInt,
    MPI_LONG_INT = LongInt,
    MPI_2INT = TwoInt,
    MPI_SHORT_INT = ShortInt,
    MPI_LONG_DOUBLE_INT = LongDoubleInt,
    MPI_2REAL = TwoReal,
    MPI_2DOUBLE_PRECISION = TwoDoublePrecision,
    MPI_2INTEGER = TwoInteger,
    MPI_C_BOOL = CBool,
    MPI_CXX_BOOL = CxxBool,
    MPI_WCHAR = Wchar,
    MPI_INT8_T = Int8,
    MPI_UINT8_T = Uint8,
    MPI_CHAR = Char,
    MPI_SIGNED_CHAR = SignedChar,
    MPI_UNSIGNED_CHAR = UnsignedChar,
    MPI_BYTE = Byte,
    MPI_INT16_T = Int16,
    MPI_UINT16_T = Uint16,
    MPI_INT32_T = Int32,
    MPI_UINT32_T = Uint32,
    MPI_INT64_T = Int64,
    MPI_UINT64_T = Uint64,
    MPI_LOGICAL1 = Logical1,
    MPI_INTEGER1 = Integer1,
    MPI_LOGICAL2 = Logical2,
    MPI_INTEGER2 = Integer2,
    MPI_REAL2 = Real2,
    MPI_LOGICAL4 = Logical4,
    MPI_INTEGER4 = Integer4,
    MPI_REAL4 = Real4,
    MPI_COMPLEX4 = Complex4,
    MPI_LOGICAL8 = Logical8,
    MPI_INTEGER8 = Integer8,
    MPI_REAL8 = Real8,
    MPI_COMPLEX8 = Complex8,
    MPI_LOGICAL16 = Logical16,
    MPI_INTEGER16 = Integer16,
    MPI_REAL16 = Real16,
    MPI_COMPLEX16 = Complex16,
    MPI_COMPLEX32 = Complex32,
}

/// Places in [`Predefined::ALL`], -1 for numbers of none.
static BY_NUMBER: [i8; DATATYPES] = {
    let mut found = [-1; DATATYPES];
    let mut index = 0;
    while index < PAIRS.len() {
        let (number, predefined) = PAIRS[index];
        assert!((predefined as u8) <= i8::MAX as u8);
        found[number - DATATYPES_START] = predefined as i8;
        index += 1;
    }
    found
};

/// By place in [`Predefined::ALL`]: the number.
static BY_PLACE: [u16; Predefined::ALL.len()] = {
    let mut numbers = [0; Predefined::ALL.len()];
    let mut index = 0;
    while index < PAIRS.len() {
        let (number, predefined) = PAIRS[index];
        numbers[predefined as usize] = number as u16;
        index += 1;
    }
    assert!(PAIRS.len() == numbers.len(), "every datatype has a number");
    numbers
};

/// The identifier of a number that is no handle of an object that could be freed.
const fn of_no_object(number: u64) -> TypeId {
    // SAFETY: there is no object.
    unsafe { TypeId::named(number) }
}

/// The datatype of a number below 4096; one that is none becomes [`NOTHING`].
#[inline]
pub fn datatype(number: usize) -> TypeId {
    match BY_NUMBER.get(number.wrapping_sub(DATATYPES_START)) {
        // -1 is all ones in any width.
        Some(&place) => of_no_object(i64::from(place) as u64),
        None => of_no_object(NOTHING),
    }
}

pub fn datatype_number(predefined: Predefined) -> usize {
    BY_PLACE[predefined as usize].into()
}

/// From the first operation's number to the last one's.
const OPS_START: usize = number(MPI_OP_NULL);
const OPS_END: usize = number(MPI_NO_OP) + 1;

const OPS: [(usize, Op); 14] = [
    (number(MPI_SUM), Op::Sum),
    (number(MPI_MIN), Op::Min),
    (number(MPI_MAX), Op::Max),
    (number(MPI_PROD), Op::Prod),
    (number(MPI_BAND), Op::Band),
    (number(MPI_BOR), Op::Bor),
    (number(MPI_BXOR), Op::Bxor),
    (number(MPI_LAND), Op::Land),
    (number(MPI_LOR), Op::Lor),
    (number(MPI_LXOR), Op::Lxor),
    (number(MPI_MINLOC), Op::Minloc),
    (number(MPI_MAXLOC), Op::Maxloc),
    (number(MPI_REPLACE), Op::Replace),
    (number(MPI_NO_OP), Op::NoOp),
];

static OP_BY_NUMBER: [Option<Op>; OPS_END - OPS_START] = {
    let mut found = [None; OPS_END - OPS_START];
    let mut index = 0;
    while index < OPS.len() {
        let (number, op) = OPS[index];
        found[number - OPS_START] = Some(op);
        index += 1;
    }
    found
};

#[inline]
pub fn op(number: usize) -> Option<Op> {
    *OP_BY_NUMBER.get(number.wrapping_sub(OPS_START))?
}

pub fn op_number(op: Op) -> usize {
    let pair = OPS.iter().find(|pair| pair.1 == op);
    pair.expect("every operation has a number").0
}

#[cfg(test)]
mod tests {
    use weft_abi::table;
    use weft_objects::types::as_predefined;

    use super::*;

    #[test]
    fn every_datatype_of_the_abi_has_its_own_name() {
        let constants = table::sections()
            .iter()
            .flat_map(|section| &section.constants);
        let mut seen = 0;
        for constant in constants {
            if let Ok(number) = usize::try_from(constant.number())
                && let Some(predefined) = as_predefined(datatype(number))
                && format!("MPI_{}", constant.name) == predefined.name()
            {
                assert_eq!(datatype_number(predefined), number);
                seen += 1;
            }
        }
        assert_eq!(seen, Predefined::ALL.len());
        for number in [0, 0x1ff, 0x200, 0x2ff, 0x300, usize::MAX] {
            assert_eq!(datatype(number), of_no_object(NOTHING), "{number:#x}");
        }
    }

    #[test]
    fn every_operation_there_and_back() {
        for &wanted in Op::ALL {
            assert_eq!(op(op_number(wanted)), Some(wanted));
        }
        assert_eq!((op(0x20), op(0)), (None, None));
    }
}
