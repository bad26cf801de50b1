use weft_handle::InfoId;

use super::*;

fn class<T: std::fmt::Debug>(result: Result<T>) -> Class {
    result.unwrap_err().class
}

fn long(bytes: usize) -> CString {
    c_string(&vec![b'x'; bytes])
}

#[test]
fn pairs_keep_the_order_of_their_first_set() {
    let info = create().unwrap();
    for (key, value) in [(c"b", c"1"), (c"a", c"2"), (c"c", c""), (c"b", c"3")] {
        set(info, key, value).unwrap();
    }
    assert_eq!(key_count(info).unwrap(), 3);
    let keys: Vec<CString> = (0..3).map(|n| nth_key(info, n).unwrap()).collect();
    assert_eq!(keys, [c"b", c"a", c"c"].map(CStr::to_owned));
    assert_eq!(value(info, c"b").unwrap().as_deref(), Some(c"3"));
    assert_eq!(value(info, c"c").unwrap().as_deref(), Some(c""));
    assert_eq!(value(info, c"d").unwrap(), None);
    delete(info, c"b").unwrap();
    assert_eq!(nth_key(info, 0).unwrap().as_c_str(), c"a");
    free(info).unwrap();
    assert_eq!(class(check(info)), Class::Info);
}

#[test]
fn a_copy_is_another_object() {
    let info = create_with(&[(c"a", "1"), (c"b", "2")]).unwrap();
    let copy = dup(info).unwrap();
    set(info, c"a", c"3").unwrap();
    assert_eq!(value(copy, c"a").unwrap().as_deref(), Some(c"1"));
    assert_eq!(nth_key(copy, 1).unwrap().as_c_str(), c"b");
    free(info).unwrap();
    assert_eq!(key_count(copy).unwrap(), 2);
    free(copy).unwrap();
}

#[test]
fn the_limits_are_the_standards() {
    let info = create().unwrap();
    set(info, &long(KEY_BYTES), &long(VALUE_BYTES)).unwrap();
    assert_eq!(class(set(info, &long(KEY_BYTES + 1), c"")), Class::InfoKey);
    assert_eq!(class(set(info, c"", c"")), Class::InfoKey);
    assert_eq!(
        class(set(info, c"a", &long(VALUE_BYTES + 1))),
        Class::InfoValue
    );
    assert_eq!(class(value(info, &long(KEY_BYTES + 1))), Class::InfoKey);
    assert_eq!(class(delete(info, c"a")), Class::InfoNoKey);
    assert_eq!(class(nth_key(info, 1)), Class::Arg);
    assert_eq!(class(nth_key(info, -1)), Class::Arg);
    free(info).unwrap();
    for wrong in [0, 0x130, 1 << 60, u64::MAX] {
        assert_eq!(class(check(InfoId(wrong))), Class::Info);
    }
}

#[test]
fn the_environment_is_read_only() {
    assert_eq!(class(set(InfoId::ENV, c"a", c"")), Class::Info);
    assert_eq!(class(delete(InfoId::ENV, c"command")), Class::Info);
    assert_eq!(class(free(InfoId::ENV)), Class::Info);
    let command = value(InfoId::ENV, c"command").unwrap().unwrap();
    let first = std::env::args_os().next().unwrap();
    assert_eq!(command.as_bytes(), first.as_encoded_bytes());
    let copy = dup(InfoId::ENV).unwrap();
    set(copy, c"command", c"changed").unwrap();
    free(copy).unwrap();
}

#[test]
fn an_environment_from_arguments() {
    let info = create_env(&[c"prog", c"-a", c"b"]).unwrap();
    assert_eq!(value(info, c"command").unwrap().as_deref(), Some(c"prog"));
    assert_eq!(value(info, c"argv").unwrap().as_deref(), Some(c"-a b"));
    let huge = long(VALUE_BYTES + 1);
    let other = create_env(&[c"prog", &huge]).unwrap();
    assert_eq!(value(other, c"argv").unwrap(), None, "too long for a value");
    free(info).unwrap();
    free(other).unwrap();
}
