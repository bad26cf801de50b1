//! The numbers Rust does not have, against what gcc makes of the same bytes: binary16, `long double`,
//! binary128, and complex numbers of them.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use weft_datatype::{Op, Predefined, combine};

/// Runs the C program on a list of questions; one line of answer each, two for pairs.
fn ask_c(name: &str, questions: &str) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join(format!("c_arithmetic_{name}"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/c_arithmetic.c");
    let compiled = Command::new("gcc")
        .args(["-O1", "-o"])
        .arg(&program)
        .arg(source)
        .status()
        .expect("gcc runs");
    assert!(compiled.success());
    let mut child = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(questions.as_bytes()).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success());
    std::fs::remove_file(program).unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(String::from)
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// xorshift64*
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 20) % bound
    }

    /// A significand that rounds in interesting ways: random, or few bits at both ends.
    fn significand(&mut self, bits: u32) -> u128 {
        let random = u128::from(self.next()) << 64 | u128::from(self.next());
        let mask = (1 << bits) - 1;
        match self.below(4) {
            0 => random & mask,
            1 => random & 3,
            2 => mask - (random & 3),
            _ => (random & 1) << (bits - 1) | (random >> 2 & 3),
        }
    }

    /// An exponent near the bias, at the ends of the range, or anywhere.
    fn exponent(&mut self, bits: u32) -> u128 {
        let (bias, top) = ((1u64 << (bits - 1)) - 1, (1u64 << bits) - 1);
        u128::from(match self.below(8) {
            0 => self.below(3),
            1 => top - self.below(3),
            2 => self.below(top + 1),
            3 => bias / 2 + self.below(9),
            _ => bias - 8 + self.below(16).min(bias + 8),
        })
    }

    /// A number with this many bits of exponent and stored fraction, as bits.
    fn number(&mut self, exponent_bits: u32, fraction_bits: u32) -> u128 {
        let sign = u128::from(self.below(2)) << (exponent_bits + fraction_bits);
        sign | self.exponent(exponent_bits) << fraction_bits | self.significand(fraction_bits)
    }
}

struct Kind {
    /// In the C program; its capital for complex numbers.
    letter: char,
    real: Predefined,
    complex: Predefined,
    /// Bytes of value in one real number.
    bytes: usize,
    number: fn(&mut Random) -> Vec<u8>,
    is_nan: fn(&[u8]) -> bool,
}

fn half(random: &mut Random) -> Vec<u8> {
    (random.number(5, 10) as u16).to_le_bytes().to_vec()
}

fn quad(random: &mut Random) -> Vec<u8> {
    random.number(15, 112).to_le_bytes().to_vec()
}

/// Ten bytes of value, with the explicit first bit where the format wants it, and six of padding.
fn extended(random: &mut Random) -> Vec<u8> {
    let number = random.number(15, 63);
    let exponent = (number >> 63) as u16;
    let normal = u64::from(exponent & 0x7fff != 0) << 63;
    let significand = (number as u64 & !(1 << 63)) | normal;
    [
        &significand.to_le_bytes()[..],
        &exponent.to_le_bytes(),
        &[0; 6],
    ]
    .concat()
}

const KINDS: [Kind; 3] = [
    Kind {
        letter: 'h',
        real: Predefined::Real2,
        complex: Predefined::Complex4,
        bytes: 2,
        number: half,
        is_nan: |b| u16::from_le_bytes([b[0], b[1]]) & 0x7fff > 0x7c00,
    },
    Kind {
        letter: 'l',
        real: Predefined::LongDouble,
        complex: Predefined::CLongDoubleComplex,
        bytes: 10,
        number: extended,
        is_nan: |b| b[8] == 0xff && b[9] & 0x7f == 0x7f && b[..8] != [0, 0, 0, 0, 0, 0, 0, 0x80],
    },
    Kind {
        letter: 'q',
        real: Predefined::Real16,
        complex: Predefined::Complex32,
        bytes: 16,
        number: quad,
        is_nan: |b| {
            let bits = u128::from_le_bytes(b.try_into().unwrap());
            bits & !(1 << 127) > 0x7fff << 112
        },
    },
];

const OPS: [(Op, char); 4] = [
    (Op::Sum, '+'),
    (Op::Prod, '*'),
    (Op::Max, '>'),
    (Op::Min, '<'),
];

