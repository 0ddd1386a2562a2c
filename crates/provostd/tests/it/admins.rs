//! Admins over TLS, and the log of what was changed.

use std::fs;
use std::time::Duration;

use crate::server::{Server, config, refused, response};
use provostd::{Config, TlsConfig};
use reqwest::{Certificate, Client, Method, RequestBuilder};
use serde_json::{Value, json};

const DAY: u64 = 24 * 3600 * 1000;

struct Admins {
    server: Server,
    tls: Client,
}

impl Admins {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tls = TlsConfig { admin: Some(([127, 0, 0, 1], 0).into()), ..Default::default() };
        let config = Config { tls, ..config(&folder) };
        let server = Server::start_with(folder, &config).await;
        let authority = fs::read(config.data.join("ca/authority.pem")).unwrap();
        let authority = Certificate::from_pem(&authority).unwrap();
        let tls = Client::builder().no_proxy().tls_certs_only([authority]).https_only(true);
        let tls = tls.redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { server, tls }
    }

    fn over_tls(&self, method: Method, path: &str) -> RequestBuilder {
        let at = self.server.daemon.addresses().admin_tls.unwrap();
        self.tls.request(method, format!("https://{at}{path}"))
    }

    fn over_socket(&self, method: Method, path: &str) -> RequestBuilder {
        self.server.socket.request(method, format!("http://localhost{path}"))
    }

    async fn add(&self, name: &str, role: &str) -> String {
        let request = json!({"name": name, "role": role, "forMs": DAY});
        let added = self.over_socket(Method::POST, "/v1/admins").json(&request);
        let (status, added) = response(added).await;
        assert_eq!((status, &added["name"], &added["role"]), (200, &json!(name), &json!(role)));
        added["token"].as_str().unwrap().to_owned()
    }

    async fn audit(&self) -> Vec<Value> {
        let all = response(self.over_socket(Method::GET, "/v1/audit")).await.1;
        all.as_array().unwrap().clone()
    }
}

const CHANGES: [&str; 10] = [
    "/v1/tokens",
    "/v1/release",
    "/v1/remove",
    "/v1/prune",
    "/v1/join",
    "/v1/windows",
    "/v1/windows/close",
    "/v1/approve",
    "/v1/reject",
    "/v1/revoke",
];

#[tokio::test]
async fn a_role_allows_what_those_below_it_do_and_nothing_above() {
    let admins = Admins::start().await;
    let body = json!({"nodes": ["cn001"], "force": true});
    for (role, operates) in [("read", false), ("operate", true), ("publish", true)] {
        let token = admins.add(role, role).await;
        let get = |path| admins.over_tls(Method::GET, path).bearer_auth(&token);
        for path in ["/v1/nodes", "/v1/pending", "/healthz", "/metrics", "/v1/prune"] {
            assert_eq!(get(path).send().await.unwrap().status(), 200, "{role} {path}");
        }
        for path in ["/v1/audit", "/v1/admins"] {
            let status = get(path).send().await.unwrap().status();
            assert_eq!(status.as_u16(), if operates { 200 } else { 403 }, "{role} {path}");
        }
        let post = |path| admins.over_tls(Method::POST, path).bearer_auth(&token);
        for path in CHANGES {
            let (status, answer) = response(post(path).json(&body)).await;
            assert_eq!(status == 403, !operates, "{role} {path} {answer}");
        }
        for path in ["/v1/admins", "/v1/admins/remove"] {
            let (status, answer) = response(post(path).json(&json!({"name": "read"}))).await;
            assert_eq!(status, 403, "{role} {path}");
            assert!(answer["hint"].as_str().unwrap().contains("admin.sock"), "{answer}");
        }
    }
    let refused = admins.audit().await;
    assert!(
        refused.iter().all(|entry| entry["who"] != "read"),
        "what a role doesn't allow is no change"
    );
}

#[tokio::test]
async fn only_a_token_of_an_admin_opens_anything_over_tls() {
    let admins = Admins::start().await;
    let node = admins.server.token("cn001").await;
    let lee = admins.add("lee", "operate").await;
    let get = |token: &str| admins.over_tls(Method::GET, "/v1/nodes").bearer_auth(token);
    assert_eq!(refused(admins.over_tls(Method::GET, "/v1/nodes")).await, 401);
    for token in ["", "no", &node, &lee[..63], &lee.to_uppercase()] {
        assert_eq!(refused(get(token)).await, 401, "{token}");
    }
    assert_eq!(get(&lee).send().await.unwrap().status(), 200);
    // Nor does an admin speak for a node, or by plain HTTP.
    let plan = admins.server.node(Method::GET, "/plans/cn001.toml").bearer_auth(&lee);
    assert_eq!(refused(plan).await, 401);
    let database = fs::read(admins.server.folder.path().join("data/provost.db-wal")).unwrap();
    assert!(!database.windows(64).any(|w| w == lee.as_bytes()), "only its digest is kept");
    // A taken name, an odd one, an unknown role.
    let add = |name: &str, role: &str| {
        let request = json!({"name": name, "role": role, "forMs": DAY});
        refused(admins.over_socket(Method::POST, "/v1/admins").json(&request))
    };
    assert_eq!(add("lee", "read").await, 409);
    assert_eq!((add("a b", "read").await, add("ann", "root").await), (422, 422));
    // One that lasts no time at all.
    let ended = json!({"name": "ended", "role": "publish", "forMs": 0});
    let ended = response(admins.over_socket(Method::POST, "/v1/admins").json(&ended)).await.1;
    assert_eq!(refused(get(ended["token"].as_str().unwrap())).await, 401);

    let remove = || {
        let remove = admins.over_socket(Method::POST, "/v1/admins/remove");
        response(remove.json(&json!({"name": "lee"})))
    };
    assert_eq!((remove().await.0, remove().await.0), (200, 404));
    assert_eq!(refused(get(&lee)).await, 401, "at once");
}

