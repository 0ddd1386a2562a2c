//! A real Chromium, driven by its driver (W3C WebDriver) in the few calls that tests need.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ct_codecs::{Base64, Decoder};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{missing, processes, skip_if};

/// How long the browser may take to do one thing.
const LIMIT: Duration = Duration::from_secs(60);
/// The key by which an answer names an element (W3C WebDriver, 12.2).
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// How a page is shown.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// Its width, in pixels.
    pub width: u32,
    /// Its height.
    pub height: u32,
    /// Whether somebody prefers light text.
    pub dark: bool,
    /// Whether pages may run scripts.
    pub scripts: bool,
}

/// A usual screen.
pub const DESKTOP: Screen = Screen { width: 1200, height: 900, dark: false, scripts: true };

/// A small phone's.
pub const PHONE: Screen = Screen { width: 360, height: 740, ..DESKTOP };

/// A phone that is as wide as most.
pub const WIDE_PHONE: Screen = Screen { width: 420, height: 900, ..DESKTOP };

/// What is wrong with a page: it is wider than the screen, something to fill in or to press has no name for who
/// hears the page, or is too small for a finger (WCAG 2.2, 2.5.8), or its landmarks are wrong. A cell of the map and a bar
/// of a drawing may be small: what they lead to stands in a list as well (2.5.8, "Equivalent").
const WRONG: &str = "
    const wrong = [];
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    const isWide = (e) => e.getBoundingClientRect().right > document.documentElement.clientWidth;
    const widest = wide > 0 && [...document.querySelectorAll('main *')].findLast(isWide);
    if (wide > 0) wrong.push(wide + ' pixels too wide: ' + (widest?.outerHTML ?? '').slice(0, 200));
    for (const e of document.querySelectorAll('input:not([type=hidden]), select, button, a, summary')) {
        // What is folded has no text until it is opened.
        if (e.closest('details:not([open])') && !e.closest('summary')) continue;
        const isDrawn = e.closest('svg, .cells');
        const name = e.labels?.length || e.innerText?.trim() || e.ariaLabel || (isDrawn && e.title);
        if (!name) wrong.push('no name: ' + e.outerHTML);
        const box = (e.type === 'checkbox' ? e.labels[0] : e).getBoundingClientRect();
        const isSmall = box.width > 0 && !isDrawn && (box.height < 24 || box.width < 24);
        if (window.innerWidth < 600 && isSmall) wrong.push('small: ' + e.outerHTML);
    }
    const count = (name) => document.querySelectorAll(name).length;
    if (document.documentElement.lang !== 'en') wrong.push('no language');
    if (count('h1') !== 1 || count('main') !== 1) wrong.push('no h1 or no main, or many');
    return wrong;";

/// Chromium without windows: the same engine, at a fifth of the processor time.
const BROWSER: &str = "chromium-headless-shell";

/// A browser with one window, which ends with the test.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// Its profile.
    folder: TempDir,
}

impl Browser {
    /// What is missing here to start one.
    pub fn missing() -> Option<String> {
        missing::program("chromedriver", "chromium-driver")
            .or_else(|| missing::program(BROWSER, "chromium-headless-shell"))
    }

    /// Starts one. It skips the test where there is no Chromium.
    pub fn start(screen: Screen) -> Self {
        skip_if(Self::missing());
        let folder = TempDir::new().unwrap();
        // It ends if the port that it has for IPv4 is in use for IPv6.
        let started = (0..5).find_map(|_| Self::start_driver(folder.path()));
        let (driver, port) = started.expect("chromedriver says its port");
        let mut browser = Self { driver, port, session: String::new(), folder };
        browser.open(screen);
        browser
    }

