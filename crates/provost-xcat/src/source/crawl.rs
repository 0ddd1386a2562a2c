//! Everything below a folder of a web server, by its index pages.

use std::collections::VecDeque;
use std::rc::Rc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use provost_bundle::{Manifest, check_path};
use provost_record::Cause;
use reqwest::header::HeaderMap;
use reqwest::{StatusCode, Url};

use super::listing::{Link, links};
use super::scripts::{Got, Room, Script, ScriptsFolder};
use provost_http::body;
use provost_node::failure::Failure;
use provost_node::fetch::FetchError;
use provost_node::fetch::server::{Server, broken};
use provost_node::settings::Xcat;

/// How many requests are under way at once. Each is a round trip; and each of them occupies one of
/// the web server's few hundred workers while a whole cluster boots.
const AT_ONCE: usize = 8;
/// The deepest that folders may be nested.
const DEEPEST: usize = 16;
/// The most folders.
const MOST_FOLDERS: usize = 1000;
/// The longest index page, in bytes.
const LONGEST: usize = 2 << 20;

/// What a crawl has fetched.
#[derive(Default)]
pub(super) struct Crawl {
    pub(super) scripts: Vec<Script>,
    /// What was left out, and why.
    pub(super) left_out: Vec<String>,
    /// The files among that which are over the limits.
    pub(super) too_large: Vec<String>,
}

/// Something that is to be fetched.
struct Job {
    /// Where it is under the server's base.
    at: String,
    /// Where it is under the folder where it began; empty for that folder, with a slash behind for
    /// others.
    path: String,
    /// The folders that it is in; none for files.
    above: Option<Option<Rc<Listed>>>,
}

/// A folder, as it was listed.
struct Listed {
    names: Vec<String>,
    above: Option<Rc<Listed>>,
    depth: usize,
}

/// What a job has brought.
enum Found {
    Links(Job, Vec<Link>),
    Script(Box<Script>),
    Missing(String),
    TooLarge(String),
}

/// Fetches all that is below the folder `root`, which ends with a slash, into `scripts`.
pub(super) async fn crawl(
    source: &Server<'_>,
    root: &str,
    xcat: &Xcat,
    scripts: &ScriptsFolder,
) -> Result<Crawl, FetchError> {
    let mut result = Crawl::default();
    let first = Job { at: root.to_owned(), path: String::new(), above: Some(None) };
    let mut jobs = VecDeque::from([first]);
    let (mut folders, room) = (0, Room::of(xcat));
    let mut under_way = FuturesUnordered::new();
    loop {
        while under_way.len() < AT_ONCE
            && let Some(job) = jobs.pop_front()
        {
            under_way.push(work(source, job, scripts, &room));
        }
        let Some(found) = under_way.next().await else { break };
        match found? {
            Found::Links(job, links) => {
                folders += 1;
                check("folders", folders, MOST_FOLDERS, source, root)?;
                let depth = descend(&job, links, &mut jobs, &mut result.left_out);
                check("levels", depth, DEEPEST, source, root)?;
            }
            Found::Script(script) => result.scripts.push(*script),
            Found::Missing(path) => {
                result.left_out.push(format!("{path} is listed, but isn't there"));
            }
            Found::TooLarge(path) => {
                result.left_out.push(format!("{path}: {}", too_large(xcat)));
                result.too_large.push(path);
            }
        }
        check("files", result.scripts.len() + jobs.len(), Manifest::MAX_FILES, source, root)?;
    }
    if result.scripts.is_empty() {
        let url = source.url(root);
        let message = format!("fetching {url}: its listing names no file");
        let hint = "check that the postscripts are in that folder of the management node, and that \
                    its web server lists them: curl URL";
        return Err(FetchError::give_up(Failure::new(Cause::Fetch, message, hint)));
    }
    result.scripts.sort_by(|a, b| a.entry.path.cmp(&b.entry.path));
    Ok(result)
}

async fn work(
    source: &Server<'_>,
    job: Job,
    scripts: &ScriptsFolder,
    room: &Room,
) -> Result<Found, FetchError> {
    if job.above.is_some() {
        let links = list(source, &job.at).await?;
        return Ok(Found::Links(job, links));
    }
    Ok(match scripts.get(source, &job.at, &job.path, room).await? {
        Got::Script(script) => Found::Script(script),
        Got::Nothing => Found::Missing(job.path),
        Got::TooLarge => Found::TooLarge(job.path),
    })
}

/// What the folder `at` has in it.
pub(super) async fn list(source: &Server<'_>, at: &str) -> Result<Vec<Link>, FetchError> {
    let url = source.url(at);
    let refused = |why: String| {
        let hint = "check what the management node's web server answers there: curl URL";
        FetchError::give_up(Failure::new(Cause::Fetch, format!("fetching {url}: {why}"), hint))
    };
    let base = Url::parse(&url).map_err(|e| refused(e.to_string()))?;
    let response = source.ask(at, HeaderMap::new(), &[StatusCode::OK]).await?;
    let page = body(response, LONGEST).await.map_err(|e| broken(&url, &e))?;
    if page.len() == LONGEST {
        return Err(refused(format!("its listing has {LONGEST} bytes or more")));
    }
    Ok(links(&String::from_utf8_lossy(&page), &base))
}

/// Adds what a folder has in it to the jobs. One that has the same in it as a folder that it is in
/// is a link back to that one. Returns how deep it is.
fn descend(
    job: &Job,
    links: Vec<Link>,
    jobs: &mut VecDeque<Job>,
    left_out: &mut Vec<String>,
) -> usize {
    let above = job.above.clone().flatten();
    let depth = above.as_ref().map_or(0, |listed| listed.depth + 1);
    let slash = |link: &Link| if link.is_folder { "/" } else { "" };
    let names: Vec<String> = links.iter().map(|l| l.name.clone() + slash(l)).collect();
    let mut folder = above.as_ref();
    while let Some(listed) = folder {
        if listed.names == names {
            left_out.push(format!("{} leads back to a folder that it is in", job.path));
            return depth;
        }
        folder = listed.above.as_ref();
    }
    let listed = Rc::new(Listed { names, above, depth });
    for link in links {
        let slash = slash(&link);
        let path = format!("{}{}", job.path, link.name);
        if let Err(e) = check_path(&path) {
            left_out.push(e.to_string());
            continue;
        }
        jobs.push_back(Job {
            at: format!("{}{}{slash}", job.at, link.encoded),
            path: path + slash,
            above: link.is_folder.then(|| Some(listed.clone())),
        });
    }
    depth
}

/// What a file that is left out is over.
pub(super) fn too_large(xcat: &Xcat) -> String {
    let (one, all) = (xcat.max_file_mib, xcat.max_total_mib);
    format!("it has more than {one} MiB, or all files together have more than {all} MiB")
}

fn check(
    what: &str,
    there: usize,
    most: usize,
    source: &Server<'_>,
    root: &str,
) -> Result<(), FetchError> {
    if there > most { Err(too_much(what, most, source, root)) } else { Ok(()) }
}

fn too_much(what: &str, most: usize, source: &Server<'_>, root: &str) -> FetchError {
    let message = format!("fetching {}: below it are more than {most} {what}", source.url(root));
    let hint = "keep there what nodes run, and no link to a folder above; [source] install_dir says \
                where `postscripts` is";
    FetchError::give_up(Failure::new(Cause::Fetch, message, hint))
}
