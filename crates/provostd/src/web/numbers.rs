//! Numbers and nodes of big sites in a form that people read.

use provost_plan::nodes::fold;
use provost_steplog::wording;

/// Of more nodes than these not all are folded.
const MOST_FOLDED: usize = 10_000;
/// The longest set that is shown as a whole, in bytes …
const LONGEST_SET: usize = 1_500;
/// … and how many nodes of a longer one are named.
const FEW: usize = 50;

/// `100,000`; up to four digits stay as they are.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let comma = |(at, digit): (usize, char)| {
        let is_next = at > 0 && (digits.len() - at).is_multiple_of(3);
        is_next.then_some(',').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(comma).collect()
}

/// `100,000 nodes`.
pub(super) fn counted(number: usize, noun: &str) -> String {
    let words = wording::count(number, noun);
    let noun = words.trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{}{noun}", grouped(number))
}

/// Nodes as a page names them.
pub(super) struct NameSet {
    /// Folded: all of them, or the first.
    pub(super) names: String,
    /// How many others there are.
    pub(super) more: usize,
    /// What stands for all of them in a command.
    pub(super) all: Option<String>,
}

impl NameSet {
    /// `cause` is the id of the failure that they share.
    pub(super) fn of(nodes: &[String], cause: Option<&str>) -> Self {
        let all = cause.map(|id| format!("@cause:{id}"));
        if nodes.len() <= MOST_FOLDED {
            let names = fold(nodes);
            if names.len() <= LONGEST_SET {
                return Self { names, more: 0, all };
            }
        }
        let few = &nodes[..nodes.len().min(FEW)];
        Self { names: fold(few), more: nodes.len() - few.len(), all }
    }
}

#[cfg(test)]
mod tests {
    use provost_plan::nodes::expand;

    use super::*;

    #[test]
    fn long_numbers_have_groups() {
        for (number, text) in
            [(0, "0"), (9_999, "9999"), (10_000, "10,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(counted(1, "node"), "1 node");
        assert_eq!(counted(100_000, "node"), "100,000 nodes");
    }

    #[test]
    fn of_nodes_without_a_short_set_some_are_named_and_the_cause_stands_for_all() {
        let all = expand("n[00001-09999]").unwrap();
        let set = NameSet::of(&all, Some("ab12"));
        assert_eq!((&*set.names, set.more), ("n[00001-09999]", 0));
        let odd: Vec<String> = all.into_iter().step_by(2).collect();
        let set = NameSet::of(&odd, Some("ab12"));
        assert!(set.names.starts_with("n[00001,00003,") && set.names.ends_with("00099]"));
        assert_eq!((set.more, set.all.as_deref()), (4_950, Some("@cause:ab12")));
    }
}
