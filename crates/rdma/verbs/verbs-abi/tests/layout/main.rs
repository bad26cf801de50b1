//! Compares sizes, offsets and constants with the headers of libibverbs that are installed.
//!
//! A probe in C prints what the compiler makes of the headers. Where the headers are older than this crate, what they do
//! not name is left out of the comparison, but only what [`NEWER`] lists.

mod constants;
mod table;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const HEADER: &str = "/usr/include/infiniband/verbs.h";

/// Structures, fields and constants that came after rdma-core 44.
const NEWER: &[&str] = &[
    "IBV_ACCESS_FLUSH_GLOBAL",
    "IBV_ACCESS_FLUSH_PERSISTENT",
    "IBV_COMP_CNTR_TYPE_BYTES",
    "IBV_COMP_CNTR_TYPE_WRS",
    "IBV_DMAH_INIT_ATTR_MASK_CPU_ID",
    "IBV_DMAH_INIT_ATTR_MASK_PH",
    "IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE",
    "IBV_EVENT_DEVICE_SPEED_CHANGE",
    "IBV_FLUSH_GLOBAL",
    "IBV_FLUSH_MR",
    "IBV_FLUSH_PERSISTENT",
    "IBV_FLUSH_RANGE",
    "IBV_PORT_LINK_SPEED_XDR_SUP",
    "IBV_QP_EX_WITH_FLUSH",
    "IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES",
    "IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY",
    "IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS",
    "IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG",
    "IBV_REG_MR_MASK_ADDR",
    "IBV_REG_MR_MASK_BUF",
    "IBV_REG_MR_MASK_DMAH",
    "IBV_REG_MR_MASK_FD",
    "IBV_REG_MR_MASK_FD_OFFSET",
    "IBV_REG_MR_MASK_IOVA",
    "IBV_WC_FLUSH",
    "IBV_WR_FLUSH",
    "active_speed_ex",
    "alloc_dmah",
    "dealloc_dmah",
    "dm_export_dmabuf_fd",
    "ibv_comp_cntr",
    "ibv_comp_cntr_init_attr",
    "ibv_dmah",
    "ibv_dmah_init_attr",
    "ibv_mr_init_attr",
    "reg_mr_ex",
    "wr_flush",
];

/// Structures that end where the headers' newest field ends: an older header's is shorter.
const GROWING: &[&str] = &[
    "struct ibv_mr_init_attr",
    "struct ibv_port_attr",
    "struct ibv_qp_ex",
    "struct verbs_context",
];

pub struct Field {
    /// As `stringify!` writes it.
    tokens: &'static str,
    offset: usize,
    size: usize,
}

impl Field {
    /// The path in C.
    fn path(&self) -> String {
        self.tokens.replace([' '], "").replace("r#", "")
    }
}

pub struct Structure {
    name: &'static str,
    size: usize,
    fields: &'static [Field],
}

pub const fn pointee_size<T>(_: *const T) -> usize {
    size_of::<T>()
}

// Each structure a constant of its own: compilers are slow at one function that makes a thousand fields.
macro_rules! structures {
    (@tokens $path:literal $($field:ident).+) => { $path };
    (@tokens $($field:ident).+) => { stringify!($($field).+) };
    ($(($name:literal, $type:ty) { $($($field:ident).+ $(=> $path:literal)?,)* })*) => {
        &[$({
            const FIELDS: &[$crate::Field] = &[$($crate::Field {
                tokens: structures!(@tokens $($path)? $($field).+),
                offset: core::mem::offset_of!($type, $($field).+),
                size: {
                    let value = core::mem::MaybeUninit::<$type>::uninit();
                    // SAFETY: a place is named, not read.
                    $crate::pointee_size(unsafe { &raw const (*value.as_ptr()).$($field).+ })
                },
            },)*];
            $crate::Structure { name: $name, size: size_of::<$type>(), fields: FIELDS }
        },)*]
    };
}
use structures;

/// The words of the installed headers.
struct Header {
    words: std::collections::BTreeSet<String>,
}

impl Header {
    fn read() -> Header {
        let folder = Path::new(HEADER).parent().expect("the header has a folder");
        let text: String = ["verbs.h", "verbs_api.h", "ib_user_ioctl_verbs.h", "sa.h"]
            .iter()
            .map(|name| std::fs::read_to_string(folder.join(name)).expect("a header can be read"))
            .collect();
        let words = text
            .split(|character: char| !(character.is_alphanumeric() || character == '_'))
            .map(str::to_owned)
            .collect();
        Header { words }
    }