    /// Starts the driver. Returns its port too, unless it has ended.
    fn start_driver(folder: &Path) -> Option<(Child, u16)> {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            // What it keeps goes with the test.
            .env("TMPDIR", folder)
            .env("HOME", folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.unwrap();
            line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
        });
        if port.is_none() {
            driver.wait().unwrap();
        }
        // It prints more, which nobody needs.
        std::thread::spawn(move || lines.for_each(drop));
        Some((driver, port?))
    }

    fn open(&mut self, screen: Screen) {
        let mut args = vec![
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            format!("--window-size={},{}", screen.width, screen.height),
            format!("--user-data-dir={}", self.folder.path().join("profile").display()),
        ];
        if rustix::process::geteuid().is_root() {
            // Its sandbox refuses root.
            args.push("--no-sandbox".to_owned());
        }
        let options = json!({"args": args, "binary": format!("/usr/bin/{BROWSER}")});
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome-headless-shell", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let answer = self.ask("POST", "/session", &wanted);
        self.session = format!("/session/{}", answer["sessionId"].as_str().unwrap());
        // Headless windows have no borders, and a phone is narrower than a window may be.
        let metrics = json!({"width": screen.width, "height": screen.height,
            "deviceScaleFactor": 1, "mobile": screen.width < 600});
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics);
        let scheme = if screen.dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.devtools("Emulation.setEmulatedMedia", &json!({"features": features}));
        let disabled = json!({"value": !screen.scripts});
        self.devtools("Emulation.setScriptExecutionDisabled", &disabled);
    }

    /// What all of its processes carry (see [`processes::marked`]).
    pub fn mark(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    /// A command of the browser's own protocol (Chrome DevTools).
    pub fn devtools(&self, command: &str, params: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({"cmd": command, "params": params}))
    }

    /// Opens an address.
    pub fn visit(&self, url: &str) {
        self.post("/url", &json!({"url": url}));
        let is_there = "return document.readyState === 'complete' && document.body !== null";
        self.until("the page is there", |browser| browser.run(is_there) == true);
    }

    /// The address that is open.
    pub fn url(&self) -> String {
        let path = format!("{}/url", self.session);
        self.ask("GET", &path, &Value::Null).as_str().unwrap().to_owned()
    }

    /// Runs a script of the test's in the page, and returns what that returns.
    pub fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// The visible text of the first element that a CSS selector matches.
    pub fn text(&self, selector: &str) -> String {
        // In one step: a page that is live may replace the element between two.
        let script = format!("return document.querySelector({}).innerText", json!(selector));
        self.run(&script).as_str().unwrap().to_owned()
    }

    /// Clicks on an element.
    pub fn click(&self, selector: &str) {
        self.post(&format!("/element/{}/click", self.element(selector)), &json!({}));
    }

    /// Types on the keyboard; what has the focus gets it. [`TAB`] and [`ENTER`] are keys, too.
    pub fn type_keys(&self, keys: &str) {
        let press = |key: char| {
            [("keyDown", key), ("keyUp", key)]
                .map(|(kind, key)| json!({"type": kind, "value": key}))
        };
        let actions: Vec<Value> = keys.chars().flat_map(press).collect();
        let keyboard = json!([{"type": "key", "id": "keyboard", "actions": actions}]);
        self.post("/actions", &json!({"actions": keyboard}));
    }

    /// What the page, or the browser about it, has complained of since the last call.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.post("/se/log", &json!({"type": "browser"}));
        let is_bad = |entry: &&Value| entry["level"] == "SEVERE" || entry["level"] == "WARNING";
        let entries = log.as_array().unwrap().iter().filter(is_bad);
        entries.map(|entry| entry["message"].as_str().unwrap().to_owned()).collect()
    }

    /// The page fits the screen, and can be used by hand and by ear.
    #[track_caller]
    pub fn is_well_made(&self) {
        assert_eq!(self.run(WRONG), json!([]), "{}", self.url());
    }

    /// Writes a picture of the window: into the folder `PROVOST_SCREENSHOTS`, if that is set.
    pub fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("PROVOST_SCREENSHOTS").map(PathBuf::from) else {
            return;
        };
        std::fs::create_dir_all(&folder).unwrap();
        let shot = self.devtools("Page.captureScreenshot", &json!({"format": "png"}));
        let png = Base64::decode_to_vec(shot["data"].as_str().unwrap(), None).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), png).unwrap();
    }

    /// Waits until `is_so`.
    #[track_caller]
    pub fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let page = || self.run("return document.body?.innerText");
        assert!(processes::until(LIMIT, || is_so(self)), "{what}: {}: {}", self.url(), page());
    }

    /// Waits until an element has this text.
    #[track_caller]
    pub fn until_text(&self, selector: &str, part: &str) {
        let script = format!(
            "return (document.querySelector({}) || {{innerText: ''}}).innerText",
            json!(selector)
        );
        let has = |browser: &Self| browser.run(&script).as_str().unwrap_or_default().contains(part);
        self.until(&format!("{selector} has {part:?}"), has);
    }

    fn element(&self, selector: &str) -> String {
        let wanted = json!({"using": "css selector", "value": selector});
        let found = self.post("/element", &wanted);
        found[ELEMENT].as_str().unwrap_or_else(|| panic!("no {selector}: {found}")).to_owned()
    }

    #[track_caller]
    fn post(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", &format!("{}{path}", self.session), body)
    }

    /// One request to the driver, and the value of its answer.
    #[track_caller]
    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        )
        .unwrap();
        // The driver keeps the connection open, whatever it is asked.
        let (mut stream, mut line, mut length) = (BufReader::new(stream), String::new(), 0);
        while stream.read_line(&mut line).unwrap() > 2 {
            if let Some(n) = line.to_lowercase().strip_prefix("content-length:") {
                length = n.trim().parse().unwrap();
            }
            line.clear();
        }
        let mut answer = vec![0; length];
        stream.read_exact(&mut answer).unwrap();
        let mut answer: Value = serde_json::from_slice(&answer).unwrap();
        let value = answer["value"].take();
        assert!(value.get("error").is_none(), "{method} {path}: {}", value["message"]);
        value
    }
}

/// The key that goes to the next element (W3C WebDriver, 17.4.2).
pub const TAB: char = '\u{e004}';
/// The key that follows a link.
pub const ENTER: char = '\u{e007}';

impl Drop for Browser {
    fn drop(&mut self) {
        // In order, so that it ends the browser; what the test was about is over.
        let path = std::mem::take(&mut self.session);
        if !std::thread::panicking() && !path.is_empty() {
            self.ask("DELETE", &path, &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
