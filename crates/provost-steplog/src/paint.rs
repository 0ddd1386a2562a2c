use std::io::IsTerminal;

/// Colours, where standard output is a terminal whose user wants them (<https://no-color.org>).
#[derive(Clone, Copy, Debug)]
pub struct Paint(bool);

impl Paint {
    /// As standard output and the environment have it.
    pub fn of_stdout() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self(std::io::stdout().is_terminal() && !unwanted)
    }

    /// Colours or none, without a look at standard output.
    pub const fn always(colours: bool) -> Self {
        Self(colours)
    }

    /// Whether there are colours.
    pub fn is_on(self) -> bool {
        self.0
    }

    /// What has failed.
    pub fn bad(self, text: &str) -> String {
        self.sgr("1;31", text)
    }

    /// What is well.
    pub fn good(self, text: &str) -> String {
        self.sgr("32", text)
    }

    /// What is running, or to be noticed.
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