    /// Whether the headers name it; a word that is neither there nor known to be newer is a fault of ours.
    fn names(&self, word: &str) -> bool {
        let known = self.words.contains(word);
        assert!(
            known || NEWER.contains(&word),
            "{word} is not in the installed headers"
        );
        known
    }
}

/// What is compared: a line of the probe, and the number that we expect in it.
#[derive(Default)]
struct Probe {
    program: String,
    expected: BTreeMap<String, i64>,
}

impl Probe {
    fn expect(&mut self, label: String, expression: &str, value: i64) {
        writeln!(
            self.program,
            "    printf(\"%s = %lld\\n\", \"{label}\", (long long)({expression}));"
        )
        .expect("a string takes it");
        self.expected.insert(label, value);
    }

    fn add_structure(&mut self, header: &Header, structure: &Structure) {
        let name = structure.name;
        let tag = name.rsplit(' ').next().expect("a name has a last word");
        if !header.names(tag) {
            return;
        }
        let mut complete = true;
        for field in structure.fields {
            let path = &field.path();
            let last = path.rsplit('.').next().expect("a path has a last part");
            // `buf` alone is too short a word to look for.
            let word = if last == "buf" {
                "IBV_REG_MR_MASK_BUF"
            } else {
                last
            };
            if !header.names(word) {
                complete = false;
                continue;
            }
            if name == "struct verbs_context" {
                // It grows in front: what counts is the distance from the end.
                self.expect(
                    format!("end of {name} - {path}"),
                    &format!("sizeof({name}) - offsetof({name}, {path})"),
                    (structure.size - field.offset) as i64,
                );
            } else {
                self.expect(
                    format!("{name}.{path}"),
                    &format!("offsetof({name}, {path})"),
                    field.offset as i64,
                );
            }
            self.expect(
                format!("sizeof {name}.{path}"),
                &format!("sizeof((({name} *)0)->{path})"),
                field.size as i64,
            );
        }
        assert!(
            complete || GROWING.contains(&name),
            "{name} lacks fields in the installed headers"
        );
        if complete && name != "struct verbs_context" {
            self.expect(
                format!("sizeof {name}"),
                &format!("sizeof({name})"),
                structure.size as i64,
            );
        }
    }

    /// Compiles and runs the probe; its output by label.
    fn run(&self) -> BTreeMap<String, i64> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let source = folder.join("layout_probe.c");
        let program = folder.join("layout_probe");
        let text = format!(
            "#include <stddef.h>\n#include <stdio.h>\n#include <infiniband/verbs.h>\n#include <infiniband/sa.h>\nint main(void)\n{{\n{}    return 0;\n}}\n",
            self.program
        );
        std::fs::write(&source, text).expect("the probe can be written");
        let status = Command::new("cc")
            .args(["-w", "-o"])
            .args([&program, &source])
            .status()
            .expect("cc runs");
        assert!(status.success(), "{} does not compile", source.display());
        let output = Command::new(&program).output().expect("the probe runs");
        String::from_utf8(output.stdout)
            .expect("the probe prints text")
            .lines()
            .map(|line| {
                let (label, value) = line.rsplit_once(" = ").expect("label = value");
                (label.to_owned(), value.parse().expect("a number"))
            })
            .collect()
    }
}

#[test]
fn layouts_and_constants_are_those_of_the_installed_headers() {
    if !Path::new(HEADER).exists() {
        assert!(
            std::env::var_os("CI").is_none(),
            "{HEADER} is missing (package libibverbs-dev)"
        );
        eprintln!("NOT TESTED: {HEADER} is missing (package libibverbs-dev)");
        return;
    }
    let header = Header::read();
    let mut probe = Probe::default();
    for structure in table::TABLE {
        probe.add_structure(&header, structure);
    }
    for (name, value) in constants::constants() {
        if header.names(&name) {
            probe.expect(name.clone(), &name, value);
        }
    }
    assert!(probe.expected.len() > 1000, "the tables are read");
    let found = probe.run();
    let faults: Vec<String> = probe
        .expected
        .iter()
        .filter(|(label, value)| found.get(*label) != Some(value))
        .map(|(label, value)| format!("{label}: {value} here, {:?} in C", found.get(label)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The table cannot forget a structure: those that C cannot name are counted.
#[test]
fn every_structure_is_in_the_table() {
    const UNNAMED_IN_C: usize = 16;
    const OPAQUE: usize = 2;
    // Of include/softrdma.h, which the device's own tests compare.
    const OURS: usize = 3;
    let declared: usize = constants::sources()
        .iter()
        .map(|text| text.matches("\npub struct ").count() + text.matches("\npub union ").count())
        .sum();
    assert_eq!(table::TABLE.len() + UNNAMED_IN_C + OPAQUE + OURS, declared);
}
