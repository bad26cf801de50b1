use super::*;

#[test]
fn names_are_read_from_attributes_and_from_the_list() {
    let source = "    #[mpi(Send)]\nfn send() {}\n// #[mpi(Recv)]\n#[mpi(Wtime)]\nfn wtime() {}\n\
        #[mpi(Scan, Iscan)]\n#[mpi($name)]\n";
    let names = implemented(source).collect::<Vec<_>>();
    assert_eq!(names, ["Send", "Wtime", "Scan", "Iscan"]);
    let list = "use x;\nunsupported! {\n    // 3. Some Chapter\n    Bsend, Cancel,\n    Ssend,\n}\nfn other() {}\n";
    assert_eq!(
        unsupported(list),
        ["Bsend", "Cancel", "Ssend"].map(String::from).into()
    );
}

#[test]
fn a_function_in_neither_list_or_in_both_is_an_error() {
    let mut all: Names = table::functions().map(|f| f.name.to_string()).collect();
    assert_eq!(complete(&all, &Names::new()), Ok(()));
    let both = Names::from(["Send".to_string()]);
    assert!(
        complete(&all, &both)
            .unwrap_err()
            .contains("MPI_Send is both")
    );
    all.remove("Send");
    assert!(
        complete(&all, &Names::new())
            .unwrap_err()
            .contains("MPI_Send is in neither")
    );
    assert!(
        complete(&all, &["Send", "Sned"].map(String::from).into())
            .unwrap_err()
            .contains("MPI_Sned is no function")
    );
}
