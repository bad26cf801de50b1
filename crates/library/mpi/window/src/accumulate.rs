//! Accumulates (MPI-5.0 §12.3.4): `MPI_Accumulate` and `MPI_Get_accumulate`, and for one element `MPI_Fetch_and_op` and
//! `MPI_Compare_and_swap`.

use weft_datatype::{Datatype, Group, Op, Predefined};
use weft_error::{Class, Error, OfBuffer, Result, argument};
use weft_handle::WindowId;
use weft_memory::Memory;
use weft_objects::op::OpId;
use weft_objects::types::{self, Buffer, TypeId};
use weft_rma::Operation;
use weft_rma::far::Updating;

use super::errors::unreached;
use super::far::{Buffers, Far};
use super::object::{Locality, Window, find};
use super::transfer::{Checked, Epoch, Form, Plain, TargetBuffer, check_fits};

/// The elements of a buffer as packed bytes: the buffer itself where it is contiguous.
struct Packed {
    copy: Vec<u8>,
    contiguous: Option<*mut u8>,
}

impl Packed {
    fn room(memory: &Memory) -> Result<Packed> {
        let contiguous = memory.layout.is_none().then_some(memory.base);
        let copied = contiguous.map_or(memory.bytes, |_| 0);
        Ok(Packed {
            copy: weft_reserve::zeroed(copied)?,
            contiguous,
        })
    }

    /// What a buffer holds, which is valid for reads.
    fn of(memory: &Memory) -> Result<Packed> {
        let mut packed = Packed::room(memory)?;
        if packed.contiguous.is_none() {
            // SAFETY: the caller's buffer was checked; the copy is as long as its packed bytes.
            unsafe { memory.read(0, &mut packed.copy) };
        }
        Ok(packed)
    }

    fn pointer(&mut self) -> *mut u8 {
        self.contiguous.unwrap_or(self.copy.as_mut_ptr())
    }

    /// Puts what was packed into the buffer, which is valid for writes.
    fn unpack(self, memory: &Memory) {
        if self.contiguous.is_none() {
            // SAFETY: as in `of`.
            unsafe { memory.write(0, &self.copy) };
        }
    }
}

/// The one predefined datatype that an argument consists of (MPI-5.0 §12.3.4).
fn basic(name: &str, datatype: &Datatype) -> Result<Predefined> {
    datatype
        .only_basic()
        .ok_or_else(|| argument(Class::Type, name, "not all of one predefined datatype"))
}

fn check_same(name: &str, datatype: TypeId, wanted: Predefined) -> Result<()> {
    let found = basic(name, &*types::find_committed(datatype)?)?;
    if found.element() == wanted.element() {
        return Ok(());
    }
    let (found, wanted) = (found.name(), wanted.name());
    let what = format_args!("of {found}, but the target's data are of {wanted}");
    Err(argument(Class::Type, name, what))
}

/// Accumulates take no operation of the program's (MPI-5.0 §12.3.4).
fn predefined(op: OpId) -> Result<Op> {
    match op {
        OpId::Predefined(op) => Ok(op),
        OpId::User(_) => Err(argument(Class::Op, "op", "not a predefined operation")),
    }
}

/// An operation, if the standard has it for the type.
fn operation(op: Op, basic: Predefined) -> Result<Operation> {
    Operation::new(op, basic).ok_or_else(|| {
        let (op, on) = (op.name(), basic.name());
        argument(Class::Op, "op", format_args!("{op} is not defined on {on}"))
    })
}

impl Window {
    /// Updates a part on another host.
    fn update_far<F: Form>(
        &self,
        far: &Far,
        checked: &Checked,
        updating: Updating,
        buffers: &Buffers,
    ) -> Result<F::Access> {
        // SAFETY: the caller's buffers were checked to be as long as the target, and are valid until the access is complete.
        self.access_far::<F>(far, checked, |path, target, owner| unsafe {
            path.update(target, updating, buffers, owner)
        })
    }

    fn update(
        &self,
        checked: &Checked,
        operation: Operation,
        operand: *const u8,
        result: *mut u8,
    ) -> Result<()> {
        // SAFETY: the callers' buffers were checked to be as long as the target.
        unsafe {
            self.rma
                .update(&checked.target(), operation, operand, result)
        }
        .map_err(unreached)
    }
}

