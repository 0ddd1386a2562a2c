//! Records of a run that follow each other are one row of a store: their texts, a line each, compressed where
//! that is shorter. Ten of them take a fifth of the room, and one statement.

use std::cell::RefCell;
use std::io;
use std::thread::LocalKey;

use serde_json::value::RawValue;
use zstd::bulk::{Compressor, Decompressor};

/// How much text a row has, unless one record has more, in bytes: who reads one record reads its row.
const MOST: usize = 64 * 1024;
/// The fastest of zstd's usual levels.
const LEVEL: i32 = 1;
/// What a compressed text begins with (RFC 8878, section 3.1.1). A record begins with a brace.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Records of a run, each with the seq after that of the one before.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Packed {
    /// The seq of the first of them …
    pub(crate) first: u64,
    /// … and of the last.
    pub(crate) last: u64,
    /// How long their texts are, without what is between them.
    pub(crate) bytes: u64,
    /// The texts.
    pub(crate) body: Vec<u8>,
}

thread_local! {
    static COMPRESSOR: Cell<Compressor<'static>> = const { RefCell::new(None) };
    static DECOMPRESSOR: Cell<Decompressor<'static>> = const { RefCell::new(None) };
}

/// What a thread makes when it is first needed.
type Cell<T> = RefCell<Option<T>>;

fn with<T, R>(
    cell: &'static LocalKey<Cell<T>>,
    make: impl FnOnce() -> io::Result<T>,
    work: impl FnOnce(&mut T) -> io::Result<R>,
) -> io::Result<R> {
    cell.with_borrow_mut(|made| match made {
        Some(made) => work(made),
        None => work(made.insert(make()?)),
    })
}

/// Packs records of one run, in their order: the seq and the text of each, which is one line.
pub(crate) fn pack<'r>(
    records: impl IntoIterator<Item = (u64, &'r str)>,
) -> io::Result<Vec<Packed>> {
    let mut rows = Vec::<Packed>::new();
    for (seq, text) in records {
        match rows.last_mut() {
            Some(row) if row.last + 1 == seq && row.body.len() + text.len() < MOST => {
                row.last = seq;
                row.bytes += text.len() as u64;
                row.body.push(b'\n');
                row.body.extend(text.as_bytes());
            }
            _ => {
                let (bytes, body) = (text.len() as u64, text.into());
                rows.push(Packed { first: seq, last: seq, bytes, body });
            }
        }
    }
    for row in &mut rows {
        let make = || Compressor::new(LEVEL);
        let compressed = with(&COMPRESSOR, make, |zstd| zstd.compress(&row.body))?;
        if compressed.len() < row.body.len() {
            row.body = compressed;
        }
    }
    Ok(rows)
}

/// The texts of a row's records, which are `bytes` long.
pub(crate) fn unpack(body: &[u8], bytes: u64) -> io::Result<Texts> {
    let text = if body.starts_with(&MAGIC) {
        // A record has more than one byte, so there are fewer line ends than that.
        let most = 2 * bytes as usize;
        with(&DECOMPRESSOR, Decompressor::new, |zstd| zstd.decompress(body, most))?
    } else {
        body.to_vec()
    };
    String::from_utf8(text).map(Texts).map_err(io::Error::other)
}

/// The texts of records, in their order.
pub(crate) struct Texts(String);

impl Texts {
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = serde_json::Result<&RawValue>> {
        self.0.split('\n').map(serde_json::from_str)
    }
}

/// Which records of a run are stored: disjoint ranges of their seqs.
#[derive(Debug, Default)]
pub(crate) struct StoredSeqs(Vec<(u64, u64)>);

impl StoredSeqs {
    /// These are stored.
    pub(crate) fn add_range(&mut self, first: u64, last: u64) {
        self.0.push((first, last));
    }

    /// Adds one. Returns whether it is new.
    pub(crate) fn add(&mut self, seq: u64) -> bool {
        if self.0.iter().any(|(first, last)| (*first..=*last).contains(&seq)) {
            return false;
        }
        match self.0.last_mut() {
            Some((_, last)) if *last + 1 == seq => *last = seq,
            _ => self.0.push((seq, seq)),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(records: &[(u64, &str)]) -> Vec<Packed> {
        let rows = pack(records.iter().copied()).unwrap();
        let mut back = Vec::new();
        for row in &rows {
            let texts = unpack(&row.body, row.bytes).unwrap();
            back.extend(texts.iter().map(|text| text.unwrap().get().to_owned()));
        }
        assert_eq!(back, records.iter().map(|record| record.1).collect::<Vec<_>>());
        rows
    }

    #[test]
    fn records_that_follow_each_other_are_one_row_up_to_its_size() {
        let short = r#"{"seq":1}"#;
        let long = format!(r#"{{"errorMessage":"{}"}}"#, "x".repeat(MOST - 100));
        let rows =
            packed(&[(1, short), (2, short), (4, short), (5, &long), (6, &long), (3, short)]);
        let ranges: Vec<_> = rows.iter().map(|row| (row.first, row.last)).collect();
        assert_eq!(ranges, [(1, 2), (4, 5), (6, 6), (3, 3)]);
        assert_eq!(rows[0].body, format!("{short}\n{short}").as_bytes());
        assert_eq!(rows[1].bytes, (short.len() + long.len()) as u64);
        assert!(rows[1].body.len() < 1000, "{}", rows[1].body.len());
    }

    #[test]
    fn a_body_that_is_damaged_is_an_error() {
        let text = format!(r#"{{"errorMessage":"{}"}}"#, "x".repeat(1000));
        let row = packed(&[(1, &text)]).remove(0);
        assert!(unpack(&row.body[..row.body.len() - 1], row.bytes).is_err());
        assert!(unpack(&row.body, row.bytes / 4).is_err(), "it is longer");
        assert!(unpack(&[0xff], 1).is_err());
    }

    #[test]
    fn a_record_is_new_once() {
        let mut known = StoredSeqs::default();
        known.add_range(3, 5);
        let new = [2, 3, 6, 7, 6, 5, 2, 8].map(|seq| known.add(seq));
        assert_eq!(new, [true, false, true, true, false, false, false, true]);
    }
}
