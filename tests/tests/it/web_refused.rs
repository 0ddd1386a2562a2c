//! What a browser shows where there is nothing to show, and what programs get there.

use std::io::{Read, Write};
use std::net::TcpStream;

use provost_tests::Cluster;

/// The answer to a GET of a browser, with its head.
fn browsed(cluster: &Cluster, path: &str) -> String {
    let mut stream = TcpStream::connect(cluster.daemon().admin()).unwrap();
    let accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let request = format!("GET {path} HTTP/1.0\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_path_that_is_not_there_is_a_page_for_browsers_and_json_for_programs() {
    let mut cluster = Cluster::new();
    cluster.configure_daemon("[page]\nname = \"Cluster one\"\n");
    cluster.start();
    for (path, status, says) in [
        ("/nope", "404", "there is no page /nope"),
        ("/nodes/", "404", "there is no page /nodes/"),
        ("/%3Cscript%3E", "404", "there is no page /%3Cscript%3E"),
        ("/nodes/%ff", "400", "hint: check that the request is well-formed"),
    ] {
        let page = browsed(&cluster, path);
        assert_eq!(page.split(' ').nth(1), Some(status), "{path}: {page}");
        let head = page.to_lowercase();
        assert!(head.contains("content-type: text/html"), "{path}: {page}");
        assert!(head.contains("content-security-policy: default-src 'none'"), "{path}: {page}");
        // In the look of the others, with their menu.
        for part in [says, "Cluster one", "href=\"/nodes\"", "hint: "] {
            assert!(page.contains(part), "{path}: {part:?} isn't in {page}");
        }
        assert!(!page.contains("/<script>"), "{page}");
        let json = cluster.daemon().answer(path);
        assert!(json.to_lowercase().contains("content-type: application/json"), "{path}: {json}");
    }
    // Who looks at the API with a browser wants to see what it answers.
    for path in ["/v1/nope", "/v1/nodes/none"] {
        let json = browsed(&cluster, path);
        assert!(json.contains("{\"error\":"), "{path}: {json}");
    }
}
