//! Put and get (MPI-5.0 §12.3.1, §12.3.2), and where an access goes.

use weft_error::{Class, Error, OfBuffer, Result, argument};
use weft_handle::WindowId;
use weft_memory::Memory;
use weft_messages::operation;
use weft_messages::request::Request;
use weft_objects::PROC_NULL;
use weft_objects::comm::{Comm, Traffic};
use weft_objects::types::{self, Buffer, Found, TypeId};
use weft_rma::Target;

use super::errors::unreached;
use super::far::{Far, Owner, Path};
use super::figures::Flavor;
use super::object::{Locality, Window, find};

/// The target arguments of an access.
#[derive(Clone, Copy, Debug)]
pub struct TargetBuffer {
    pub rank: i32,
    pub displacement: i64,
    pub count: i64,
    pub datatype: TypeId,
}

/// In which epochs an access is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Epoch {
    Any,
    /// While the target is locked: what returns a request (MPI-5.0 §12.3.5).
    Passive,
}

/// The two forms of an access: [`Plain`] and [`Requested`].
pub trait Form {
    /// What the call returns.
    type Access;
    #[doc(hidden)]
    const FORM: FormOf<Self::Access>;
}

/// What a form is.
#[doc(hidden)]
pub struct FormOf<A> {
    pub(super) epoch: Epoch,
    /// Of an access that is over.
    pub(super) complete: A,
    /// The one that finishes the messages of one that is not.
    owner: fn() -> Owner,
    begun: fn(&Comm, Owner) -> Result<A>,
}

/// An access that the end of its epoch, or a flush, completes.
#[derive(Clone, Copy)]
pub struct Plain;

impl Form for Plain {
    type Access = ();
    const FORM: FormOf<()> = FormOf {
        epoch: Epoch::Any,
        complete: (),
        owner: || Owner::Line,
        begun: |_, _| Ok(()),
    };
}

/// An access with a request, which is complete when the access is at the origin (MPI-5.0 §12.3.5).
#[derive(Clone, Copy)]
pub struct Requested;

impl Form for Requested {
    type Access = Request;
    const FORM: FormOf<Request> = FormOf {
        epoch: Epoch::Passive,
        complete: Request::COMPLETE,
        owner: || Owner::Program(Vec::new()),
        begun: |comm, owner| match owner {
            Owner::Program(ids) if !ids.is_empty() => {
                let (lane, context) = (comm.lane(), comm.context(Traffic::OneSided));
                operation::begin(lane, context, |awaited| operation::finish_all(awaited, ids))
            }
            _ => Ok(Request::COMPLETE),
        },
    };
}

/// A target whose arguments were checked.
pub(super) struct Checked<'a> {
    pub rank: u32,
    pub locality: Locality<'a>,
    offset: i64,
    count: usize,
    pub datatype: Found,
}

impl Checked<'_> {
    /// As the processes of its host number it, or, if that is another, by rank.
    pub fn target(&self) -> Target<'_> {
        Target {
            rank: match self.locality {
                Locality::Near(number) => number,
                Locality::Far(_) => self.rank,
            },
            offset: self.offset,
            datatype: &self.datatype,
            count: self.count,
        }
    }

    /// Packed bytes; if that is no number, the access is found to be out of range.
    pub fn bytes(&self) -> usize {
        self.datatype.size().saturating_mul(self.count)
    }
}

impl Window {
    /// Checks the arguments that say where an access goes; none for `MPI_PROC_NULL`.
    #[inline]
    pub(super) fn checked(
        &self,
        target: TargetBuffer,
        epoch: Epoch,
    ) -> Result<Option<Checked<'_>>> {
        if target.rank == PROC_NULL {
            return Ok(None);
        }
        let rank = self.check_rank("target_rank", target.rank)?;
        let Ok(count) = usize::try_from(target.count) else {
            return Err(negative("target_count", target.count, Class::Count));
        };
        let datatype = types::find_committed(target.datatype).of_buffer("target")?;
        let offset = self.offset(rank, target.displacement)?;
        match epoch {
            Epoch::Any => self.epochs.check_access(rank)?,
            Epoch::Passive => self.epochs.check_passive(rank)?,
        }
        Ok(Some(Checked {
            rank,
            locality: self.locality(rank),
            offset,
            count,
            datatype,
        }))
    }

    /// Bytes from the beginning of a target's part; in a dynamic window displacements are addresses.
    #[inline]
    fn offset(&self, rank: u32, displacement: i64) -> Result<i64> {
        if self.flavor == Flavor::Dynamic {
            return Ok(displacement);
        }
        if displacement < 0 {
            return Err(negative("target_disp", displacement, Class::Disp));
        }
        displacement
            .checked_mul(self.unit(rank))
            .ok_or_else(|| unreached(weft_rma::Fault::Range))
    }
}

