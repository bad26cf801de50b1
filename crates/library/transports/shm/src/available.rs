//! How much memory a process of this host can hope for.
//!
//! A segment's pages cost memory only when they are written, and writing them where none is left gets the process killed. So
//! a piece of a size that nobody could ever write is refused when it is asked for, as malloc(3) does.

use std::fs;
use std::path::Path;

use weft_kernel::above_standard;

/// Bytes that are free, could be freed, or are in the swap; at most what the control groups of this process allow. All there
/// are where the system does not say.
pub fn bytes() -> u64 {
    above_standard(|| {
        let host = fs::read_to_string("/proc/meminfo").map_or(u64::MAX, |text| of_host(&text));
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        host.min(of_groups(&groups, Path::new("/sys/fs/cgroup")))
    })
}

/// By proc_meminfo(5).
fn of_host(meminfo: &str) -> u64 {
    let kibibytes = |name: &str| -> Option<u64> {
        let line = meminfo
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line?.trim().strip_suffix("kB")?.trim_end().parse().ok()
    };
    match kibibytes("MemAvailable") {
        Some(available) => (available + kibibytes("SwapFree").unwrap_or(0)).saturating_mul(1024),
        None => u64::MAX,
    }
}

/// The least limit of the groups in `list`, a /proc/PID/cgroup, and of those that they are in; cgroups(7), both versions.
fn of_groups(list: &str, root: &Path) -> u64 {
    let limits = list.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?.trim_start_matches('/'));
        match controllers {
            "" => Some(limit(root, path, "memory.max")),
            _ if controllers.split(',').any(|name| name == "memory") => {
                Some(limit(&root.join("memory"), path, "memory.limit_in_bytes"))
            }
            _ => None,
        }
    });
    limits.min().unwrap_or(u64::MAX)
}

/// The least number in the files of this name from the group up to the root. One that is not there, or says "max", is none.
fn limit(root: &Path, group: &str, name: &str) -> u64 {
    let group = root.join(group);
    let folders = group
        .ancestors()
        .take_while(|folder| folder.starts_with(root));
    let limits = folders.filter_map(|folder| {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        text.trim().parse().ok()
    });
    limits.min().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_this_host() {
        assert!((1 << 20..1 << 60).contains(&bytes()));
    }

    #[test]
    fn swap_counts() {
        let text = "MemTotal: 100 kB\nMemAvailable:     7 kB\nSwapFree:\t3 kB\n";
        assert_eq!(of_host(text), 10 * 1024);
        assert_eq!(of_host("MemTotal: 100 kB\n"), u64::MAX);
    }

    #[test]
    fn the_least_limit_counts() {
        let root = std::env::temp_dir().join(format!("weft-groups-{}", std::process::id()));
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("a/b/memory.max", "max\n");
        put("a/memory.max", "5000\n");
        put("a/b/c/memory.max", "7000\n");
        put("memory/d/memory.limit_in_bytes", "3000\n");
        let found = [
            "0::/a/b/c\n",
            "0::/\n",
            "0::/gone/d\n",
            "3:cpu,memory:/d\n0::/a\n",
            "3:cpu:/d\n",
            "",
        ]
        .map(|list| of_groups(list, &root));
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(found, [5000, u64::MAX, u64::MAX, 3000, u64::MAX, u64::MAX]);
    }
}
