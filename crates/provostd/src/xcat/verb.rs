use provost_store::{ClaimContent, Status};

/// The longest text that is kept of what a node claims, in characters.
const TEXT: usize = 500;

/// A node's request on xCAT's status port.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// Its status, or a program's.
    Claim(ClaimContent),
    /// It asks for its `mypostscript`.
    GetPostscript,
    /// It asks for its synclists.
    SyncFiles,
    /// It asks for something that needs no action here, such as most of xCAT's words for a status.
    /// It is answered, because a client without a `done` retries for two minutes, and delays a
    /// node's shutdown.
    Ignored,
}

impl Verb {
    /// Reads a line; none if its verb is unknown.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (verb, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        Some(match verb {
            "next" => Self::status(Status::Booting, ""),
            "installstatus" => {
                let (word, message) = rest.split_once(' ').unwrap_or((rest, ""));
                // `defined` is the store's own word; no node sends it.
                let is_it = |status: &Status| status.as_str() == word && *status != Status::Defined;
                match Status::ALL.into_iter().find(is_it) {
                    Some(status) => Self::status(status, message),
                    None if is_word(word) => Self::Ignored,
                    None => return None,
                }
            }
            "hpcbootstatus" => {
                let (program, appstatus) = rest.split_once('=')?;
                let (program, appstatus) = (text(program), text(appstatus));
                Self::Claim(ClaimContent::Program { program, appstatus })
            }
            "getpostscript" => Self::GetPostscript,
            "syncfiles" => Self::SyncFiles,
            "unlocktftpdir" | "locktftpdir" | "setiscsiparms" | "basecustremv"
            | "installmonitor" => Self::Ignored,
            _ => return None,
        })
    }

    fn status(status: Status, message: &str) -> Self {
        let message = Some(text(message)).filter(|message| !message.is_empty());
        Self::Claim(ClaimContent::Status { status, message })
    }
}

/// Whether it can be a status of xCAT's or a site's own.
fn is_word(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_=".contains(c))
}

/// A node's text as admins see it: one line of a limited length.
fn text(text: &str) -> String {
    text.trim().chars().filter(|c| !c.is_control()).take(TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_one_thing() {
        let status = |status, message: &str| {
            let message = Some(message.to_owned()).filter(|m| !m.is_empty());
            Some(Verb::Claim(ClaimContent::Status { status, message }))
        };
        assert_eq!(Verb::parse("next"), status(Status::Booting, ""));
        assert_eq!(Verb::parse("installstatus booted\r"), status(Status::Booted, ""));
        assert_eq!(
            Verb::parse("installstatus failed no \u{1b}[31mroom"),
            status(Status::Failed, "no [31mroom")
        );
        let gpfs = ClaimContent::Program { program: "gpfs".into(), appstatus: "active=1".into() };
        assert_eq!(Verb::parse("hpcbootstatus gpfs=active=1"), Some(Verb::Claim(gpfs)));
        assert_eq!(Verb::parse("unlocktftpdir"), Some(Verb::Ignored));
        for word in ["powering-off", "shell", "runcmd=bmcsetup"] {
            assert_eq!(Verb::parse(&format!("installstatus {word}")), Some(Verb::Ignored));
        }
        for line in [
            "",
            "nextt",
            "installstatus",
            "installstatus \u{e4}",
            "hpcbootstatus x",
            "GET / HTTP/1.1",
        ] {
            assert_eq!(Verb::parse(line), None, "{line}");
        }
    }
}
