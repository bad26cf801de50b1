//! Every operation on every type against one element at a time, computed here in plain Rust; and the kinds
//! of numbers Rust does not have against C, in `c_arithmetic.rs`.

use weft_datatype::{Element, Group, Op, Predefined, combine, kernel, supports};

/// MPI-5.0 §6.9.2 and §6.9.4, as a table; and, beyond them, logical operations on the multi-language types.
fn allowed(op: Op, group: Group) -> bool {
    use Group::*;
    let groups: &[Group] = match op {
        Op::Max | Op::Min => &[CInteger, FortranInteger, Floating, MultiLanguage],
        Op::Sum | Op::Prod => &[CInteger, FortranInteger, Floating, Complex, MultiLanguage],
        Op::Land | Op::Lor | Op::Lxor => &[CInteger, Logical, MultiLanguage],
        Op::Band | Op::Bor | Op::Bxor => &[CInteger, FortranInteger, Byte, MultiLanguage],
        Op::Maxloc | Op::Minloc => &[Pair],
        Op::Replace | Op::NoOp => return true,
    };
    groups.contains(&group)
}

#[test]
fn operations_take_the_types_of_the_table() {
    let mut pairs = 0;
    for (&op, &predefined) in Op::ALL
        .iter()
        .flat_map(|op| Predefined::ALL.iter().map(move |p| (op, p)))
    {
        let wanted = allowed(op, predefined.group());
        assert_eq!(
            supports(op, predefined),
            wanted,
            "{} on {}",
            op.name(),
            predefined.name()
        );
        pairs += usize::from(wanted && !op.is_accumulate_only());
    }
    assert!(pairs > 300, "{pairs} pairs");
}

#[test]
#[should_panic(expected = "MPI_SUM is not allowed on MPI_C_BOOL")]
fn combining_what_is_not_allowed_panics() {
    let mut byte = 1u8;
    // SAFETY: it panics before it touches the buffers.
    unsafe { combine(Op::Sum, Predefined::CBool, std::ptr::null(), &mut byte, 1) }
}

/// Applies an operation to values at odd addresses, and gives the result back.
fn applied<T: Copy>(op: Op, predefined: Predefined, input: &[T], inout: &[T]) -> Vec<T> {
    assert_eq!(size_of::<T>(), predefined.extent(), "{}", predefined.name());
    let bytes = size_of_val(input);
    let mut memory = vec![0u8; 2 * bytes + 3];
    let (low, high) = memory.split_at_mut(bytes + 2);
    let (from, to) = (&mut low[1..=bytes], &mut high[1..=bytes]);
    // SAFETY: the slices are as long as the values; the kernel assumes no alignment.
    unsafe {
        std::ptr::copy_nonoverlapping(input.as_ptr().cast(), from.as_mut_ptr(), bytes);
        std::ptr::copy_nonoverlapping(inout.as_ptr().cast(), to.as_mut_ptr(), bytes);
        combine(op, predefined, from.as_ptr(), to.as_mut_ptr(), input.len());
        (0..input.len())
            .map(|at| to.as_ptr().cast::<T>().add(at).read_unaligned())
            .collect()
    }
}

macro_rules! check_integers {
    ($predefined:expr, $t:ty) => {{
        let interesting = [
            0,
            1,
            2,
            3,
            5,
            85,
            100,
            127,
            <$t>::MAX,
            <$t>::MIN,
            <$t>::MAX / 3,
            (0 as $t).wrapping_sub(1),
        ];
        let (a, b) = all_pairs(&interesting);
        let truth = |x: bool| x as $t;
        let oracle = |op: Op, a: $t, b: $t| match op {
            Op::Max => a.max(b),
            Op::Min => a.min(b),
            Op::Sum => a.wrapping_add(b),
            Op::Prod => a.wrapping_mul(b),
            Op::Land => truth(a != 0 && b != 0),
            Op::Lor => truth(a != 0 || b != 0),
            Op::Lxor => truth((a != 0) != (b != 0)),
            Op::Band => a & b,
            Op::Bor => a | b,
            Op::Bxor => a ^ b,
            Op::Replace => a,
            Op::NoOp => b,
            Op::Maxloc | Op::Minloc => unreachable!(),
        };
        check(&a, &b, $predefined, oracle, |x, y| x == y);
    }};
}

macro_rules! check_floats {
    ($predefined:expr, $t:ident) => {{
        let interesting = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            0.1,
            1e30,
            -1e-30,
            $t::MAX,
            $t::INFINITY,
            $t::MIN_POSITIVE,
        ];
        let (a, b) = all_pairs(&interesting);
        let oracle = |op: Op, a: $t, b: $t| match op {
            Op::Max => {
                if a > b {
                    a
                } else {
                    b
                }
            }
            Op::Min => {
                if a < b {
                    a
                } else {
                    b
                }
            }
            Op::Sum => a + b,
            Op::Prod => a * b,
            Op::Replace => a,
            Op::NoOp => b,
            _ => unreachable!(),
        };
        check(&a, &b, $predefined, oracle, |x, y| {
            x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan())
        });
    }};
}

