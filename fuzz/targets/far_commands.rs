//! What an origin on another host asks of a target: whatever it says, it comes back as it was read, and a put or an update whose
//! place was checked touches the part and nothing beside it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_datatype::Predefined;
use weft_rma::Target;
use weft_rma::far::{Access, Command, Commands, Unit};

const PART_BYTES: usize = 512;
const GUARD_BYTES: usize = 256;
const GUARD: u8 = 0xa5;

/// A part of a window between guards.
struct Part([u8; PART_BYTES + 2 * GUARD_BYTES]);

impl Part {
    /// Writes data to an access of elements of a type, if it lies in the part.
    fn write(&mut self, access: &Access, basic: Predefined, data: &[u8]) {
        let Ok((datatype, count, offset)) = access.datatype(basic) else {
            return;
        };
        let target = Target {
            rank: 0,
            offset,
            datatype: &datatype,
            count,
        };
        if target.check(Some(PART_BYTES as u64)).is_err() {
            return;
        }
        assert_eq!(data.len(), access.units() as usize * Unit::of(basic).packed);
        let base = self.0.as_mut_ptr().wrapping_add(GUARD_BYTES);
        let base = base.wrapping_offset(offset as isize);
        let memory = datatype.memory(base, count).expect("it was checked");
        // SAFETY: the check has said that all of it lies in the part.
        unsafe { memory.write(0, data) };
        let (first, rest) = self.0.split_at(GUARD_BYTES);
        let guards = first.iter().chain(&rest[PART_BYTES..]);
        assert!(guards.copied().all(|byte| byte == GUARD));
    }
}

fuzz_target!(|data: &[u8]| {
    let mut part = Part([GUARD; PART_BYTES + 2 * GUARD_BYTES]);
    for command in Commands::new(data).flatten() {
        let mut again = Vec::new();
        command.write(&mut again);
        assert_eq!(Commands::new(&again).next(), Some(Ok(command.clone())));
        match &command {
            Command::Put { access, data } => part.write(access, Predefined::Byte, data),
            Command::Update {
                access,
                updating,
                operands,
                ..
            } if !operands.is_empty() => part.write(access, updating.basic, operands),
            Command::Get { access, .. } | Command::Announce { access, .. } => {
                let _ = access.datatype(Predefined::Byte);
            }
            _ => {}
        }
    }
});
