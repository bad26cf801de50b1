//! Control variables (MPI-5.0 §15.3.6): all settings that the library has.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use weft_collective::{CHOICES, Choice};

use weft_prices::PRICES;

use weft_engine::{LANES, Pace, UNEXPECTED_BYTES, UNEXPECTED_MESSAGES};
use weft_error::Result;
use weft_process::engine::started;
use weft_process::network::{INTERFACE, TIMEOUT, timeout_seconds};
use weft_process::transport::{ADAPTERS, ENDPOINTS, RECEIVE_POOLS, TRANSPORT};
use weft_process::{prices, trace};
use weft_rdma::Rdma;

use super::codes::{Code, Verbosity, error, indexed, named};
use super::state::{enter, tools};

/// A control variable: a 64-bit unsigned number, or text.
pub struct Variable {
    pub name: Cow<'static, str>,
    pub description: Cow<'static, str>,
    pub verbosity: Verbosity,
    value: Value,
}

enum Value {
    Constant(u64),
    /// Chosen before the start, by a variable of the environment: its name.
    Chosen(&'static str, fn() -> u64),
    ChosenText(&'static str, fn() -> String),
    /// A part of how long waiting threads stay awake; it may be set, for this process alone.
    Pace(&'static Setting, fn(&mut Pace) -> &mut u32),
    /// 0, or one more than the number of an algorithm; it may be set between operations, alike in all processes.
    Algorithm(&'static Choice),
}

/// Which processes may set a variable, and when (MPI-5.0 §15.3.6), with the ABI's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Scope {
    Constant = 1,
    Local = 3,
    AllEqual = 7,
}

/// What a tool has set, if it has; for the engine to come as well.
struct Setting(AtomicU32);

const UNSET: u32 = u32::MAX;
static SPINS: Setting = Setting(AtomicU32::new(UNSET));
static YIELDS: Setting = Setting(AtomicU32::new(UNSET));

impl Setting {
    fn get(&self) -> Option<u32> {
        Some(self.0.load(Ordering::Relaxed)).filter(|&value| value != UNSET)
    }
}

/// The pace that this process has: `given`, where tools have set nothing else. Once they have, turns alone count.
pub fn pace(given: Pace) -> Pace {
    Pace {
        wakes: if SPINS.get().is_none() && YIELDS.get().is_none() {
            given.wakes
        } else {
            0
        },
        spins: SPINS.get().unwrap_or(given.spins),
        yields: YIELDS.get().unwrap_or(given.yields),
    }
}

/// What this process has of the adapters that it uses; what `variable` says, if it uses none.
fn of_adapter(variable: &str, what: impl Fn(&Rdma) -> String) -> String {
    let rdma = started().and_then(|engine| engine.fabric().far()?.parts().0);
    match rdma {
        Some(rdma) => what(rdma),
        None => std::env::var(variable).unwrap_or_default(),
    }
}

/// The adapters themselves.
fn adapters() -> String {
    of_adapter(ADAPTERS, |rdma| rdma.adapters())
}

/// What lanes share of an adapter.
fn category() -> String {
    of_adapter(ENDPOINTS, |rdma| rdma.category().to_string())
}

/// What lanes receive into.
fn receive_pools() -> String {
    of_adapter(RECEIVE_POOLS, |rdma| rdma.pools().to_string())
}

/// All of them, by index.
pub static ALL: LazyLock<Vec<Variable>> = LazyLock::new(|| {
    let algorithms = CHOICES.iter().map(Variable::of_choice);
    SETTINGS.into_iter().chain(algorithms).collect()
});

const SETTINGS: [Variable; 15] = [
    Variable {
        name: Cow::Borrowed("weft_lanes"),
        description: Cow::Borrowed(
            "Lanes that a process can have: units of independent progress, each made when it is first used",
        ),
        verbosity: Verbosity::TunerBasic,
        value: Value::Constant(LANES as u64),
    },
    Variable {
        name: Cow::Borrowed("weft_eager_bytes"),
        description: Cow::Borrowed(
            "Longest message that is sent with its payload in the first packet",
        ),
        verbosity: Verbosity::TunerBasic,
        value: Value::Constant(weft_engine::longest_eager(weft_shm::EAGER_BYTES) as u64),
    },
    Variable {
        name: Cow::Borrowed("weft_ring_bytes"),
        description: Cow::Borrowed(
            "Length of a ring through which messages within a host go that are longer than weft_eager_bytes, unless their receiver copies them (process_vm_readv), whichever costs less",
        ),
        verbosity: Verbosity::TunerDetail,
        value: Value::Constant(weft_shm::RING_BYTES as u64),
    },
    Variable {
        name: Cow::Borrowed("weft_transport"),
        description: Cow::Borrowed(
            "What carries messages: shm, tcp or rdma between all processes; auto, or empty, shared memory within hosts and RDMA or TCP between them. Set by WEFT_TRANSPORT, mpiexec --transport",
        ),
        verbosity: Verbosity::UserBasic,
        value: Value::ChosenText(TRANSPORT, || std::env::var(TRANSPORT).unwrap_or_default()),
    },
    Variable {
        name: Cow::Borrowed("weft_adapters"),
        description: Cow::Borrowed(
            "RDMA adapters in use, or ports of them, with commas between; the fastest that are up if empty and none is in use. Set by WEFT_ADAPTERS, mpiexec --adapters",
        ),
        verbosity: Verbosity::TunerBasic,
        value: Value::ChosenText(ADAPTERS, adapters),
    },
    Variable {
        name: Cow::Borrowed("weft_endpoints"),
        description: Cow::Borrowed(
            "The endpoint category by which lanes share an RDMA adapter; the fastest that fits if empty and none is in use. Set by WEFT_ENDPOINTS, mpiexec --endpoints",
        ),
        verbosity: Verbosity::TunerBasic,
        value: Value::ChosenText(ENDPOINTS, category),
    },
    Variable {
        name: Cow::Borrowed("weft_receive_pools"),
        description: Cow::Borrowed(
            "Buffers into which each lane receives from an RDMA adapter, by size: TYPE,bytes,count[,low[,credits]]:...; what suits the adapter if empty and none is in use. Set by WEFT_RECEIVE_POOLS, mpiexec --receive-pools",
        ),
        verbosity: Verbosity::TunerBasic,
        value: Value::ChosenText(RECEIVE_POOLS, receive_pools),
    },
    Variable {
        name: Cow::Borrowed("weft_interface"),
        description: Cow::Borrowed(
            "Network interfaces whose addresses other hosts are told, with commas between; all that are up if empty. Set by WEFT_INTERFACE",
        ),
        verbosity: Verbosity::UserBasic,
        value: Value::ChosenText(INTERFACE, || std::env::var(INTERFACE).unwrap_or_default()),
    },
    Variable {
        name: Cow::Borrowed("weft_network_timeout"),
        description: Cow::Borrowed(
            "Seconds for which another host may be silent before its processes are lost, 0 for ever. Set by WEFT_NETWORK_TIMEOUT",
        ),
        verbosity: Verbosity::UserBasic,
        value: Value::Chosen(TIMEOUT, timeout_seconds),
    },
    Variable {
        name: Cow::Borrowed("weft_prices"),
        description: Cow::Borrowed(
            "The file of the prices by which algorithms of collective operations are chosen, or built-in: that of rank 0. Written by weft tune, set by WEFT_PRICES, mpiexec --prices",
        ),
        verbosity: Verbosity::TunerBasic,
        value: Value::ChosenText(PRICES, prices::source),
    },
    Variable {
        name: Cow::Borrowed("weft_trace"),
        description: Cow::Borrowed(
            "Where each packet is told in a line: a file, in whose name %r is the rank, or - for standard error; nowhere if empty. Set by WEFT_TRACE, mpiexec --trace",
        ),
        verbosity: Verbosity::UserBasic,
        value: Value::ChosenText(trace::VARIABLE, trace::asked),
    },
    Variable {
        name: Cow::Borrowed("weft_unexpected_bytes_limit"),
        description: Cow::Borrowed(
            "Payload of unexpected messages of one peer on one lane from which on it keeps its payloads",
        ),
        verbosity: Verbosity::TunerBasic,
        value: Value::Constant(UNEXPECTED_BYTES),
    },
    Variable {
        name: Cow::Borrowed("weft_unexpected_messages_limit"),
        description: Cow::Borrowed(
            "Unexpected messages of one peer on one lane from which on it keeps their payloads",
        ),
        verbosity: Verbosity::TunerBasic,
        value: Value::Constant(UNEXPECTED_MESSAGES),
    },
    Variable {
        name: Cow::Borrowed("weft_spin_turns"),
        description: Cow::Borrowed(
            "Turns of progress that a waiting thread with a core to itself makes before it yields the core",
        ),
        verbosity: Verbosity::TunerBasic,
        value: Value::Pace(&SPINS, |pace| &mut pace.spins),
    },
    Variable {
        name: Cow::Borrowed("weft_yield_turns"),
        description: Cow::Borrowed(
            "Turns of progress that it makes after those, yielding the core after each, before it sleeps. Unless one of the two is set it goes on until it has been awake for a multiple of what a wake costs",
        ),
        verbosity: Verbosity::TunerBasic,
        value: Value::Pace(&YIELDS, |pace| &mut pace.yields),
    },
];

impl Variable {
    fn of_choice(choice: &'static Choice) -> Variable {
        let operation = choice.operation;
        let mut description = format!(
            "Algorithm of {operation}: 0 by size and number of ranks; the others are for measuring"
        );
        for (number, name) in (1..).zip(choice.algorithms()) {
            description.push_str(&format!(", {number} {name}"));
        }
        Variable {
            name: format!("weft_{operation}_algorithm").into(),
            description: description.into(),
            verbosity: Verbosity::TunerDetail,
            value: Value::Algorithm(choice),
        }
    }

    pub fn scope(&self) -> Scope {
        match self.value {
            Value::Constant(_) | Value::Chosen(..) | Value::ChosenText(..) => Scope::Constant,
            Value::Pace(..) => Scope::Local,
            Value::Algorithm(_) => Scope::AllEqual,
        }
    }

    /// Whether it is text.
    pub fn is_text(&self) -> bool {
        matches!(self.value, Value::ChosenText(..))
    }

    /// The variable of the environment that sets it, if one does.
    pub fn environment(&self) -> Option<&'static str> {
        match self.value {
            Value::Chosen(name, _) | Value::ChosenText(name, _) => Some(name),
            Value::Constant(_) | Value::Pace(..) | Value::Algorithm(_) => None,
        }
    }

    /// Its value for a person.
    pub fn text(&self) -> String {
        match &self.value {
            Value::ChosenText(_, text) => text(),
            _ => self.number().to_string(),
        }
    }

    fn read(&self) -> Vec<u8> {
        match &self.value {
            Value::ChosenText(_, text) => {
                let mut bytes = text().into_bytes();
                bytes.push(0);
                bytes
            }
            _ => self.number().to_ne_bytes().into(),
        }
    }

    fn number(&self) -> u64 {
        match &self.value {
            Value::Constant(value) => *value,
            Value::Chosen(_, value) => value(),
            Value::ChosenText(..) => 0,
            Value::Pace(_, part) => {
                let mut now = match started() {
                    Some(engine) => engine.pace(),
                    None => pace(Pace::ALONE),
                };
                (*part(&mut now)).into()
            }
            Value::Algorithm(choice) => choice.forced().map_or(0, |number| number as u64 + 1),
        }
    }

    fn write(&self, value: u64) -> Result<()> {
        match &self.value {
            Value::Constant(_) | Value::Chosen(..) | Value::ChosenText(..) => {
                Err(error(Code::ControlSetNever))
            }
            Value::Pace(setting, _) => {
                // The largest number stands for none.
                let value = u32::try_from(value).ok().filter(|&value| value != UNSET);
                let value = value.ok_or_else(|| error(Code::Invalid))?;
                setting.0.store(value, Ordering::Relaxed);
                if let Some(engine) = started() {
                    engine.set_pace(pace(engine.pace()));
                }
                Ok(())
            }
            Value::Algorithm(choice) => {
                if value > choice.algorithms().len() as u64 {
                    return Err(error(Code::Invalid));
                }
                choice.force((value as usize).checked_sub(1));
                Ok(())
            }
        }
    }
}

/// `MPI_T_cvar_get_info`.
pub fn at(index: i32) -> Result<&'static Variable> {
    enter()?;
    indexed(&ALL, index)
}

/// `MPI_T_cvar_get_index`.
pub fn index(name: &[u8]) -> Result<i32> {
    enter()?;
    named(ALL.iter().map(|variable| &*variable.name), name).map(|index| index as i32)
}

/// Names a handle of a control variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(pub u64);

/// `MPI_T_cvar_handle_alloc`: a handle, and how many elements the variable has.
pub fn allocate(index: i32) -> Result<(Handle, i32)> {
    let mut tools = tools()?;
    let variable = indexed(&ALL, index)?;
    let number = tools.number();
    tools.controls.insert(number, index as usize);
    let count = match variable.is_text() {
        true => variable.read().len() as i32,
        false => 1,
    };
    Ok((Handle(number), count))
}

/// `MPI_T_cvar_handle_free`.
pub fn free(handle: Handle) -> Result<()> {
    match tools()?.controls.remove(&handle.0) {
        Some(_) => Ok(()),
        None => Err(error(Code::InvalidHandle)),
    }
}

fn variable(handle: Handle) -> Result<&'static Variable> {
    match tools()?.controls.get(&handle.0) {
        Some(&index) => Ok(&ALL[index]),
        None => Err(error(Code::InvalidHandle)),
    }
}

/// `MPI_T_cvar_read`: the bytes of the number, or the text and the zero byte at its end.
pub fn read(handle: Handle) -> Result<Vec<u8>> {
    Ok(variable(handle)?.read())
}

/// `MPI_T_cvar_write`, of the number that `value` reads if the variable may be set.
pub fn write(handle: Handle, value: impl FnOnce() -> Result<u64>) -> Result<()> {
    let variable = variable(handle)?;
    if variable.scope() == Scope::Constant {
        return Err(error(Code::ControlSetNever));
    }
    variable.write(value()?)
}
