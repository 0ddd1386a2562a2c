use std::io::IsTerminal;

/// Colours, where a person looks at standard output and wants them (<https://no-color.org>).
#[derive(Clone, Copy, Debug)]
pub struct Paint(bool);

impl Paint {
    /// As standard output and the environment have it.
    pub fn of_stdout() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self(std::io::stdout().is_terminal() && !unwanted)
    }

    /// No colours, or colours whoever looks.
    pub const fn always(colours: bool) -> Self {
        Self(colours)
    }

    /// What has failed.
    pub fn bad(self, text: &str) -> String {
        self.sgr("1;31", text)
    }

    /// What is well.
    pub fn good(self, text: &str) -> String {
        self.sgr("32", text)
    }

    /// What is going on, or to be noticed.
    pub fn busy(self, text: &str) -> String {
        self.sgr("33", text)
    }

    /// What matters less.
    pub fn faint(self, text: &str) -> String {
        self.sgr("2", text)
    }

    /// What a reader looks for.
    pub fn strong(self, text: &str) -> String {
        self.sgr("1", text)
    }

    /// By ECMA-48's "select graphic rendition".
    fn sgr(self, code: &str, text: &str) -> String {
        match self.0 && !text.is_empty() {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}