impl Window {
    /// Bytes of a displacement in a part.
    #[inline]
    pub(super) fn unit(&self, rank: u32) -> i64 {
        match &self.far {
            None => self.rma.member(rank).unit,
            Some(far) => far.part(rank).unit,
        }
    }

    /// Makes an access to a part on another host, by `access`, in its form.
    pub(super) fn access_far<F: Form>(
        &self,
        far: &Far,
        checked: &Checked,
        access: impl FnOnce(&Path, &Target, &mut Owner) -> Result<()>,
    ) -> Result<F::Access> {
        let target = checked.target();
        far.check(&target).map_err(unreached)?;
        let mut owner = (F::FORM.owner)();
        let path = far.path(&self.comm, checked.rank);
        match access(&path, &target, &mut owner) {
            Ok(()) => (F::FORM.begun)(&self.comm, owner),
            Err(error) => {
                owner.give_up();
                Err(error)
            }
        }
    }
}

#[cold]
fn negative(name: &str, number: i64, class: Class) -> Error {
    argument(class, name, format_args!("{number} is negative"))
}

/// The data must fit the target without truncation (MPI-5.0 §12.3.1).
#[inline]
pub(super) fn check_fits(origin: &Memory, target: &Checked) -> Result<()> {
    if origin.bytes > target.bytes() {
        return Err(too_long(origin.bytes, target.bytes()));
    }
    Ok(())
}

#[cold]
fn too_long(origin: usize, target: usize) -> Error {
    let what = format_args!("{origin} bytes of origin data do not fit {target} at the target");
    argument(Class::Truncate, "target_count", what)
}

/// `MPI_Put` and `MPI_Rput`.
#[inline(always)]
pub fn put<F: Form>(
    id: WindowId,
    origin: Buffer,
    target: TargetBuffer,
    form: F,
) -> Result<F::Access> {
    let window = find(id)?;
    if let Some((direct, bytes)) = window.direct(&origin, &target, F::FORM.epoch) {
        // SAFETY: the caller's buffer is valid for reads of what it says during the call.
        unsafe { direct.put(origin.address, bytes) };
        return Ok(F::FORM.complete);
    }
    window.put(&origin, target, form)
}

/// `MPI_Get` and `MPI_Rget`.
#[inline(always)]
pub fn get<F: Form>(
    id: WindowId,
    origin: Buffer,
    target: TargetBuffer,
    form: F,
) -> Result<F::Access> {
    let window = find(id)?;
    if let Some((direct, bytes)) = window.direct(&origin, &target, F::FORM.epoch) {
        // SAFETY: the caller's buffer is valid for writes of what it says during the call.
        unsafe { direct.get(origin.address, bytes) };
        return Ok(F::FORM.complete);
    }
    window.get(&origin, target, form)
}

impl Window {
    #[inline(never)]
    fn put<F: Form>(&self, origin: &Buffer, target: TargetBuffer, _: F) -> Result<F::Access> {
        let Some(checked) = self.checked(target, F::FORM.epoch)? else {
            return Ok(F::FORM.complete);
        };
        let memory = origin.memory().of_buffer("origin")?;
        check_fits(&memory, &checked)?;
        if let Locality::Far(far) = checked.locality {
            // SAFETY: the caller's buffer, checked by `memory`, is valid for reads until the access is complete.
            return self.access_far::<F>(far, &checked, |path, target, owner| unsafe {
                path.put(target, &memory, owner)
            });
        }
        // SAFETY: the caller's buffer, checked by `memory`, is valid for reads during the call.
        unsafe { self.rma.put(&checked.target(), &memory) }.map_err(unreached)?;
        Ok(F::FORM.complete)
    }

    #[inline(never)]
    fn get<F: Form>(&self, origin: &Buffer, target: TargetBuffer, _: F) -> Result<F::Access> {
        let Some(checked) = self.checked(target, F::FORM.epoch)? else {
            return Ok(F::FORM.complete);
        };
        let memory = origin.memory().of_buffer("origin")?;
        check_fits(&memory, &checked)?;
        if let Locality::Far(far) = checked.locality {
            // SAFETY: as in `put`, for writes.
            return self.access_far::<F>(far, &checked, |path, target, owner| unsafe {
                path.get(target, &memory, owner)
            });
        }
        // SAFETY: the caller's buffer, checked by `memory`, is valid for writes during the call.
        unsafe { self.rma.get(&checked.target(), &memory) }.map_err(unreached)?;
        Ok(F::FORM.complete)
    }
}
