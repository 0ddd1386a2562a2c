use std::collections::{HashMap, HashSet};
use std::fmt;
use std::str::FromStr;

use nodeset::{IdRangeList, Parser};

use crate::name::is_node_name;

/// A text that names nodes: names, ranges and sets, with ClusterShell's operators between them. They
/// apply from left to right: `a,b!c,d` is everything but `c`, and `d`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    terms: Vec<(Operator, Term)>,
}

/// What becomes of the nodes to the left, with those to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    /// `,`, or a blank.
    Union,
    /// `!`: the first without the second.
    Difference,
    /// `&`: those of both.
    Intersection,
    /// `^`: those of only one.
    SymmetricDifference,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    Names(Vec<String>),
    Sets(Vec<SetName>),
}

impl Operator {
    fn of(c: char) -> Option<Self> {
        match c {
            ',' => Some(Self::Union),
            '!' => Some(Self::Difference),
            '&' => Some(Self::Intersection),
            '^' => Some(Self::SymmetricDifference),
            _ => None,
        }
    }
}

impl Term {
    fn len(&self) -> usize {
        match self {
            Self::Names(names) => names.len(),
            Self::Sets(sets) => sets.len(),
        }
    }
}

/// The name of a set of nodes: `@compute`, or with its source `@rack:r1`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetName {
    /// Where it is defined.
    pub source: Option<String>,
    /// Its name there.
    pub name: String,
}

impl fmt::Display for SetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some(source) => write!(f, "@{source}:{}", self.name),
            None => write!(f, "@{}", self.name),
        }
    }
}

impl FromStr for Expression {
    type Err = NodesError;

    fn from_str(text: &str) -> Result<Self, NodesError> {
        let refuse = |why: String| NodesError::new(text, why);
        let mut terms = Vec::new();
        let mut room = MOST;
        for (operator, word) in words(text).map_err(refuse)? {
            let term = read(word, room).map_err(refuse)?;
            room -= term.len();
            terms.push((operator, term));
        }
        match terms.is_empty() {
            true => Err(refuse("it is empty".to_owned())),
            false => Ok(Self { terms }),
        }
    }
}

impl Expression {
    /// The sets that it names.
    pub fn sets(&self) -> impl Iterator<Item = &SetName> {
        self.terms.iter().flat_map(|(_, term)| match term {
            Term::Sets(sets) => &sets[..],
            Term::Names(_) => &[],
        })
    }

    /// The nodes, each once, in the order of the text; none may be left. `resolve` knows the sets'
    /// nodes.
    pub fn nodes<E>(
        &self,
        mut resolve: impl FnMut(&SetName) -> Result<Vec<String>, E>,
    ) -> Result<Vec<String>, E> {
        let mut nodes = Ordered::default();
        for (operator, term) in &self.terms {
            let names = match term {
                Term::Names(names) => names.clone(),
                Term::Sets(sets) => {
                    sets.iter().map(&mut resolve).collect::<Result<Vec<_>, E>>()?.concat()
                }
            };
            nodes.apply(*operator, names);
        }
        Ok(nodes.into_names())
    }
}

/// Names with their places. Each operation costs what its right side has, whatever the left one has.
#[derive(Default)]
struct Ordered {
    places: HashMap<String, usize>,
    next: usize,
}

impl Ordered {
    fn apply(&mut self, operator: Operator, names: Vec<String>) {
        match operator {
            Operator::Union => names.into_iter().for_each(|name| self.add(name)),
            Operator::Difference => {
                for name in &names {
                    self.places.remove(name);
                }
            }
            Operator::Intersection => {
                let both = names.iter().filter_map(|name| self.places.remove_entry(name));
                self.places = both.collect();
            }
            Operator::SymmetricDifference => {
                for name in names.into_iter().collect::<HashSet<_>>() {
                    if self.places.remove(&name).is_none() {
                        self.add(name);
                    }
                }
            }
        }
    }

    fn add(&mut self, name: String) {
        self.next += 1;
        self.places.entry(name).or_insert(self.next);
    }

