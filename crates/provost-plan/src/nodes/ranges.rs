use nodeset::{IdRangeList, Parser};

use super::error::MOST;

/// The longest number in a range, together with the digits next to its brackets, in digits. The
/// folding library overflows above it.
const MOST_DIGITS: usize = 9;

/// The names that a word with brackets stands for, at most `most`. The library has no limit, so the
/// size is checked first.
pub(super) fn expand(word: &str, most: usize) -> Result<Vec<String>, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-[],/".contains(c);
    if let Some(c) = word.chars().find(|c| !plain(*c)) {
        return Err(format!("{c:?} can't be in it"));
    }
    if count(word)? > most {
        return Err(format!("it stands for more than {}", MOST));
    }
    let set = Parser::default().parse::<IdRangeList>(word).map_err(|e| e.to_string())?;
    Ok(set.iter().collect())
}

/// How many names a word stands for.
fn count(word: &str) -> Result<usize, String> {
    let number = |digits: &str| match digits.len() {
        1..=MOST_DIGITS if digits.bytes().all(|b| b.is_ascii_digit()) => {
            digits.parse::<usize>().map_err(|e| e.to_string())
        }
        _ => Err(format!("{digits:?} isn't a number of at most {MOST_DIGITS} digits")),
    };
    let mut product: usize = 1;
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((inside, after)) = after.split_once(']') else { break };
        let adjacent = digits(before.bytes().rev()) + digits(after.bytes());
        let mut sum: usize = 0;
        for range in inside.split(',') {
            let (range, step) = range.split_once('/').unwrap_or((range, "1"));
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            if last.len() + adjacent > MOST_DIGITS {
                return Err(format!("a number in it has more than {MOST_DIGITS} digits"));
            }
            let (first, last, step) = (number(first)?, number(last)?, number(step)?);
            if last < first || step == 0 {
                return Err(format!("the range {range:?} is empty, or its step is 0"));
            }
            sum += (last - first) / step + 1;
        }
        product = product.saturating_mul(sum);
        rest = after;
    }
    Ok(product)
}

/// How many digits come first.
fn digits(bytes: impl Iterator<Item = u8>) -> usize {
    bytes.take_while(u8::is_ascii_digit).count()
}
