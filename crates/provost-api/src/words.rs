//! Enumerated words. Each set is open: programs of different versions live side by side, so a word of a newer one is kept
//! ([`Cause::Other`]), shown and passed on, and refuses nothing that it stands in.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserializer, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

/// The longest word of another program, in bytes. Ours have at most 20.
const MAX_WORD: usize = 46;

/// A word of another program, which may be a hostile one: control characters are replaced, and what is too long
/// is cut off, so that it can be shown as it is. Records are stored as they came all the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Word {
    bytes: [u8; MAX_WORD],
    length: u8,
}

impl Word {
    fn new(text: &str) -> Self {
        let mut word = Self { bytes: [0; MAX_WORD], length: 0 };
        for char in text.chars() {
            let char = if char.is_control() { char::REPLACEMENT_CHARACTER } else { char };
            let mut utf8 = [0; 4];
            let utf8 = char.encode_utf8(&mut utf8).as_bytes();
            let (begin, end) = (usize::from(word.length), usize::from(word.length) + utf8.len());
            let Some(place) = word.bytes.get_mut(begin..end) else { break };
            place.copy_from_slice(utf8);
            word.length += utf8.len() as u8;
        }
        word
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        // Whole characters were copied.
        str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

/// Declares a set of words: an enum with a variant for each, and one for all others.
macro_rules! words {
    (
        $(#[$about:meta])*
        $name:ident { $( $(#[$doc:meta])* $variant:ident = $word:literal, )+ }
    ) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $(#[$about])*
        pub enum $name {
            $( $(#[$doc])* $variant, )+
            /// A word of a newer program.
            Other(Word),
        }

        impl $name {
            /// The words of this version, in their order.
            pub const ALL: [Self; [$( $word, )+].len()] = [$( Self::$variant, )+];

            /// The word.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $word, )+
                    Self::Other(word) => word.as_str(),
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $( $word => Self::$variant, )+
                    _ => Self::Other(Word::new(word)),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                // Open: examples, not an enumeration.
                schemars::json_schema!({ "type": "string", "examples": [$( $word, )+] })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Word;

                impl Visitor<'_> for Word {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a word")
                    }

                    fn visit_str<E>(self, word: &str) -> Result<$name, E> {
                        Ok(word.into())
                    }
                }
                from.deserialize_str(Word)
            }
        }
    };
}

words! {
    /// What began or ended. OpenShift knows these eight.
    Phase {
        /// A run begins.
        ServiceStart = "service start",
        /// A run has ended.
        ServiceEnd = "service end",
        /// A stage begins.
        StageStart = "stage start",
        /// A stage has ended.
        StageEnd = "stage end",
        /// A unit's pre-command begins.
        PreCommandStart = "pre-command start",
        /// A unit's pre-command has ended.
        PreCommandEnd = "pre-command end",
        /// A unit's post-command begins.
        PostCommandStart = "post-command start",
        /// A unit's post-command has ended.
        PostCommandEnd = "post-command end",
    }
}

impl Phase {
    /// Whether it ends a run, or a command before or after one.
    pub fn is_last(self) -> bool {
        matches!(self, Self::ServiceEnd | Self::PreCommandEnd | Self::PostCommandEnd)
    }
}

words! {
    /// How something ended.
    Outcome {
        /// It succeeded.
        Success = "success",
        /// It failed.
        Failure = "failure",
    }
}

words! {
    /// What kind of failure it was.
    Cause {
        /// The script ended with an exit status other than 0.
        Exit = "exit",
        /// A signal ended the script.
        Signal = "signal",
        /// The script, or the whole run, exceeded its time limit.
        Timeout = "timeout",
        /// A signal from outside ended the run, or a crash cut it off.
        Interrupted = "interrupted",
        /// The script isn't in the bundle.
        Missing = "missing",
        /// The script could not be started: rights, format, interpreter.
        Exec = "exec",
        /// Something could not be fetched from any server.
        Fetch = "fetch",
        /// Something that was fetched isn't what was signed.
        Verify = "verify",
        /// The configuration is wrong, or the command line.
        Config = "config",
        /// This node itself is in the way: a full or read-only disk, missing rights, a lock that
        /// another process holds.
        Local = "local",
        /// The guard holds the node: too many attempts have failed.
        Held = "held",
        /// A reboot failed, or would have been one more than allowed. On an end that is a success: the
        /// step asked for a reboot, after which the run goes on.
        Reboot = "reboot",
        /// The node stopped reporting. No node reports this; the management node finds it.
        Lost = "lost",
    }
}

impl Cause {
    /// The same for people.
    pub fn words(&self) -> &str {
        match self {
            Self::Exit | Self::Signal => "failed",
            Self::Timeout => "time-out",
            Self::Interrupted => "interrupted",
            Self::Missing => "missing script",
            Self::Exec => "could not be started",
            Self::Fetch => "fetch error",
            Self::Verify => "verification error",
            Self::Config => "configuration error",
            Self::Local => "local error",
            Self::Held => "held",
            Self::Reboot => "reboot error",
            Self::Lost => "lost",
            Self::Other(word) => word.as_str(),
        }
    }
}

words! {
    /// The three uses. Each has a journal of its own.
    Service {
        /// From an installer's `%post`: the postscripts.
        Kickstart = "kickstart",
        /// At a boot.
        Boot = "boot",
        /// Started by an admin.
        Run = "run",
    }
}

impl Service {
    /// The command that runs what a run of it left unfinished. An admin's own run has none: what it
    /// ran is on its command line.
    pub fn continue_command(self) -> Option<&'static str> {
        match self {
            Self::Kickstart => Some("provost kickstart --continue"),
            Self::Boot => Some("provost boot --continue"),
            Self::Run | Self::Other(_) => None,
        }
    }
}

words! {
    /// A node's status, in xCAT's words and in the order of a node's life.
    #[derive(Default)]
    Status {
        /// It has a token and has not reported yet.
        #[default]
        Defined = "defined",
        /// Its installer runs the postscripts.
        Installing = "installing",
        /// Its installer is done; it boots next.
        Booting = "booting",
        /// It boots from the network.
        Netbooting = "netbooting",
        /// It boots what was installed.
        Postbooting = "postbooting",
        /// Its boot succeeded.
        Booted = "booted",
        /// Its kickstart or boot has failed.
        Failed = "failed",
    }
}

words! {
    /// The status of the last rerun, in xCAT's words.
    UpdateStatus {
        /// It is running.
        Syncing = "syncing",
        /// It succeeded.
        Synced = "synced",
        /// It failed.
        Failed = "failed",
    }
}

words! {
    /// What has happened, of which receivers are notified.
    NoticeKind {
        /// A node's boot succeeded.
        Booted = "booted",
        /// Its kickstart, its boot or a rerun failed.
        Failed = "failed",
        /// The guard holds it.
        Held = "held",
        /// It has stopped reporting.
        Lost = "lost",
        /// It tries to report, and has no valid token or identity.
        Pending = "pending",
        /// Of many nodes that booted at once none is booting any more.
        StormDone = "storm-done",
    }
}

words! {
    /// Whether a node may run.
    #[derive(Default)]
    Directive {
        /// It may.
        #[default]
        Proceed = "proceed",
        /// It may not: the guard holds it.
        Hold = "hold",
    }
}

words! {
    /// What a node lacks to report.
    AuthFailure {
        /// It sends no token.
        Missing = "no-token",
        /// Its token is unknown.
        Unknown = "unknown-token",
        /// Its token is another node's.
        OtherNodes = "other-nodes-token",
        /// It sends a token by plain HTTP, which isn't allowed here.
        PlainHttp = "plain-http",
        /// Its key is unknown.
        UnknownKey = "unknown-key",
        /// Its key is another node's.
        OtherNodesKey = "other-nodes-key",
        /// Its identity has expired.
        Ended = "identity-ended",
        /// Its identity was revoked.
        Revoked = "identity-revoked",
        /// Its key waits for an admin.
        NotApproved = "not-approved",
        /// Its key waits for an admin, and it has another.
        SecondKey = "second-key",
        /// An admin has rejected its key.
        Rejected = "rejected-key",
        /// Its join token is unknown or replaced.
        UnknownJoin = "unknown-join-token",
        /// Its join token was used before.
        SpentJoin = "spent-join-token",
        /// Its join token has expired.
        EndedJoin = "expired-join-token",
        /// Its join token is valid only from another address.
        ElsewhereJoin = "join-token-elsewhere",
        /// More nodes or keys came from its address than are kept, or more keys of it.
        TooMany = "too-many",
        /// It asks for a program that isn't here.
        UnknownProgram = "unknown-program",
        /// Its installer couldn't begin, and it has no token that proves who it is.
        NotBegun = "not-begun",
        /// It isn't in what is published.
        Unpublished = "not-published",
    }
}

impl AuthFailure {
    /// The same for people.
    pub fn words(&self) -> &str {
        match self {
            Self::Missing => "no token",
            Self::Unknown => "unknown token",
            Self::OtherNodes => "another node's token",
            Self::PlainHttp => "token by plain HTTP",
            Self::UnknownKey => "unknown key",
            Self::OtherNodesKey => "another node's key",
            Self::Ended => "identity has ended",
            Self::Revoked => "identity was revoked",
            Self::NotApproved => "not approved",
            Self::SecondKey => "has another key",
            Self::Rejected => "rejected key",
            Self::UnknownJoin => "unknown join token",
            Self::SpentJoin => "spent join token",
            Self::EndedJoin => "expired join token",
            Self::ElsewhereJoin => "join token from elsewhere",
            Self::TooMany => "too many",
            Self::UnknownProgram => "unknown program",
            Self::NotBegun => "installer couldn't begin",
            Self::Unpublished => "not published",
            Self::Other(word) => word.as_str(),
        }
    }
}

words! {
    /// What an admin may do. Each role may also do what those before it may.
    Role {
        /// See nodes, records and logs.
        Read = "read",
        /// Change what provostd knows: tokens, releases, removals.
        Operate = "operate",
        /// Change what nodes run.
        Publish = "publish",
    }
}

words! {
    /// What expires.
    Expires {
        /// What nodes run.
        Publication = "publication",
        /// A node's identity.
        Identity = "identity",
        /// A join token that wasn't used yet.
        Join = "join",
        /// An admin's token.
        Admin = "admin",
        /// A certificate of provostd.
        Certificate = "certificate",
    }
}

/// A role that an admin can't be given.
#[derive(Debug, thiserror::Error)]
#[error("unknown role {0:?}; expected read, operate or publish")]
pub struct UnknownRole(String);

impl FromStr for Role {
    type Err = UnknownRole;

    /// A role that is given to an admin: one of this version.
    fn from_str(word: &str) -> Result<Self, UnknownRole> {
        match word.into() {
            Self::Other(_) => Err(UnknownRole(word.to_owned())),
            known => Ok(known),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_newer_program_is_kept_as_it_came() {
        let cause: Cause = serde_json::from_str(r#""melted""#).unwrap();
        assert!(matches!(cause, Cause::Other(_)));
        assert_eq!(serde_json::to_string(&cause).unwrap(), r#""melted""#);
        assert_eq!((cause.words(), &*format!("{cause:<8}|")), ("melted", "melted  |"));
        assert_eq!(Cause::from("timeout"), Cause::Timeout);
        for cause in Cause::ALL {
            assert_eq!(Cause::from(cause.as_str()), cause);
        }
    }

    #[test]
    fn a_hostile_word_does_nothing_to_a_terminal() {
        assert_eq!(Status::from("\u{1b}[2J\nlate").as_str(), "\u{fffd}[2J\u{fffd}late");
        let long = Status::from(&*"ä".repeat(1000));
        assert_eq!(long.as_str(), "ä".repeat(MAX_WORD / 2));
    }
}
