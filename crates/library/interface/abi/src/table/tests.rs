use super::*;
use std::collections::HashSet;

#[test]
fn the_abi_has_664_functions_and_each_name_once() {
    let names: Vec<String> = functions().flat_map(Function::c_names).collect();
    assert_eq!(names.len(), 664);
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), 664);
}

#[test]
fn declarations_in_c() {
    let declare = |name, large: bool| -> Vec<String> {
        let function = function(name).unwrap();
        let parameters = function.parameters(large);
        parameters
            .map(|p| p.c_type(large).declare(p.name))
            .collect()
    };
    assert_eq!(
        declare("Send", false)[..2],
        ["const void *buf", "int count"]
    );
    assert_eq!(declare("Send", true)[1], "MPI_Count count");
    assert_eq!(declare("Psend_init", false)[2], "int count");
    assert_eq!(declare("Psend_init", true)[2], "MPI_Count count");
    assert_eq!(declare("Gatherv", true)[5], "const MPI_Aint *displs");
    assert_eq!(declare("Group_range_incl", false)[2], "int (*ranges)[3]");
    assert_eq!(declare("Info_create_env", false)[1], "char **argv");
    assert_eq!(declare("Init", false)[1], "char ***argv");
    assert_eq!(declare("Pcontrol", false), ["const int level", "... ..."]);
    assert_eq!(
        declare("Op_create", true)[0],
        "MPI_User_function_c *user_fn"
    );
    assert_eq!(declare("Type_get_envelope", false).len(), 5);
    assert_eq!(declare("Type_get_envelope", true).len(), 6);
}

#[test]
fn types_in_rust() {
    let rust = |name, at: usize| function(name).unwrap().parameters[at].c_type(false).rust();
    assert_eq!(rust("Send", 0), "*const c_void");
    assert_eq!(rust("Recv", 6), "*mut MPI_Status");
    assert_eq!(rust("Group_range_incl", 2), "*mut [c_int; 3]");
    assert_eq!(rust("Comm_spawn_multiple", 2), "*mut *mut *mut c_char");
    assert_eq!(rust("Comm_spawn_multiple", 4), "*const MPI_Info");
    assert_eq!(rust("Op_create", 0), "MPI_User_function");
}

#[test]
fn results_that_are_not_error_codes() {
    let answers = functions().filter(|function| function.returns_value());
    // 11 pairs of toint and fromint, Aint_add, Aint_diff, Wtime and Wtick.
    assert_eq!(answers.count(), 26);
}

#[test]
fn constants_have_numbers_and_each_name_once() {
    let constants: Vec<_> = sections().iter().flat_map(|s| &s.constants).collect();
    assert_eq!(constants.len(), 364);
    let names: HashSet<_> = constants.iter().map(|constant| constant.name).collect();
    assert_eq!(names.len(), constants.len());
    let of = |name| constants.iter().find(|c| c.name == name).unwrap().number();
    assert_eq!(of("LONG_LONG_INT"), 0x20b);
    assert_eq!(of("UNDEFINED"), -32766);
}

#[test]
fn predefined_handles_lie_in_1_to_4095() {
    for constant in sections().iter().flat_map(|section| &section.constants) {
        let Value::Of { c_type, .. } = constant.value else {
            continue;
        };
        if c_type.starts_with("MPI_")
            && !c_type.contains("_T_")
            && !c_type.contains('*')
            && c_type != "MPI_Offset"
        {
            assert!((1..4096).contains(&constant.number()), "{}", constant.name);
        }
    }
}
