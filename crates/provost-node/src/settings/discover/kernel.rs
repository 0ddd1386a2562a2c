/// The arguments that this kernel was booted with.
pub struct KernelLine(String);

impl KernelLine {
    pub(crate) fn new(line: &str) -> Self {
        Self(line.to_owned())
    }

    /// The value of `name=`. As in the kernel, the last one counts; an empty one is none.
    pub fn get(&self, name: &str) -> Option<&str> {
        let words = self.0.split_ascii_whitespace().rev();
        let values = words.filter_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        let mut values =
            values.map(|value: &str| value.trim_matches('"')).filter(|value| !value.is_empty());
        values.next()
    }

    /// Whether `name` is there, with a value or without.
    pub fn has(&self, name: &str) -> bool {
        let mut words = self.0.split_ascii_whitespace();
        words.any(|word| word.split('=').next() == Some(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_argument_counts() {
        let line = KernelLine::new(
            "quiet provost.node=a provost.nodes=x provost.node=\"b\" provost.key= xprovost.key=k",
        );
        assert_eq!(line.get("provost.node"), Some("b"));
        assert_eq!(line.get("provost.key"), None);
        assert_eq!(line.get("quiet"), None);
        assert!(line.has("quiet") && line.has("provost.key") && !line.has("provost"));
    }
}
