//! Names folded into ranges, in a time that grows with their number only: a site has 100,000.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The longest number that is folded, in digits: [`expand`](crate::nodes::expand) reads no longer
/// one in brackets.
const MOST_DIGITS: usize = 9;

/// A name in pieces: text, number, text, number … text. A number may be folded already: `[1-4]`.
type Pieces<'a> = Vec<Cow<'a, str>>;

/// The names as terms with ranges, sorted: `r1n1 r1n2 r2n1 r2n2` is `r[1-2]n[1-2]`.
pub(crate) fn fold(names: &[&str]) -> Vec<String> {
    let mut terms: Vec<Pieces> = names.iter().map(|name| pieces(name)).collect();
    let most = terms.iter().map(|term| term.len() / 2).max().unwrap_or(0);
    // From the last number of the names to the first.
    for nth in 1..=most {
        terms = fold_numbers(terms, nth);
    }
    let mut terms: Vec<String> = terms.into_iter().map(|term| term.concat()).collect();
    terms.sort_unstable();
    terms
}

fn pieces(name: &str) -> Pieces<'_> {
    let mut pieces = Vec::new();
    let mut rest = name;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (text, number) = rest.split_at(at);
        let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        let (number, after) = number.split_at(end);
        pieces.extend([text.into(), number.into()]);
        rest = after;
    }
    pieces.push(rest.into());
    pieces
}

/// Folds the terms that differ in their `nth` number from the end alone.
fn fold_numbers(terms: Vec<Pieces<'_>>, nth: usize) -> Vec<Pieces<'_>> {
    let mut folded = Vec::new();
    let mut alike = BTreeMap::<Pieces, Vec<String>>::new();
    for mut term in terms {
        match term.len().checked_sub(2 * nth) {
            Some(at @ 1..) if term[at].len() <= MOST_DIGITS => {
                let number = std::mem::take(&mut term[at]);
                alike.entry(term).or_default().push(number.into_owned());
            }
            _ => folded.push(term),
        }
    }
    for (term, numbers) in alike {
        let at = term.len() - 2 * nth;
        for (width, numbers) in of_one_width(&numbers) {
            let mut term = term.clone();
            term[at] = ranges(width, numbers).into();
            folded.push(term);
        }
    }
    folded
}

/// The numbers in lists that can each be in one pair of brackets, with their width there, 0 for any:
/// `01` and `10` can be in one, `1` and `01` can't.
fn of_one_width(numbers: &[String]) -> BTreeMap<usize, Vec<u32>> {
    let is_padded = |number: &&String| number.len() > 1 && number.starts_with('0');
    let padded: BTreeSet<usize> = numbers.iter().filter(is_padded).map(String::len).collect();
    let mut lists = BTreeMap::<usize, Vec<u32>>::new();
    for number in numbers {
        let width = padded.get(&number.len()).copied().unwrap_or(0);
        // Nine digits always fit.
        lists.entry(width).or_default().extend(number.parse::<u32>());
    }
    lists
}

/// `[001-512,600]`; `007` if that is all.
fn ranges(width: usize, mut numbers: Vec<u32>) -> String {
    numbers.sort_unstable();
    let ranges: Vec<String> = numbers
        .chunk_by(|a, b| a + 1 == *b)
        .map(|range| match range {
            [first, .., last] => format!("{first:0width$}-{last:0width$}"),
            range => range.iter().map(|only| format!("{only:0width$}")).collect(),
        })
        .collect();
    match &numbers[..] {
        [_] => ranges.concat(),
        _ => format!("[{}]", ranges.join(",")),
    }
}