macro_rules! check_complex {
    ($predefined:expr, $t:ident) => {{
        let interesting = [
            [0.0, 1.0],
            [1.5, -2.25],
            [-3.0, 0.1],
            [$t::MAX, 2.0],
            [1e-10, 1e10],
        ];
        let (a, b) = all_pairs(&interesting);
        let oracle = |op: Op, a: [$t; 2], b: [$t; 2]| match op {
            Op::Sum => [a[0] + b[0], a[1] + b[1]],
            Op::Prod => [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]],
            Op::Replace => a,
            Op::NoOp => b,
            _ => unreachable!(),
        };
        check(&a, &b, $predefined, oracle, |x, y| {
            x.map($t::to_bits) == y.map($t::to_bits)
        });
    }};
}

macro_rules! check_pairs {
    ($predefined:expr, $v:ty, $i:ty) => {{
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        struct Pair {
            value: $v,
            index: $i,
        }
        let pair = |value: i8, index: i8| Pair {
            value: value as $v,
            index: index as $i,
        };
        let interesting = [
            pair(0, 3),
            pair(1, 2),
            pair(1, 5),
            pair(-4, 0),
            pair(100, 7),
            pair(-4, 9),
        ];
        let (a, b) = all_pairs(&interesting);
        let lower = |a: Pair, b: Pair| if a.index < b.index { a } else { b };
        let oracle = |op: Op, a: Pair, b: Pair| match op {
            Op::Maxloc if a.value > b.value => a,
            Op::Maxloc if a.value < b.value => b,
            Op::Minloc if a.value < b.value => a,
            Op::Minloc if a.value > b.value => b,
            Op::Maxloc | Op::Minloc => lower(a, b),
            Op::Replace => a,
            Op::NoOp => b,
            _ => unreachable!(),
        };
        check(&a, &b, $predefined, oracle, |x, y| {
            x.value == y.value && x.index == y.index
        });
    }};
}

/// All ordered pairs of values, as two lists.
fn all_pairs<T: Copy>(values: &[T]) -> (Vec<T>, Vec<T>) {
    values
        .iter()
        .flat_map(|&a| values.iter().map(move |&b| (a, b)))
        .unzip()
}

fn check<T: Copy + std::fmt::Debug>(
    a: &[T],
    b: &[T],
    predefined: Predefined,
    oracle: impl Fn(Op, T, T) -> T,
    same: impl Fn(&T, &T) -> bool,
) {
    for &op in Op::ALL.iter().filter(|&&op| supports(op, predefined)) {
        for (index, result) in applied(op, predefined, a, b).iter().enumerate() {
            let wanted = oracle(op, a[index], b[index]);
            let (name, on) = (op.name(), predefined.name());
            assert!(
                same(result, &wanted),
                "{name} on {on} of {:?} and {:?}: {result:?}, not {wanted:?}",
                a[index],
                b[index]
            );
        }
    }
}

#[test]
fn every_operation_on_every_type() {
    for &predefined in Predefined::ALL {
        match predefined.element() {
            Element::I8 => check_integers!(predefined, i8),
            Element::I16 => check_integers!(predefined, i16),
            Element::I32 => check_integers!(predefined, i32),
            Element::I64 => check_integers!(predefined, i64),
            Element::I128 => check_integers!(predefined, i128),
            Element::U8 => check_integers!(predefined, u8),
            Element::U16 => check_integers!(predefined, u16),
            Element::U32 => check_integers!(predefined, u32),
            Element::U64 => check_integers!(predefined, u64),
            Element::U128 => check_integers!(predefined, u128),
            Element::F32 => check_floats!(predefined, f32),
            Element::F64 => check_floats!(predefined, f64),
            Element::ComplexF32 => check_complex!(predefined, f32),
            Element::ComplexF64 => check_complex!(predefined, f64),
            Element::FloatInt => check_pairs!(predefined, f32, i32),
            Element::DoubleInt => check_pairs!(predefined, f64, i32),
            Element::LongInt => check_pairs!(predefined, i64, i32),
            Element::IntInt => check_pairs!(predefined, i32, i32),
            Element::ShortInt => check_pairs!(predefined, i16, i32),
            Element::FloatFloat => check_pairs!(predefined, f32, f32),
            Element::DoubleDouble => check_pairs!(predefined, f64, f64),
            Element::F16
            | Element::LongDouble
            | Element::F128
            | Element::ComplexF16
            | Element::ComplexLongDouble
            | Element::ComplexF128
            | Element::LongDoubleInt => assert!(kernel(Op::Replace, predefined).is_some()),
        }
    }
}

#[test]
fn the_holes_of_pairs_keep_their_bytes() {
    for op in [Op::Maxloc, Op::Minloc, Op::Replace] {
        let input = [[9u8; 8], [0; 8]];
        let result = applied(op, Predefined::ShortInt, &input, &[[5; 8], [5; 8]]);
        assert!(result.iter().all(|pair| pair[2..4] == [5, 5]), "{result:?}");
    }
}
