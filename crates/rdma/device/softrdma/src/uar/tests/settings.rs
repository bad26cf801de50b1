//! The variables and their limits.

use super::*;

fn read(variables: &[(&str, &str)]) -> Result<Settings, Error> {
    Settings::from_lookup(|name| {
        let found = variables.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

/// The errno and the text that reading refuses with.
fn refusal(variables: &[(&str, &str)]) -> (i32, String) {
    let error = read(variables).unwrap_err();
    (error.errno(), error.to_string())
}

fn uuars_of(variables: &[(&str, &str)]) -> (u32, u32) {
    let settings = read(variables).unwrap();
    (settings.total_uuars, settings.low_latency_uuars)
}

#[test]
fn nothing_set_is_the_default() {
    assert_eq!(read(&[]).unwrap(), Settings::default());
}

#[test]
fn total_uuars_are_raised_to_an_even_number_up_to_512() {
    let total = |value| uuars_of(&[("MLX5_TOTAL_UUARS", value)]);
    assert_eq!(total("16"), (16, 4));
    assert_eq!(total("5"), (6, 4));
    assert_eq!(total("6"), (6, 4));
    assert_eq!(total("511"), (512, 500));
    assert_eq!(total(" 8 "), (8, 4));
}

#[test]
fn total_uuars_out_of_range() {
    for value in ["0", "-1", "-16", "x", "16x", ""] {
        let (errno, text) = refusal(&[("MLX5_TOTAL_UUARS", value)]);
        assert_eq!(errno, libc::EINVAL, "{value}");
        assert!(
            text.starts_with(&format!("MLX5_TOTAL_UUARS={value}: ")),
            "{text}"
        );
    }
    for value in ["513", "100000", "9223372036854775807"] {
        let (errno, text) = refusal(&[("MLX5_TOTAL_UUARS", value)]);
        assert_eq!(errno, libc::ENOMEM, "{value}");
        assert!(text.starts_with("MLX5_TOTAL_UUARS="), "{text}");
    }
}

#[test]
fn low_latency_uuars_are_raised_to_total_less_12() {
    let both =
        |total, low| uuars_of(&[("MLX5_TOTAL_UUARS", total), ("MLX5_NUM_LOW_LAT_UUARS", low)]);
    assert_eq!(both("16", "0"), (16, 4));
    assert_eq!(both("32", "4"), (32, 20));
    assert_eq!(both("32", "25"), (32, 25));
    assert_eq!(both("16", "15"), (16, 15));
    assert_eq!(both("12", "0"), (12, 0));
    assert_eq!(both("2", "1"), (2, 1));
}

#[test]
fn low_latency_uuars_out_of_range() {
    let (errno, text) = refusal(&[("MLX5_NUM_LOW_LAT_UUARS", "-1")]);
    assert_eq!(errno, libc::EINVAL);
    assert!(text.starts_with("MLX5_NUM_LOW_LAT_UUARS=-1: "), "{text}");
    let (errno, text) = refusal(&[("MLX5_NUM_LOW_LAT_UUARS", "16")]);
    assert_eq!(errno, libc::ENOMEM);
    assert!(text.starts_with("MLX5_NUM_LOW_LAT_UUARS=16: "), "{text}");
    // The default of 4 is too much for so few.
    for total in ["1", "2", "4"] {
        let (errno, text) = refusal(&[("MLX5_TOTAL_UUARS", total)]);
        assert_eq!(errno, libc::ENOMEM, "{total}");
        let expected = "MLX5_NUM_LOW_LAT_UUARS=4 (default): ";
        assert!(text.starts_with(expected), "{text}");
    }
}

#[test]
fn switches_read_as_mlx5_reads_them() {
    let blueflame = |value| read(&[("MLX5_SHUT_UP_BF", value)]).unwrap().blueflame;
    assert_eq!(
        ["0", "1", "", "no"].map(blueflame),
        [true, false, false, false]
    );
    let prefer = |value| {
        let settings = read(&[("MLX5_POST_SEND_PREFER_BF", value)]).unwrap();
        settings.prefer_blueflame
    };
    assert_eq!(["0", "1", "", "no"].map(prefer), [false, true, true, true]);
    let single = |value| {
        let settings = read(&[("MLX5_SINGLE_THREADED", value)]).unwrap();
        settings.single_threaded
    };
    assert_eq!(
        ["1", "0", "2", "yes", ""].map(single),
        [true, false, false, false, false]
    );
}

#[test]
fn own_variables() {
    let settings = read(&[
        ("SOFTRDMA_UAR_POLICY", "dynamic"),
        ("SOFTRDMA_TD_SHARING", "1"),
        ("SOFTRDMA_UAR_RESERVE", "0"),
    ])
    .unwrap();
    assert_eq!(settings.policy, Policy::Dynamic);
    assert_eq!(settings.default_sharing, Sharing::Page);
    assert_eq!(settings.reserve_pages, 0);
    for (name, value) in [
        ("SOFTRDMA_UAR_POLICY", "Static"),
        ("SOFTRDMA_TD_SHARING", "0"),
        ("SOFTRDMA_TD_SHARING", "3"),
        ("SOFTRDMA_UAR_RESERVE", "-1"),
        ("SOFTRDMA_UAR_RESERVE", "8192"),
        ("SOFTRDMA_UAR_RESERVE", "some"),
    ] {
        let (errno, text) = refusal(&[(name, value)]);
        assert_eq!(errno, libc::EINVAL);
        assert!(text.starts_with(&format!("{name}={value}: ")), "{text}");
        assert_eq!(read(&[(name, "")]).unwrap(), Settings::default());
    }
}
