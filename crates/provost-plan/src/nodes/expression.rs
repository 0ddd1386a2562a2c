use std::collections::{HashMap, HashSet};
use std::fmt;
use std::str::FromStr;

use super::error::{MOST, NodesError};
use super::ranges;
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
        true => ranges::expand(word, most),
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
