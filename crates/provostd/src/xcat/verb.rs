use provost_store::{Says, Status};

/// The longest text that is kept of what a node claims, in characters.
const TEXT: usize = 500;

/// What a node may say on xCAT's status port.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// It says how it is.
    Claim(Says),
    /// It wants its `mypostscript`.
    GetPostscript,
    /// It wants its files brought up to date.
    SyncFiles,
    /// It wants something that is done already, or is nobody's affair here, as many words for a
    /// status are. It is answered: a client that gets no `done` tries for two minutes, and holds up
    /// a node's shutdown so.
    Nothing,
}

impl Verb {
    /// Reads a line; none if it says nothing that is known.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (verb, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        Some(match verb {
            "next" => Self::status(Status::Booting, ""),
            "installstatus" => {
                let (word, message) = rest.split_once(' ').unwrap_or((rest, ""));
                // No node knows better than the store whether it is but defined.
                let is_it = |status: &Status| status.as_str() == word && *status != Status::Defined;
                match Status::ALL.into_iter().find(is_it) {
                    Some(status) => Self::status(status, message),
                    None if is_word(word) => Self::Nothing,
                    None => return None,
                }
            }
            "hpcbootstatus" => {
                let (program, appstatus) = rest.split_once('=')?;
                let (program, appstatus) = (text(program), text(appstatus));
                Self::Claim(Says::Program { program, appstatus })
            }
            "getpostscript" => Self::GetPostscript,
            "syncfiles" => Self::SyncFiles,
            "unlocktftpdir" | "locktftpdir" | "setiscsiparms" | "basecustremv"
            | "installmonitor" => Self::Nothing,
            _ => return None,
        })
    }

    fn status(status: Status, message: &str) -> Self {
        let message = Some(text(message)).filter(|message| !message.is_empty());
        Self::Claim(Says::Status { status, message })
    }
}

/// Whether xCAT could have it as a status; sites have words of their own, too.
fn is_word(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_=".contains(c))
}

/// Whatever a node says is shown to admins: as one line, and not for ever.
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
            Some(Verb::Claim(Says::Status { status, message }))
        };
        assert_eq!(Verb::parse("next"), status(Status::Booting, ""));
        assert_eq!(Verb::parse("installstatus booted\r"), status(Status::Booted, ""));
        assert_eq!(
            Verb::parse("installstatus failed no \u{1b}[31mroom"),
            status(Status::Failed, "no [31mroom")
        );
        let gpfs = Says::Program { program: "gpfs".into(), appstatus: "active=1".into() };
        assert_eq!(Verb::parse("hpcbootstatus gpfs=active=1"), Some(Verb::Claim(gpfs)));
        assert_eq!(Verb::parse("unlocktftpdir"), Some(Verb::Nothing));
        for word in ["powering-off", "shell", "runcmd=bmcsetup"] {
            assert_eq!(Verb::parse(&format!("installstatus {word}")), Some(Verb::Nothing));
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
