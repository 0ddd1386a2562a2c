//! Go's text/template, which Warewulf, OpenCHAMI and others make files by.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::{Out, missing, skip_part};

/// What `template` makes of `data`, an object; none where nothing here can evaluate it. kubectl, a small
/// program of Go's, prints an object by any template, without a cluster.
pub fn go_template(template: &str, data: Value) -> Option<String> {
    if let Some(missing) = missing::program("kubectl", "kubernetes-client") {
        skip_part(&missing);
        return None;
    }
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(template.as_bytes()).unwrap();
    let mut object =
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "n" } });
    object.as_object_mut().unwrap().extend(data.as_object().unwrap().clone());
    let mut kubectl = Command::new("kubectl");
    kubectl.args(["annotate", "--local", "--kubeconfig=/dev/null", "-f", "-", "a=b", "-o"]);
    kubectl.arg(format!("go-template-file={}", file.path().display()));
    kubectl.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = kubectl.spawn().unwrap();
    child.stdin.take().unwrap().write_all(object.to_string().as_bytes()).unwrap();
    Some(Out::from(child.wait_with_output().unwrap()).expect(0).stdout)
}