    fn into_names(self) -> Vec<String> {
        let mut names: Vec<_> = self.places.into_iter().collect();
        names.sort_unstable_by_key(|(_, place)| *place);
        names.into_iter().map(|(name, _)| name).collect()
    }
}

/// The words between operators, each with the one before it. Blanks around an operator mean nothing.
fn words(text: &str) -> Result<Vec<(Operator, &str)>, String> {
    let mut words = Vec::new();
    // The operator that waits for its word.
    let mut waits: Option<char> = None;
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        if let Some(operator) = Operator::of(c) {
            rest = &rest[1..];
            match waits {
                // Commas may be left over from a list that was put together.
                Some(',') | None if operator == Operator::Union => {}
                Some(before) => return Err(format!("nothing stands between {before:?} and {c:?}")),
                None if words.is_empty() => return Err(format!("nothing stands before {c:?}")),
                None => {}
            }
            waits = Some(c);
        } else {
            let (word, after) = rest.split_at(end_of_word(rest)?);
            words.push((waits.take().and_then(Operator::of).unwrap_or(Operator::Union), word));
            rest = after;
        }
        rest = rest.trim_start();
    }
    match waits {
        Some(c) if c != ',' => Err(format!("nothing stands after {c:?}")),
        _ => Ok(words),
    }
}

/// How long the first word is: up to an operator or a blank that is outside brackets.
fn end_of_word(text: &str) -> Result<usize, String> {
    let mut is_inside = false;
    for (at, c) in text.char_indices() {
        match c {
            '[' if !is_inside => is_inside = true,
            ']' if is_inside => is_inside = false,
            '[' | ']' => return Err("its brackets don't match".to_owned()),
            _ if is_inside => {}
            c if c.is_whitespace() || Operator::of(c).is_some() => return Ok(at),
            _ => {}
        }
    }
    match is_inside {
        true => Err("its brackets don't match".to_owned()),
        false => Ok(text.len()),
    }
}

/// What one word stands for, at most `most` names: a range, or a set; `@rack[1-4]` is the nodes of
/// four.
fn read(word: &str, most: usize) -> Result<Term, String> {
    let expand = |word: &str| match word.contains('[') {
        true => expand(word, most),
        false if most == 0 => Err(format!("it stands for more than {MOST}")),
        false => Ok(vec![word.to_owned()]),
    };
    let Some(set) = word.strip_prefix('@') else {
        let names = expand(word)?;
        return match names.iter().find(|name| !is_node_name(name)) {
            Some(name) => Err(format!("{name:?} can't be a node's name")),
            None => Ok(Term::Names(names)),
        };
    };
    let (source, name) = match set.split_once(':') {
        Some((source, name)) => (Some(source), name),
        None => (None, set),
    };
    if name.is_empty() || source.is_some_and(str::is_empty) || set.contains('@') {
        return Err(format!("{word:?} can't be a group's name"));
    }
    let set = |name| SetName { source: source.map(str::to_owned), name };
    Ok(Term::Sets(expand(name)?.into_iter().map(set).collect()))
}

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

/// The most nodes that one text may name.
pub(super) const MOST: usize = 100_000;

/// Why a text doesn't name nodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} names no nodes: {why}")]
pub struct NodesError {
    text: String,
    why: String,
    hint: Option<String>,
}

impl NodesError {
    /// An error of `text`, without its own hint.
    pub(super) fn new(text: &str, why: impl Into<String>) -> Self {
        Self { text: text.chars().take(200).collect(), why: why.into(), hint: None }
    }

    /// An error of the set that `text` names.
    pub(crate) fn of_set(text: &str, why: impl Into<String>, hint: Option<String>) -> Self {
        Self { hint, ..Self::new(text, why) }
    }

    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        let usual = "write names and ranges such as cn001, cn[001-512,600] or r[1-4]n[01-32], with \
                     commas between; ! excludes: cn[001-512]!cn007";
        self.hint.clone().unwrap_or_else(|| usual.to_owned())
    }
}