#[tokio::test]
async fn each_change_is_noted_with_who_from_where_and_its_result() {
    let admins = Admins::start().await;
    let lee = admins.add("lee", "operate").await;
    let nodes = json!({"nodes": ["cn[001-002]", "cn003"], "force": true});
    let post = |path| admins.over_tls(Method::POST, path).bearer_auth(&lee);
    assert_eq!(response(post("/v1/tokens").json(&nodes)).await.0, 200);
    assert_eq!(response(post("/v1/release").json(&json!({"nodes": ["cn009"]}))).await.0, 404);
    assert_eq!(response(post("/v1/release").body("no json")).await.0, 422);
    let all = admins.audit().await;
    let shown: Vec<_> = all
        .iter()
        .map(|entry| [&entry["who"], &entry["from"], &entry["action"], &entry["result"]])
        .map(|entry| entry.map(|text| text.as_str().unwrap_or_default().to_owned()))
        .collect();
    // The user of this test has asked over the socket; it may have no name.
    assert_eq!(shown[0][1..], ["admin.sock", "admin add", "done"]);
    assert!(!shown[0][0].is_empty());
    assert_eq!(shown[1], ["lee", "127.0.0.1", "token", "done"]);
    assert_eq!(
        shown[2],
        ["lee", "127.0.0.1", "release", "refused: no node was released: unknown cn009"]
    );
    assert!(shown[3][3].starts_with("refused: the body: "), "{:?}", shown[3]);
    assert_eq!(all[0]["request"], json!({"name": "lee", "role": "operate", "forMs": DAY}));
    assert_eq!(all[1]["request"], json!({"nodes": "cn[001-003]", "force": true}));
    assert_eq!(all[3]["request"], Value::Null);
    assert!(!format!("{all:?}").contains(&lee), "no token is in it");
    let since = all[1]["at"].as_str().unwrap();
    let newer = admins.over_socket(Method::GET, &format!("/v1/audit?since={since}"));
    assert_eq!(response(newer).await.1, json!(all[1..]));
    // Nothing removes an entry: no request, and not what prunes the history.
    for method in [Method::DELETE, Method::PUT, Method::PATCH, Method::POST] {
        assert_eq!(refused(admins.over_socket(method, "/v1/audit")).await, 405);
    }
    let prune = admins.over_socket(Method::POST, "/v1/prune").json(&json!({}));
    assert_eq!(response(prune).await.0, 200);
    let after = admins.audit().await;
    assert_eq!((&after[..all.len()], after.len()), (&all[..], all.len() + 1));
}

#[tokio::test]
async fn what_cannot_be_noted_is_not_changed() {
    let admins = Admins::start().await;
    let before = admins.server.token("cn001").await;
    let database =
        || rusqlite::Connection::open(admins.server.folder.path().join("data/provost.db")).unwrap();
    database().execute_batch("ALTER TABLE audit RENAME TO hidden").unwrap();
    let tokens = admins.over_socket(Method::POST, "/v1/tokens");
    let (status, answer) = response(tokens.json(&json!({"nodes": ["cn001"], "force": true}))).await;
    assert_eq!(status, 503);
    let error = answer["error"].as_str().unwrap();
    assert!(error.starts_with("nothing was changed, because it can't be noted: "), "{error}");
    let remove = admins.over_socket(Method::POST, "/v1/remove").json(&json!({"nodes": ["cn001"]}));
    assert_eq!(refused(remove).await, 503);
    server_has(&admins, &before).await;
    database().execute_batch("ALTER TABLE hidden RENAME TO audit").unwrap();
    let remove = admins.over_socket(Method::POST, "/v1/remove").json(&json!({"nodes": ["cn001"]}));
    assert_eq!(response(remove).await.0, 200);
}