fn result_of(op: Op, predefined: Predefined, a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut result = b.to_vec();
    assert_eq!(a.len(), predefined.extent());
    // SAFETY: both are one element long.
    unsafe { combine(op, predefined, a.as_ptr(), result.as_mut_ptr(), 1) };
    result
}

/// The same number, or both none.
fn same(kind: &Kind, ours: &[u8], theirs: &[u8]) -> bool {
    let (ours, theirs) = (&ours[..kind.bytes], &theirs[..kind.bytes]);
    ours == theirs || ((kind.is_nan)(ours) && (kind.is_nan)(theirs))
}

fn bytes_of(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
        .collect()
}

#[test]
fn real_numbers_are_those_of_c() {
    let mut random = Random(7);
    for kind in &KINDS {
        let cases: Vec<_> = (0..6_000)
            .map(|_| {
                (
                    OPS[random.below(4) as usize],
                    (kind.number)(&mut random),
                    (kind.number)(&mut random),
                )
            })
            .collect();
        let questions: String = cases
            .iter()
            .map(|((_, sign), a, b)| format!("{} {sign} {} {}\n", kind.letter, hex(a), hex(b)))
            .collect();
        let answers = ask_c(&format!("real_{}", kind.letter), &questions);
        assert_eq!(answers.len(), cases.len());
        for (((op, _), a, b), answer) in cases.iter().zip(&answers) {
            let (ours, theirs) = (result_of(*op, kind.real, a, b), bytes_of(answer));
            let (a, b, ours_text) = (hex(a), hex(b), hex(&ours));
            assert!(
                same(kind, &ours, &theirs),
                "{} {op:?} {a} {b}: {ours_text}, C {answer}",
                kind.letter
            );
        }
    }
}

#[test]
fn complex_numbers_are_those_of_c() {
    let mut random = Random(11);
    for kind in &KINDS {
        let complex = |random: &mut Random| [(kind.number)(random), (kind.number)(random)].concat();
        let cases: Vec<_> = (0..6_000)
            .map(|_| {
                (
                    OPS[random.below(2) as usize],
                    complex(&mut random),
                    complex(&mut random),
                )
            })
            .collect();
        let letter = kind.letter.to_ascii_uppercase();
        let questions: String = cases
            .iter()
            .map(|((_, sign), a, b)| format!("{letter} {sign} {} {}\n", hex(a), hex(b)))
            .collect();
        let answers = ask_c(&format!("complex_{}", kind.letter), &questions);
        assert_eq!(answers.len(), cases.len());
        let step = kind.real.extent();
        for (((op, _), a, b), answer) in cases.iter().zip(&answers) {
            let (ours, theirs) = (result_of(*op, kind.complex, a, b), bytes_of(answer));
            let equal = (0..2).all(|part| same(kind, &ours[part * step..], &theirs[part * step..]));
            let (a, b, ours_text) = (hex(a), hex(b), hex(&ours));
            assert!(equal, "{letter} {op:?} {a} {b}: {ours_text}, C {answer}");
        }
    }
}

#[test]
fn long_double_pairs_are_those_of_c() {
    let mut random = Random(13);
    let pair = |random: &mut Random| {
        let value = if random.below(2) == 0 {
            vec![0; 16]
        } else {
            extended(random)
        };
        let index = (random.below(5) as i32).to_le_bytes();
        [&value[..], &index, &[0; 12]].concat()
    };
    let cases: Vec<_> = (0..5_000)
        .map(|_| {
            let op = [(Op::Maxloc, '>'), (Op::Minloc, '<')][random.below(2) as usize];
            (op, pair(&mut random), pair(&mut random))
        })
        .collect();
    let questions: String = cases
        .iter()
        .map(|((_, sign), a, b)| format!("p {sign} {} {}\n", hex(a), hex(b)))
        .collect();
    let answers = ask_c("pair", &questions);
    for (((op, _), a, b), answer) in cases.iter().zip(answers.chunks(2)) {
        let ours = result_of(*op, Predefined::LongDoubleInt, a, b);
        assert_eq!(
            (hex(&ours[..10]), hex(&ours[16..20])),
            (answer[0].clone(), answer[1].clone())
        );
    }
}
