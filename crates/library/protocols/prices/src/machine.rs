//! What prices hold for: processors of one kind, so many of them, under one kernel.

use std::fmt;
use std::fs::File;
use std::io::Read;

/// A machine, as far as prices depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    pub processor: String,
    /// CPUs that are online, as the kernel lists them: 0-15.
    pub cpus: String,
    pub kernel: String,
}

/// Each processor has an entry of its own, of which the kernel makes as many as are read.
const FIRST_PROCESSOR_BYTES: u64 = 4096;

impl Machine {
    /// This one; none where the kernel does not tell.
    pub fn here() -> Option<Machine> {
        let line = |path| Some(first_bytes(path)?.trim().to_owned());
        Some(Machine {
            processor: processor(&first_bytes("/proc/cpuinfo")?),
            cpus: line("/sys/devices/system/cpu/online")?,
            kernel: line("/proc/sys/kernel/osrelease")?,
        })
    }

    /// The name of its file of prices.
    pub fn file_name(&self) -> String {
        let text = format!(
            "{}-cpus-{}-linux-{}",
            self.processor, self.cpus, self.kernel
        );
        let mut name = String::new();
        for letter in text.chars() {
            match letter.is_ascii_alphanumeric() || letter == '.' && !name.is_empty() {
                true => name.push(letter),
                false if name.ends_with('-') || name.is_empty() => {}
                false => name.push('-'),
            }
        }
        // Names are at most 255 bytes.
        name.truncate(200);
        name + ".prices"
    }

    /// Why what holds for this machine does not hold for another.
    pub fn differs_from(&self, other: &Machine) -> Option<String> {
        let fields = [
            ("processor", &self.processor, &other.processor),
            ("cpus", &self.cpus, &other.cpus),
            ("kernel", &self.kernel, &other.kernel),
        ];
        let unlike = fields.into_iter().find(|(_, own, others)| own != others);
        unlike.map(|(field, own, others)| {
            format!("{field}: it is for `{own}`, and this is `{others}`")
        })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine {
            processor,
            cpus,
            kernel,
        } = self;
        write!(f, "{processor}, CPUs {cpus}, Linux {kernel}")
    }
}

fn first_bytes(path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut file = File::open(path).ok()?.take(FIRST_PROCESSOR_BYTES);
    file.read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The name in an entry of /proc/cpuinfo, or that of the architecture.
fn processor(cpuinfo: &str) -> String {
    let is_name = |line: &&str| line.starts_with("model name") || line.starts_with("Model");
    let named = cpuinfo.lines().find(is_name);
    let name = named.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()));
    let name = name.filter(|name| !name.is_empty());
    name.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_named_by_the_kernel_or_else_by_its_architecture() {
        let text = "vendor: x\nmodel name\t: Fast CPU @ 2.0\nmodel name\t: Other\n";
        assert_eq!(processor(text), "Fast CPU @ 2.0");
        assert_eq!(processor("model name :\n"), std::env::consts::ARCH);
        assert_eq!(processor(""), std::env::consts::ARCH);
    }

    #[test]
    fn a_machine_names_its_file_and_what_differs() {
        let machine = Machine {
            processor: "../Fast(R) CPU @ 2.0".into(),
            cpus: "0-3,8".into(),
            kernel: "6.1/x".into(),
        };
        assert_eq!(
            machine.file_name(),
            "Fast-R-CPU-2.0-cpus-0-3-8-linux-6.1-x.prices"
        );
        let other = Machine {
            kernel: "6.2".into(),
            ..machine.clone()
        };
        assert_eq!(machine.differs_from(&machine), None);
        let why = machine.differs_from(&other).unwrap();
        assert_eq!(why, "kernel: it is for `6.1/x`, and this is `6.2`");
    }
}