/// The node cn001 is there, with this token.
async fn server_has(admins: &Admins, token: &str) {
    admins.server.www("plans/cn001.toml", "plan");
    let plan = admins.server.node(Method::GET, "/plans/cn001.toml").bearer_auth(token);
    assert_eq!(plan.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_browser_logs_in_and_out_and_no_other_site_uses_its_cookie() {
    let admins = Admins::start().await;
    let lee = admins.add("lee", "operate").await;
    let login = |token: &str| {
        let form = admins.over_tls(Method::POST, "/login").body(format!("token={token}"));
        form.header("content-type", "application/x-www-form-urlencoded")
    };
    assert_eq!(refused(login("no")).await, 401);
    assert_eq!(refused(login(&lee).header("sec-fetch-site", "cross-site")).await, 403);
    let page = |path| admins.over_tls(Method::GET, path).header("accept", "text/html");
    let answer = page("/").send().await.unwrap();
    assert_eq!(answer.status(), 401);
    assert!(answer.headers().contains_key("content-security-policy"));
    let form = answer.text().await.unwrap();
    assert!(form.contains("<form") && form.contains("action=\"/login\""), "{form}");
    assert!(!form.contains("alert"), "nothing was wrong: {form}");
    let style = form.split('"').find(|part| part.starts_with("/static/style.css")).unwrap();
    assert_eq!(page(style).send().await.unwrap().status(), 200);
    let wrong = login("no").header("accept", "text/html").send().await.unwrap();
    assert_eq!(wrong.status(), 401);
    assert!(wrong.text().await.unwrap().contains("the token is no admin&#39;s"));
    let answer = login(&lee).send().await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["location"]),
        (303, &"/".parse().unwrap())
    );
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    for part in ["__Host-provost=", "; Secure", "; HttpOnly", "; SameSite=Strict", "; Path=/;"] {
        assert!(cookie.contains(part), "{part} isn't in {cookie}");
    }
    let cookie = cookie.split(';').next().unwrap().to_owned();
    assert!(!cookie.contains(&lee), "the token itself isn't in the browser");
    let with = |method, path, cookie: &str| {
        admins.over_tls(method, path).header("cookie", format!("theme=dark; {cookie}"))
    };
    assert_eq!(with(Method::GET, "/v1/nodes", &cookie).send().await.unwrap().status(), 200);
    let overview = with(Method::GET, "/", &cookie).header("accept", "text/html");
    let overview = overview.send().await.unwrap().text().await.unwrap();
    assert!(overview.contains("Log out lee") && overview.contains("0 nodes"), "{overview}");
    let release = || {
        let nodes = json!({"nodes": ["cn001"], "force": true});
        with(Method::POST, "/v1/tokens", &cookie).json(&nodes)
    };
    for (header, value) in
        [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "same-site")]
    {
        assert_eq!(refused(release().header(header, value)).await, 403, "{header}: {value}");
    }
    assert_eq!(response(release().header("sec-fetch-site", "same-origin")).await.0, 200);
    assert_eq!(admins.audit().await.last().unwrap()["who"], "lee");

    let answer = with(Method::POST, "/logout", &cookie).send().await.unwrap();
    assert_eq!(answer.status(), 204);
    assert!(answer.headers()["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(refused(with(Method::GET, "/v1/nodes", &cookie)).await, 401, "also for who kept it");

    let json = admins.over_tls(Method::POST, "/login").json(&json!({"token": lee}));
    let answer = json.send().await.unwrap();
    assert_eq!(answer.status(), 204);
    let cookie =
        answer.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(with(Method::GET, "/v1/nodes", &cookie).send().await.unwrap().status(), 200);
    let remove =
        admins.over_socket(Method::POST, "/v1/admins/remove").json(&json!({"name": "lee"}));
    assert_eq!(response(remove).await.0, 200);
    assert_eq!(
        refused(with(Method::GET, "/v1/nodes", &cookie)).await,
        401,
        "it dies with the token"
    );
}

#[tokio::test]
async fn what_goes_on_for_long_ends_with_the_token_or_the_login_that_it_was_asked_for_by() {
    let admins = Admins::start().await;
    let lee = admins.add("lee", "read").await;
    let login = async || {
        let login = admins.over_tls(Method::POST, "/login").json(&json!({"token": lee}));
        let answer = login.send().await.unwrap();
        answer.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned()
    };
    let cookies = [login().await, login().await];
    let open = async |path, header, value: &str| {
        let stream = admins.over_tls(Method::GET, path).header(header, value);
        let stream = stream.header("accept", "text/event-stream").send().await.unwrap();
        assert_eq!(stream.status(), 200);
        stream
    };
    let by_token = open("/v1/events", "authorization", &format!("Bearer {lee}")).await;
    let by_login = open("/", "cookie", &cookies[0]).await;
    let by_other_login = open("/v1/events", "cookie", &cookies[1]).await;
    let ends = async |mut stream: reqwest::Response| {
        let end = async { while let Ok(Some(_)) = stream.chunk().await {} };
        tokio::time::timeout(Duration::from_secs(60), end).await.is_ok()
    };
    let logout = admins.over_tls(Method::POST, "/logout").header("cookie", &cookies[1]);
    assert_eq!(logout.send().await.unwrap().status(), 204);
    assert!(ends(by_other_login).await, "it goes on without a login");
    let remove = admins.over_socket(Method::POST, "/v1/admins/remove");
    assert_eq!(response(remove.json(&json!({"name": "lee"}))).await.0, 200);
    assert!(ends(by_token).await && ends(by_login).await, "it goes on without a token");
}
