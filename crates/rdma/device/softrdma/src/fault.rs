//! Faults on request, for testing programs: `SOFTRDMA_FAULTS`, a list of `name=value` with commas.
//!
//! | name | value | what happens |
//! |---|---|---|
//! | `loss`, `duplicate`, `reorder` | probability from 0 to 1 | to packets between hosts |
//! | `delay_us` | microseconds | added to each packet between hosts |
//! | `seed` | number | which packets are met |
//! | `link` | `down` | ports are down from the start; nothing that is sent arrives |
//! | `down` | `DEVICE:N`, several with `+` | the port of a device goes down once the process has posted so often to it; nothing that it sends by it arrives from then on |
//! | `abandon` | number | the process is killed over that packet for another process's queue, counted from 1: executed, and nobody knows |
//! | `uars` | number | UAR pages a device has |
//! | `fail` | `CALL:N`, several with `+` | the N-th time that the process calls CALL, it fails with ENOMEM |

use std::sync::atomic::{AtomicU32, Ordering};

/// Calls that can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Call {
    OpenDevice,
    AllocPd,
    AllocTd,
    AllocBuf,
    RegMr,
    CreateAh,
    CreateCq,
    CreateQp,
    CreateSrq,
    CreateCompChannel,
}

const CALLS: [(&str, Call); 10] = [
    ("open_device", Call::OpenDevice),
    ("alloc_pd", Call::AllocPd),
    ("alloc_td", Call::AllocTd),
    ("alloc_buf", Call::AllocBuf),
    ("reg_mr", Call::RegMr),
    ("create_ah", Call::CreateAh),
    ("create_cq", Call::CreateCq),
    ("create_qp", Call::CreateQp),
    ("create_srq", Call::CreateSrq),
    ("create_comp_channel", Call::CreateCompChannel),
];

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    pub loss: f64,
    pub duplicate: f64,
    pub reorder: f64,
    pub delay_us: u32,
    pub seed: u64,
    pub link_down: bool,
    /// Which device's port goes down after how many posts.
    pub down: Vec<(u32, u32)>,
    /// Which packet that the process executes for another one is its last.
    pub abandon: Option<u32>,
    /// UAR pages of a device; the adapter's own number if none.
    pub uars: Option<u32>,
    /// Which call fails when it is made for the how-manieth time, counted from 1.
    pub fail: Vec<(Call, u32)>,
}

impl Faults {
    /// Reads the list, or says what is wrong with it.
    pub fn parse(text: &str) -> Result<Faults, String> {
        let mut faults = Faults::default();
        for item in text.split(',') {
            let (name, value) = item
                .split_once('=')
                .ok_or_else(|| format!("\"{item}\" is not name=value"))?;
            match name {
                "loss" => faults.loss = probability(name, value)?,
                "duplicate" => faults.duplicate = probability(name, value)?,
                "reorder" => faults.reorder = probability(name, value)?,
                "delay_us" => faults.delay_us = number(name, value)?,
                "seed" => faults.seed = number(name, value)?,
                "abandon" => faults.abandon = Some(number(name, value)?),
                "uars" => faults.uars = Some(number(name, value)?),
                "link" if value == "down" => faults.link_down = true,
                "link" if value == "up" => faults.link_down = false,
                "link" => return Err(format!("link is up or down, not \"{value}\"")),
                "down" => faults.down = value.split('+').map(down).collect::<Result<_, _>>()?,
                "fail" => faults.fail = failures(value)?,
                _ => return Err(format!("there is no fault \"{name}\"")),
            }
        }
        Ok(faults)
    }

    /// Counts a packet that was executed for another process. The process ends if that is the one.
    pub fn executed_for_another(&self) {
        static EXECUTED: AtomicU32 = AtomicU32::new(0);
        if self.abandon.is_some()
            && self.abandon == Some(EXECUTED.fetch_add(1, Ordering::Relaxed) + 1)
        {
            // SAFETY: takes numbers only.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        }
    }

    /// Counts a call of `call`; true if it is one that must fail.
    pub fn fails(&self, call: Call) -> bool {
        static CALLED: [AtomicU32; CALLS.len()] = [const { AtomicU32::new(0) }; CALLS.len()];
        if self.fail.is_empty() {
            return false;
        }
        let count = CALLED[call as usize].fetch_add(1, Ordering::Relaxed) + 1;
        self.fail.contains(&(call, count))
    }
}

fn probability(name: &str, value: &str) -> Result<f64, String> {
    match value.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err(format!(
            "{name} is a probability from 0 to 1, not \"{value}\""
        )),
    }
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, String> {
    value
        .parse()
        .map_err(|_| format!("{name} is a number, not \"{value}\""))
}

fn down(text: &str) -> Result<(u32, u32), String> {
    let numbers = text.split_once(':');
    let (device, posts) = numbers.ok_or_else(|| format!("down is DEVICE:N, not \"{text}\""))?;
    Ok((number("down", device)?, number("down", posts)?))
}

fn failures(value: &str) -> Result<Vec<(Call, u32)>, String> {
    value.split('+').map(failure).collect()
}

fn failure(text: &str) -> Result<(Call, u32), String> {
    let (name, count) = text.split_once(':').unwrap_or((text, "1"));
    let (_, call) = CALLS
        .into_iter()
        .find(|(known, _)| *known == name)
        .ok_or_else(|| {
            let known: Vec<&str> = CALLS.iter().map(|(name, _)| *name).collect();
            format!("fail knows {}, not \"{name}\"", known.join(", "))
        })?;
    match number("fail", count)? {
        0 => Err("fail counts calls from 1".to_owned()),
        count => Ok((call, count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_list() {
        let text = "loss=0.05,delay_us=20,reorder=0.5,duplicate=1,seed=7,abandon=9,uars=12,link=down,down=1:500+0:7,fail=reg_mr:3+create_qp";
        let faults = Faults::parse(text).unwrap();
        let expected = Faults {
            loss: 0.05,
            duplicate: 1.0,
            reorder: 0.5,
            delay_us: 20,
            seed: 7,
            link_down: true,
            down: vec![(1, 500), (0, 7)],
            abandon: Some(9),
            uars: Some(12),
            fail: vec![(Call::RegMr, 3), (Call::CreateQp, 1)],
        };
        assert_eq!(faults, expected);
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        for text in [
            "",
            "loss",
            "loss=2",
            "loss=-0.1",
            "loss=NaN",
            "delay_us=-1",
            "seed=x",
            "link=sideways",
            "abandon=x",
            "down=1",
            "down=1:x",
            "fail=reg_mr:0",
            "fail=reboot:1",
            "fail=reg_mr:x",
            "hail=1",
        ] {
            assert!(Faults::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn strikes_once() {
        let faults = Faults::parse("fail=alloc_td:2+alloc_td:4").unwrap();
        let struck: Vec<bool> = (0..5).map(|_| faults.fails(Call::AllocTd)).collect();
        assert_eq!(struck, [false, true, false, true, false]);
    }

    #[test]
    fn names_stand_in_the_order_of_calls() {
        for (index, (name, call)) in CALLS.into_iter().enumerate() {
            assert_eq!(call as usize, index, "{name}");
        }
    }
}
