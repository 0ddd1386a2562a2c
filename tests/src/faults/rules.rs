use super::Fault;

/// Which of the requests for a path go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// All of them.
    Always,
    /// The next so many.
    Next(usize),
    /// The `n`th from now alone; the first is 1.
    Nth(usize),
}

struct Rule {
    path: String,
    /// How many requests it lets pass first.
    pass: usize,
    /// How many it spoils then.
    left: usize,
    fault: Fault,
}

/// What goes wrong, with which requests.
#[derive(Default)]
pub(super) struct Rules(Vec<Rule>);

impl Rules {
    /// Adds a rule for `path`; one that ends with a slash means all that is below it.
    pub(super) fn add(&mut self, path: &str, times: Times, fault: Fault) {
        let (pass, left) = match times {
            Times::Always => (0, usize::MAX),
            Times::Next(n) => (0, n),
            Times::Nth(n) => (n - 1, 1),
        };
        self.0.push(Rule { path: path.to_owned(), pass, left, fault });
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// What goes wrong with this request: the first rule for it decides, until it is used up.
    pub(super) fn next(&mut self, path: &str) -> Option<Fault> {
        let meant = |rule: &Rule| {
            rule.path == path || (rule.path.ends_with('/') && path.starts_with(&rule.path))
        };
        let rule = self.0.iter_mut().find(|rule| rule.left > 0 && meant(rule))?;
        if rule.pass > 0 {
            rule.pass -= 1;
            return None;
        }
        rule.left -= 1;
        Some(rule.fault.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_decides_until_it_is_used_up() {
        let mut rules = Rules::default();
        rules.add("/plans/", Times::Next(2), Fault::Stall);
        rules.add("/", Times::Nth(2), Fault::Swallow);
        let paths = ["/plans/a", "/plans/b", "/plans/a", "/plans", "/plans"];
        let said = paths.map(|path| rules.next(path));
        let expected = [Some(Fault::Stall), Some(Fault::Stall), None, Some(Fault::Swallow), None];
        assert_eq!(said, expected);
    }
}