/// `MPI_Accumulate` and `MPI_Raccumulate`.
#[inline(always)]
pub fn accumulate<F: Form>(
    id: WindowId,
    origin: Buffer,
    target: TargetBuffer,
    op: OpId,
    form: F,
) -> Result<F::Access> {
    let window = find(id)?;
    if window.accumulate_direct(&origin, &target, op, F::FORM.epoch) {
        return Ok(F::FORM.complete);
    }
    general_accumulate(window, &origin, target, op, form)
}

#[inline(never)]
fn general_accumulate<F: Form>(
    window: &Window,
    origin: &Buffer,
    target: TargetBuffer,
    op: OpId,
    _: F,
) -> Result<F::Access> {
    let op = predefined(op)?;
    if op == Op::NoOp {
        return Err(argument(
            Class::Op,
            "op",
            "MPI_NO_OP is for calls that return data",
        ));
    }
    let Some(checked) = window.checked(target, F::FORM.epoch)? else {
        return Ok(F::FORM.complete);
    };
    let memory = origin.memory().of_buffer("origin")?;
    if checked.bytes() == 0 && memory.bytes == 0 {
        return Ok(F::FORM.complete);
    }
    let basic = basic("target_datatype", &checked.datatype)?;
    check_same("origin_datatype", origin.datatype, basic)?;
    let operation = operation(op, basic)?;
    check_equal("origin_count", &memory, &checked)?;
    if let Locality::Far(far) = checked.locality {
        let buffers = Buffers {
            operands: Some(memory),
            results: None,
        };
        return window.update_far::<F>(far, &checked, Updating { op, basic }, &buffers);
    }
    let mut operand = Packed::of(&memory)?;
    window.update(&checked, operation, operand.pointer(), std::ptr::null_mut())?;
    Ok(F::FORM.complete)
}

/// Origin, result and target are as many elements.
fn check_equal(name: &str, memory: &Memory, checked: &Checked) -> Result<()> {
    check_fits(memory, checked)?;
    if memory.bytes == checked.bytes() {
        return Ok(());
    }
    let (here, there) = (memory.bytes, checked.bytes());
    let what = format_args!("{here} bytes of data for {there} at the target");
    Err(argument(Class::Count, name, what))
}

/// `MPI_Get_accumulate` and `MPI_Rget_accumulate`. With `MPI_NO_OP` there is no origin (MPI-5.0 §12.3.4).
pub fn get_accumulate<F: Form>(
    id: WindowId,
    origin: Buffer,
    result: Buffer,
    target: TargetBuffer,
    op: OpId,
    _: F,
) -> Result<F::Access> {
    let window = find(id)?;
    if window.get_accumulate_direct(&origin, &result, &target, op, F::FORM.epoch) {
        return Ok(F::FORM.complete);
    }
    let op = predefined(op)?;
    let Some(checked) = window.checked(target, F::FORM.epoch)? else {
        return Ok(F::FORM.complete);
    };
    let results = result.memory().of_buffer("result")?;
    if checked.bytes() == 0 && results.bytes == 0 {
        return Ok(F::FORM.complete);
    }
    let basic = basic("target_datatype", &checked.datatype)?;
    check_same("result_datatype", result.datatype, basic)?;
    check_equal("result_count", &results, &checked)?;
    let operation = operation(op, basic)?;
    let operands = match op {
        Op::NoOp => None,
        _ => {
            check_same("origin_datatype", origin.datatype, basic)?;
            let memory = origin.memory().of_buffer("origin")?;
            check_equal("origin_count", &memory, &checked)?;
            Some(memory)
        }
    };
    if let Locality::Far(far) = checked.locality {
        let results = Some(results);
        let buffers = Buffers { operands, results };
        return window.update_far::<F>(far, &checked, Updating { op, basic }, &buffers);
    }
    let mut old = Packed::room(&results)?;
    let mut operands = operands.as_ref().map(Packed::of).transpose()?;
    let operand = operands
        .as_mut()
        .map_or(std::ptr::null_mut(), Packed::pointer);
    window.update(&checked, operation, operand, old.pointer())?;
    old.unpack(&results);
    Ok(F::FORM.complete)
}

/// One element at a target, of a predefined type.
struct Element<'a> {
    checked: Checked<'a>,
    predefined: Predefined,
}

impl Window {
    fn element(
        &self,
        rank: i32,
        displacement: i64,
        datatype: TypeId,
    ) -> Result<Option<Element<'_>>> {
        let predefined = types::plain(datatype);
        let predefined = predefined.ok_or_else(|| match types::find(datatype) {
            Ok(_) => argument(Class::Type, "datatype", "not a predefined datatype"),
            Err(error) => error,
        })?;
        let target = TargetBuffer {
            rank,
            displacement,
            count: 1,
            datatype,
        };
        let checked = self.checked(target, Epoch::Any)?;
        Ok(checked.map(|checked| Element {
            checked,
            predefined,
        }))
    }
}

