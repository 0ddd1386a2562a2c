//! Inputs that are nearly right: those that get furthest into a parser.

use fastrand::Rng;

/// What parsers of text trip over.
const TOKENS: [&str; 22] = [
    "\0",
    "\n",
    "\r\n",
    "\"",
    "'",
    "\\",
    "[",
    "]",
    "{",
    "}",
    "=",
    "..",
    "/",
    "#",
    "-1",
    "18446744073709551616",
    "1e999",
    "\u{202e}",
    "\u{feff}",
    "9999-12-31T23:59:59Z",
    "\x1b[2J",
    "[[[[[[[[",
];
/// No input becomes longer than this, in bytes.
const MOST: usize = 64 * 1024;

/// One of `seeds` with some changes.
pub(crate) fn mutated(seeds: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let mut input = seeds[rng.usize(..seeds.len())].clone();
    for _ in 0..rng.usize(1..8) {
        change(&mut input, seeds, rng);
        input.truncate(MOST);
    }
    input
}

fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], rng: &mut Rng) {
    let at = rng.usize(..=input.len());
    let end = rng.usize(at..=input.len()).min(at + 64);
    match rng.u8(..7) {
        0 if at < input.len() => input[at] ^= 1 << rng.u8(..8),
        1 => drop(input.splice(at..end, [])),
        2 => drop(input.splice(at..at, rng.choice(TOKENS).unwrap_or_default().bytes())),
        3 => {
            let part = input[at..end].to_vec();
            drop(input.splice(at..at, part.repeat(rng.usize(1..20))));
        }
        4 => input.truncate(at),
        5 => {
            let other = &seeds[rng.usize(..seeds.len())];
            let from = rng.usize(..=other.len());
            drop(input.splice(at.., other[from..].iter().copied()));
        }
        _ => input.insert(at, rng.u8(..)),
    }
}
