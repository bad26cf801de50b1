//! Gives libmpifort_abi.so its SONAME, its exports, and the dependency on libmpi_abi.so.1 (MPI-5.0 §21.4).

include!("link.rs");

fn main() {
    link(&Libraries {
        own: "libmpifort_abi.so.1",
        c: "libmpi_abi.so.1",
        more_of_c: &[
            "weft_calling_language",
            "weft_follow",
            "weft_type_in_section",
        ],
    });
}
