//! The file's form: a JSON array, one entry a line.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use serde_json::value::RawValue;

use crate::Record;

/// How a journal ends, before and after every entry.
pub(super) const TAIL: &[u8] = b"\n]\n";
/// A journal without an entry.
pub(super) const EMPTY: &[u8] = b"[\n]\n";

/// The entries' lines in `text`, each with where the next line begins.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (&[u8], u64)> {
    let mut at = 0;
    text.split_inclusive(|b| *b == b'\n').filter_map(move |line| {
        at += line.len() as u64;
        // A power cut may leave NULs where data was not written yet.
        let trailing = line.iter().rev().take_while(|b| **b == 0 || b.is_ascii_whitespace());
        let line = &line[..line.len() - trailing.count()];
        let line = line.strip_suffix(b",").unwrap_or(line);
        line.starts_with(b"{").then_some((line, at))
    })
}

/// The record on `line`, if it is one.
pub(super) fn parse(line: &[u8]) -> Option<Record> {
    serde_json::from_slice(line).ok()
}

/// The records on the lines of `text`.
pub(super) fn records(text: &[u8]) -> impl Iterator<Item = Record> {
    lines(text).filter_map(|(line, _)| parse(line))
}

/// The file's text for these entries.
pub(super) fn text<'e>(entries: impl Iterator<Item = &'e [u8]>) -> Text {
    let mut text = b"[\n".to_vec();
    let mut count = 0;
    for entry in entries {
        if count > 0 {
            text.extend_from_slice(b",\n");
        }
        // A line break inside an entry can only be layout: in a string it would be `\n`.
        text.extend(entry.iter().filter(|b| !matches!(b, b'\n' | b'\r')));
        count += 1;
    }
    text.extend_from_slice(if count > 0 { TAIL } else { b"]\n" });
    Text { text, count }
}

/// A whole file.
pub(super) struct Text {
    pub(super) text: Vec<u8>,
    /// How many entries are in it.
    pub(super) count: usize,
}

/// The entries at the beginning of a file, however it is laid out.
pub(super) struct Whole<'t> {
    pub(super) entries: Vec<&'t [u8]>,
    /// What comes after the last whole one.
    pub(super) rest: &'t [u8],
}

/// Finds the whole entries at the beginning of `text`.
pub(super) fn whole_entries(text: &[u8]) -> Whole<'_> {
    // A power cut may leave NULs where data was not written yet.
    let between = |b: &u8| matches!(b, b',' | 0) || b.is_ascii_whitespace();
    let mut rest = text.trim_ascii_start();
    rest = rest.strip_prefix(b"[").unwrap_or(rest);
    let mut entries = Vec::new();
    loop {
        let blank = rest.iter().take_while(|b| between(b)).count();
        rest = &rest[blank..];
        // Readers take objects alone.
        let mut stream = serde_json::Deserializer::from_slice(rest).into_iter::<&RawValue>();
        match stream.next().filter(|_| rest.starts_with(b"{")) {
            Some(Ok(entry)) => entries.push(entry.get().as_bytes()),
            _ => {
                let end = rest.iter().rposition(|b| !between(b)).map_or(0, |at| at + 1);
                return Whole { entries, rest: &rest[..end] };
            }
        }
        rest = &rest[stream.byte_offset()..];
    }
}

/// How long the file is without the blanks at its end, in bytes.
pub(super) fn content_len(file: &File) -> io::Result<u64> {
    let mut len = file.metadata()?.len();
    let mut piece = [0; 4096];
    while len > 0 {
        let from = len.saturating_sub(piece.len() as u64);
        let piece = &mut piece[..(len - from) as usize];
        file.read_exact_at(piece, from)?;
        if let Some(last) = piece.iter().rposition(|b| *b != b' ') {
            return Ok(from + last as u64 + 1);
        }
        len = from;
    }
    Ok(0)
}

/// The part of the file between these two places.
pub(super) fn read_between(file: &File, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut text = vec![0; to.saturating_sub(from) as usize];
    file.read_exact_at(&mut text, from)?;
    Ok(text)
}