/// `MPI_Fetch_and_op`.
#[inline(always)]
pub fn fetch_and_op(
    id: WindowId,
    buffers: (*const u8, *mut u8),
    datatype: TypeId,
    at: (i32, i64),
    op: OpId,
) -> Result<()> {
    let window = find(id)?;
    if window.fetch_and_op_direct(buffers, datatype, at, op) {
        return Ok(());
    }
    general_fetch_and_op(window, buffers, datatype, at, op)
}

#[inline(never)]
fn general_fetch_and_op(
    window: &Window,
    (origin, result): (*const u8, *mut u8),
    datatype: TypeId,
    (rank, displacement): (i32, i64),
    op: OpId,
) -> Result<()> {
    let op = predefined(op)?;
    let Some(element) = window.element(rank, displacement, datatype)? else {
        return Ok(());
    };
    let operation = operation(op, element.predefined)?;
    let results = types::memory(result, 1, datatype).of_buffer("result")?;
    if let Locality::Far(far) = element.checked.locality {
        let operands = match op {
            Op::NoOp => None,
            _ => Some(types::memory(origin.cast_mut(), 1, datatype).of_buffer("origin")?),
        };
        let updating = Updating {
            op,
            basic: element.predefined,
        };
        let results = Some(results);
        let buffers = Buffers { operands, results };
        return window.update_far::<Plain>(far, &element.checked, updating, &buffers);
    }
    if op == Op::NoOp && results.layout.is_none() {
        return window.update(&element.checked, operation, std::ptr::null(), result);
    }
    let mut old = Packed::room(&results)?;
    let mut operand = match op {
        Op::NoOp => Packed::room(&results)?,
        _ => Packed::of(&types::memory(origin.cast_mut(), 1, datatype).of_buffer("origin")?)?,
    };
    window.update(
        &element.checked,
        operation,
        operand.pointer(),
        old.pointer(),
    )?;
    old.unpack(&results);
    Ok(())
}

/// The types that `MPI_Compare_and_swap` takes.
fn is_comparable(predefined: Predefined) -> bool {
    use Group::{Byte, CInteger, FortranInteger, Logical, MultiLanguage};
    let group = predefined.group();
    matches!(
        group,
        CInteger | FortranInteger | Logical | MultiLanguage | Byte
    )
}

/// `MPI_Compare_and_swap`.
#[inline(always)]
pub fn compare_and_swap(
    id: WindowId,
    buffers: [*mut u8; 3],
    datatype: TypeId,
    at: (i32, i64),
) -> Result<()> {
    let window = find(id)?;
    if window.compare_and_swap_direct(buffers, datatype, at) {
        return Ok(());
    }
    general_compare_and_swap(window, &buffers, datatype, at)
}

#[inline(never)]
fn general_compare_and_swap(
    window: &Window,
    &[origin, compare, result]: &[*mut u8; 3],
    datatype: TypeId,
    (rank, displacement): (i32, i64),
) -> Result<()> {
    let Some(element) = window.element(rank, displacement, datatype)? else {
        return Ok(());
    };
    if !is_comparable(element.predefined) {
        return Err(not_comparable(element.predefined));
    }
    let memory = |buffer, side| types::memory(buffer, 1, datatype).of_buffer(side);
    let (value, compared) = (memory(origin, "origin")?, memory(compare, "compare")?);
    let results = memory(result, "result")?;
    let target = element.checked.target();
    if let Locality::Far(far) = element.checked.locality {
        let at = (target.offset, element.predefined);
        // SAFETY: the three buffers were checked to hold an element each, and are valid until the access is complete.
        return window.access_far::<Plain>(far, &element.checked, |path, _, _| unsafe {
            path.swap(at, [&compared, &value], &results)
        });
    }
    // SAFETY: the three buffers were checked to hold an element each.
    unsafe {
        window.rma.compare_and_swap(
            (target.rank, target.offset),
            element.predefined,
            [compare, origin].map(<*mut u8>::cast_const),
            result,
        )
    }
    .map_err(unreached)
}

#[cold]
fn not_comparable(predefined: Predefined) -> Error {
    let what = format_args!(
        "{} is no type of integers, logicals or bytes",
        predefined.name()
    );
    argument(Class::Type, "datatype", what)
}
