use super::*;

fn names(text: &str) -> Vec<String> {
    called_wrongly(text).into_iter().collect()
}

#[test]
fn a_call_counts_where_an_error_is_expected() {
    let expect = |call: &str, class: &str| {
        format!("expect_class(1, (setjmp() ? CRASHED : class_of({call})), {class}, {class});")
    };
    assert_eq!(names(&expect("MPI_Send(f(x), 1)", "13")), ["MPI_Send"]);
    assert_eq!(names(&expect("MPI_Send(x, 1)", "0")), [""; 0]);
    assert_eq!(names("MPI_Send(MPI_INT);"), [""; 0]);
    assert_eq!(
        names("{ 1, MPI_Recv, MPI_Recv_c } return MPI_Wait(q, s);"),
        ["MPI_Recv", "MPI_Recv_c", "MPI_Wait"]
    );
}

#[test]
fn headers_and_strings_do_not_count() {
    let text = "# 1 \"a/expect.h\"\nMPI_Send,\n# 7 \"a/b.c\"\nx(\"MPI_Recv, \\\"MPI_Wait,\", MPI_Test, 1)\n";
    assert_eq!(names(&own_lines(text)), ["MPI_Test"]);
}

#[test]
fn a_function_without_a_test_is_an_error_and_so_is_a_needless_excuse() {
    let implemented = ["Send", "Wtime"].map(String::from).into();
    let sends = ["MPI_Send", "MPI_Send_c"].map(String::from).into();
    assert!(compare(&implemented, &["Wtime"].into(), &sends).is_ok());
    let message = compare(&implemented, &["Send"].into(), &sends).unwrap_err();
    assert!(message.contains("MPI_Send has a test and an excuse"));
    assert!(message.contains("MPI_Wtime has no test"));
    let one = ["MPI_Send".to_string()].into();
    let message = compare(&implemented, &["Wtime"].into(), &one).unwrap_err();
    assert_eq!(message, "MPI_Send_c has no test in tests/errors");
}
