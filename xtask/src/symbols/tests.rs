use super::c::{SONAME, aliases, expected};
use super::exported;
use super::rules::{MAY_NEED, dependencies, names};

#[test]
fn a_missing_name_a_foreign_name_and_a_split_pair_are_found() {
    let nm =
        "0010 T PMPI_Send\n0010 W MPI_Send\n0020 T PMPI_Recv\n0030 T MPI_Recv\n0040 T helper\n";
    let symbols = exported(nm);
    assert!(names(&symbols, &expected()).contains(&"MPI_Send_c is not exported".to_string()));
    assert!(
        names(&symbols, &expected()).contains(&"helper is exported and no name of MPI".to_string())
    );
    assert!(!names(&symbols, &expected()).contains(&"MPI_Send is not exported".to_string()));
    assert_eq!(
        aliases(&symbols),
        ["PMPI_Recv and its MPI_ twin have two addresses"]
    );
}

#[test]
fn soname_and_needed_libraries() {
    let dynamic = " 0x1 (NEEDED) Shared library: [libc.so.6]\n 0xe (SONAME) Library soname: [libmpi_abi.so.1]\n";
    assert!(dependencies(dynamic, SONAME, &MAY_NEED).is_empty());
    let dynamic =
        " 0x1 (NEEDED) Shared library: [libfoo.so]\n 0xe (SONAME) Library soname: [libfoo.so]\n";
    assert_eq!(dependencies(dynamic, SONAME, &MAY_NEED).len(), 2);
}
