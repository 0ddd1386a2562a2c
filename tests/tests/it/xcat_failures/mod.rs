//! The seventeen ways in which xCAT's own scripts fail on a node, numbered, each with what happens
//! here.

mod crowd;
mod fetching;
mod looking;
mod running;
mod telling;
mod waiting;

use provost_tests::program;
use provost_tests::xcat::{Web, WebKind, XcatNode, XcatServer, mypostscript};
use serde_json::Value;

/// Tells that it ran.
const RAN: &str = "#!/bin/sh\necho \"${0#./}\" >>../ran\n";

/// No report to nobody holds a test up.
const IN_VAIN: &str = "[report]\ndeadline = \"100ms\"\n";

/// A management node with its web server, and the node `cn001`.
struct Site {
    server: XcatServer,
    web: Web,
    node: XcatNode,
}

impl Site {
    /// Its node runs `scripts`, each with its text, as postscripts, in order, and then `last`.
    fn new(scripts: &[(&str, &str)]) -> Self {
        let (server, web) = XcatServer::with_web(WebKind::Apache);
        let mut names: Vec<&str> = Vec::new();
        for (name, text) in scripts.iter().chain(&[("last", RAN)]) {
            server.script(name, text);
            names.push(name);
        }
        server.mypostscript("cn001", &mypostscript("NODE='cn001'\nexport NODE", &names, &[]));
        // Its building is nobody's delay.
        program("provost");
        let node = server.node("cn001", web.address());
        let site = Self { server, web, node };
        site.configure("");
        site
    }

    /// Configures the node.
    fn configure(&self, text: &str) {
        self.node.configure(&format!("{text}{IN_VAIN}"));
    }

    /// The names of the scripts that have run.
    fn ran(&self) -> Vec<String> {
        let told = std::fs::read_to_string(self.node.path("ran")).unwrap_or_default();
        told.lines().map(str::to_owned).collect()
    }

    /// The newest end of `stage` in the journal of boots.
    #[track_caller]
    fn end_of(&self, stage: &str) -> Value {
        self.node.end_of("boot", stage)
    }
}
