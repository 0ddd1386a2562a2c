//! Steps that needn't run again: a marker in STATE/done for each that succeeded.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use provost_bundle::{Digest, FileEntry, When};
use provost_plan::Step;
use provost_record::now;
use serde::{Deserialize, Serialize};

use provost_fs::atomic;

/// The most bytes of a script's name in the name of its marker.
const MOST_NAME: usize = 100;

/// STATE/done.
pub struct Markers {
    folder: PathBuf,
}

/// A step that succeeded, with all that decides whether it has to run again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Marker {
    #[serde(flatten)]
    step: Step,
    /// The script's own.
    digest: Digest,
    /// Of the values of the script's declared inputs.
    inputs: Digest,
    at: Timestamp,
}

impl Marker {
    /// The marker that `step` gets if it succeeds now; none for one that runs each time.
    pub fn of(step: &Step, entry: &FileEntry, env: &[(String, String)]) -> Option<Self> {
        if !matches!(entry.policy.when, Some(When::Once | When::Change)) {
            return None;
        }
        let value = |name: &str| env.iter().rfind(|(n, _)| n == name).map(|(_, value)| value);
        let mut inputs = String::new();
        for name in &entry.policy.inputs {
            // NUL can be in neither, so that no two sets of values look the same.
            let value = value(name).map_or(String::new(), |value| format!("={value}"));
            inputs.push_str(&format!("{name}{value}\0"));
        }
        let inputs = Digest::of(inputs.as_bytes());
        Some(Self { step: step.clone(), digest: entry.sha256, inputs, at: now() })
    }
}

impl Markers {
    /// Those of a node.
    pub fn new(state: &Path) -> Self {
        Self { folder: state.join("done") }
    }

    /// Why the step of `marker` needn't run, if it needn't. A marker that can't be read is ignored.
    pub fn done(&self, marker: &Marker, when: When) -> Option<String> {
        let text = atomic::read(&self.file(&marker.step)).ok()?;
        let found: Marker = serde_json::from_slice(&text).ok()?;
        let unchanged = (found.digest, found.inputs) == (marker.digest, marker.inputs);
        match when {
            _ if found.step != marker.step => None,
            When::Once => Some(format!("done on {}; it runs once", found.at)),
            When::Change if unchanged => {
                Some(format!("done on {}, nothing has changed since", found.at))
            }
            When::Change | When::Always | When::Manual => None,
        }
    }

    /// Notes durably that a step succeeded.
    pub fn put(&self, marker: &Marker) -> io::Result<()> {
        let marker = Marker { at: now(), ..marker.clone() };
        atomic::write(&self.file(&marker.step), &serde_json::to_vec(&marker)?)
    }

    /// Forgets durably that the step succeeded: it runs again and may leave half a result.
    pub fn forget(&self, marker: &Marker) -> io::Result<()> {
        atomic::remove(&self.file(&marker.step))
    }

    fn file(&self, step: &Step) -> PathBuf {
        let words: Vec<&str> =
            std::iter::once(&step.script).chain(&step.args).map(String::as_str).collect();
        let digest = Digest::of(words.join("\0").as_bytes()).to_string();
        let mut name = step.script.replace('/', "_");
        name.truncate(name.floor_char_boundary(MOST_NAME));
        self.folder.join(format!("{name}-{}.json", &digest[..16]))
    }
}

#[cfg(test)]
mod tests {
    use provost_bundle::{Mode, Policy};

    use super::*;

    fn marker(line: &str, text: &str, env: &[(&str, &str)]) -> Marker {
        let policy = Policy {
            when: Some(When::Change),
            inputs: vec!["A".to_owned(), "B".to_owned()],
            ..Policy::default()
        };
        let entry = FileEntry {
            path: "s".to_owned(),
            mode: Mode::Program,
            size: 0,
            sha256: Digest::of(text.as_bytes()),
            policy,
        };
        let env: Vec<_> = env.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Marker::of(&Step::parse(line).unwrap(), &entry, &env).unwrap()
    }

    #[test]
    fn what_has_changed_is_not_done() {
        let state = tempfile::tempdir().unwrap();
        let markers = Markers::new(state.path());
        let done = marker("s x", "text", &[("A", "1"), ("C", "1")]);
        assert!(markers.done(&done, When::Change).is_none());
        markers.put(&done).unwrap();
        let same = marker("s x", "text", &[("A", "1"), ("C", "2")]);
        assert!(markers.done(&same, When::Change).unwrap().contains("nothing has changed"));
        for (other, once) in [
            (marker("s x", "text", &[("A", "2")]), true),
            (marker("s x", "text", &[("A", "1"), ("B", "")]), true),
            (marker("s x", "other", &[("A", "1")]), true),
            (marker("s 'x '", "text", &[("A", "1")]), false),
            (marker("s", "text", &[("A", "1")]), false),
        ] {
            assert!(markers.done(&other, When::Change).is_none(), "{other:?}");
            assert_eq!(markers.done(&other, When::Once).is_some(), once, "{other:?}");
        }
        markers.forget(&done).unwrap();
        assert!(markers.done(&done, When::Once).is_none());
    }

    #[test]
    fn a_damaged_marker_is_ignored() {
        let state = tempfile::tempdir().unwrap();
        let markers = Markers::new(state.path());
        let done = marker("s", "text", &[]);
        markers.put(&done).unwrap();
        let file = markers.file(&done.step);
        let text = std::fs::read(&file).unwrap();
        for len in 0..text.len() {
            std::fs::write(&file, &text[..len]).unwrap();
            assert!(markers.done(&done, When::Once).is_none(), "{len} bytes");
        }
    }
}
