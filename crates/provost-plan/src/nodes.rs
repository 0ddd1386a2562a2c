//! Node names, and the folded ranges in which people write many of them: `cn[001-512,600]`.

use std::collections::BTreeSet;

use nodeset::{IdRangeList, Parser};

use crate::folded;
use crate::name::is_node_name;

/// The most nodes that one text may name.
const MOST: usize = 100_000;
/// The longest number in a range, together with the digits next to its brackets, in digits. The
/// folding library overflows above it.
const MOST_DIGITS: usize = 9;

/// Why a text doesn't name nodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} names no nodes: {why}")]
pub struct NodesError {
    text: String,
    why: String,
}

impl NodesError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        "write names and ranges such as cn001, cn[001-512,600] or r[1-4]n[01-32], with commas between"
            .to_owned()
    }
}

/// The names that `text` stands for, in its order, each once. Leading zeros are
/// kept. Groups (`@name`) are unknown here.
pub fn expand(text: &str) -> Result<Vec<String>, NodesError> {
    let refuse = |why: String| NodesError { text: text.chars().take(200).collect(), why };
    let mut seen = BTreeSet::new();
    let mut names = Vec::new();
    for term in terms(text).map_err(&refuse)? {
        let expanded = if term.contains('[') {
            ranges(term, MOST - names.len()).map_err(&refuse)?
        } else {
            vec![term.to_owned()]
        };
        for name in expanded {
            if !is_node_name(&name) {
                return Err(refuse(format!("{name:?} can't be a node's name")));
            }
            if seen.insert(name.clone()) {
                names.push(name);
            }
        }
        if names.len() > MOST {
            return Err(refuse(format!("it stands for more than {MOST}")));
        }
    }
    match names.is_empty() {
        true => Err(refuse("it is empty".to_owned())),
        false => Ok(names),
    }
}

/// The names, folded: the reverse of [`expand`], each once.
pub fn fold(names: &[String]) -> String {
    // A name without a letter could be read as a range.
    let has_letter = |name: &&str| name.contains(|c: char| c.is_ascii_alphabetic());
    let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let (foldable, rest): (Vec<&str>, Vec<&str>) = names.into_iter().partition(has_letter);
    let mut text = folded::fold(&foldable);
    text.extend(rest.into_iter().map(str::to_owned));
    text.join(",")
}

/// The parts between commas that are outside brackets.
fn terms(text: &str) -> Result<Vec<&str>, String> {
    let mut depth = 0;
    let mut start = 0;
    let mut terms = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '[' if depth == 0 => depth = 1,
            ']' if depth == 1 => depth = 0,
            '[' | ']' => return Err("its brackets don't match".to_owned()),
            ',' if depth == 0 => {
                terms.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if depth != 0 {
        return Err("its brackets don't match".to_owned());
    }
    terms.push(&text[start..]);
    Ok(terms.into_iter().map(str::trim).filter(|term| !term.is_empty()).collect())
}

/// The names that a term with brackets stands for. The library has no limit, so the size is
/// checked first.
fn ranges(term: &str, most: usize) -> Result<Vec<String>, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-[],/".contains(c);
    if let Some(c) = term.chars().find(|c| !plain(*c)) {
        return Err(format!("{c:?} can't be in it"));
    }
    if count(term)? > most {
        return Err(format!("it stands for more than {MOST}"));
    }
    let set = Parser::default().parse::<IdRangeList>(term).map_err(|e| e.to_string())?;
    Ok(set.iter().collect())
}

/// How many names a term stands for.
fn count(term: &str) -> Result<usize, String> {
    let number = |digits: &str| match digits.len() {
        1..=MOST_DIGITS if digits.bytes().all(|b| b.is_ascii_digit()) => {
            digits.parse::<usize>().map_err(|e| e.to_string())
        }
        _ => Err(format!("{digits:?} isn't a number of at most {MOST_DIGITS} digits")),
    };
    let mut product: usize = 1;
    let mut rest = term;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn expanded(text: &str) -> String {
        expand(text).unwrap().join(" ")
    }

    #[test]
    fn ranges_are_written_as_people_write_them() {
        assert_eq!(expanded("cn[001-003,600]"), "cn001 cn002 cn003 cn600");
        assert_eq!(expanded("b, a ,cn[9-10],a"), "b a cn9 cn10");
        assert_eq!(expanded("r[1-2]n[01-02]-ib"), "r1n01-ib r1n02-ib r2n01-ib r2n02-ib");
        assert_eq!(expanded("cn[1-5/2]"), "cn1 cn3 cn5");
        assert_eq!(
            expanded("login-1,10,1-5,node20261120170001123"),
            "login-1 10 1-5 node20261120170001123"
        );
        assert_eq!(expand("cn[00001-99999]").unwrap().len(), 99_999);
    }

    #[test]
    fn what_names_no_nodes_is_refused() {
        for bad in [
            "",
            " , ",
            "@compute",
            "@*",
            "cn[1-3]@x",
            "cn[1-",
            "cn]1[",
            "cn[[1]]",
            "cn[]",
            "cn[3-1]",
            "cn[1-5/0]",
            "cn[1-010]",
            "cn[a-b]",
            "cn[1-999999999]",
            "r[1-1000]c[1-1000]",
            "cn[1-2]0000000000",
            "999999999[1-2]",
            "cn[1]!cn2",
            "cn[1-2]&cn2",
            "a b",
            "a - b",
            "-cn1",
            ".cn",
            "../x",
            "cn/1",
            "cn[1]/2",
            "ä",
            "cn1\ncn2",
            "a;b",
            "cn[1-100001]",
            "cn[1-99999],cn[200001-300000]",
        ] {
            assert!(expand(bad).is_err(), "{bad:?} gives {:?}", expand(bad));
        }
    }

    #[test]
    fn names_are_folded() {
        let fold = |text: &str| fold(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(fold("cn001 cn003 cn002 cn002"), "cn[001-003]");
        assert_eq!(fold("cn9 cn10 login"), "cn[9-10],login");
        assert_eq!(fold("1-5 cn1"), "cn1,1-5");
        assert_eq!(fold("n99999999999999999999 n1"), "n1,n99999999999999999999");
        assert_eq!(fold("a3 a04"), "a04,a3");
        assert_eq!(fold("n1 n01 n10 n2"), "n[01,10],n[1-2]");
        assert_eq!(fold("r1n1.x r1n2.x r2n1.x r2n2.x r3n1.x"), "r3n1.x,r[1-2]n[1-2].x");
        assert_eq!(super::fold(&[]), "");
        assert_eq!(super::fold(&expand("cn[00001-99999]").unwrap()), "cn[00001-99999]");
    }

    proptest! {
        #[test]
        fn folding_loses_nothing(names in prop::collection::btree_set("[a-c]{0,1}[0-9]{1,3}(-[a-b][0-9]{1,2})?", 1..30)) {
            let folded = fold(&names.iter().cloned().collect::<Vec<_>>());
            let back: BTreeSet<String> = expand(&folded).unwrap().into_iter().collect();
            prop_assert_eq!(back, names);
        }

        #[test]
        fn no_text_brings_it_down(text in r"[a-b0-9,\[\]/@!& ().-]{0,24}") {
            let _ = expand(&text);
        }
    }
}
