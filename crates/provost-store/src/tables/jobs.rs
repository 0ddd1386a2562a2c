//! Jobs, and their results by nodes.

use jiff::Timestamp;

use crate::retention::Retention;
use crate::sql::{Backend, Change, Row, Sql, Unreadable, Value, values};
use crate::{Answer, Event, Job, JobNews, JobState, JobStore, JobSummary, StoredJob};

/// How many jobs are forgotten in one transaction.
const SOME: i64 = 10;

impl<B: Backend> JobStore for B {
    fn begin_job(&self, job: Job) -> Answer<'_, ()> {
        self.change(job, |db, job| {
            Box::pin(async move {
                let insert = "INSERT INTO job (id, began, body) VALUES ($1, $2, $3)";
                let body = serde_json::to_string(job).map_err(Unreadable::from)?;
                db.execute(insert, values![&job.id, job.began, body]).await.map(drop)
            })
        })
    }

    fn note_job(&self, id: String, nodes: Vec<(String, Option<String>)>) -> Answer<'_, ()> {
        self.change((id, nodes), |db, (id, nodes)| {
            Box::pin(async move {
                let insert = "INSERT INTO job_node (job, node, failure) VALUES ($1, $2, $3)
                     ON CONFLICT (job, node) DO UPDATE SET failure = excluded.failure";
                let row = |(node, failure): &(String, Option<String>)| {
                    values![id, node, failure.as_deref()]
                };
                db.each(insert, nodes.iter().map(row).collect()).await?;
                let news = |(node, _): &(String, _)| news(id, node);
                db.announce(nodes.iter().map(news).collect()).await
            })
        })
    }

    fn beat_jobs(&self, ids: Vec<String>) -> Answer<'_, ()> {
        self.change(ids, |db, ids| {
            let beat = "UPDATE job SET beat = beat + 1, interrupted = NULL
                 WHERE id = $1 AND ended IS NULL";
            let ids = ids.iter().map(|id| values![id]).collect();
            Box::pin(async move { db.each(beat, ids).await.map(drop) })
        })
    }

    fn end_job(&self, id: String, at: Timestamp) -> Answer<'_, ()> {
        self.change((id, at), |db, (id, at)| {
            Box::pin(async move {
                let end = "UPDATE job SET ended = $2, interrupted = NULL WHERE id = $1";
                db.execute(end, values![id, *at]).await?;
                tell(db, id).await
            })
        })
    }

    fn running_jobs(&self) -> Answer<'_, Vec<(String, u64)>> {
        self.query((), |db, ()| {
            let select = "SELECT id, beat FROM job WHERE ended IS NULL AND interrupted IS NULL";
            Box::pin(db.all(select, [], Row::pair))
        })
    }

    fn interrupt_job(&self, id: String, beat: u64, at: Timestamp) -> Answer<'_, bool> {
        self.change((id, beat as i64, at), |db, (id, beat, at)| {
            Box::pin(async move {
                let interrupt = "UPDATE job SET interrupted = $3
                     WHERE id = $1 AND beat = $2 AND ended IS NULL AND interrupted IS NULL";
                let is_new = db.execute(interrupt, values![id, *beat, *at]).await? == 1;
                if is_new {
                    tell(db, id).await?;
                }
                Ok(is_new)
            })
        })
    }

    fn job<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredJob>> {
        self.query(id.to_owned(), |db, id| Box::pin(stored(db, id)))
    }

    fn newest_jobs(&self, most: usize) -> Answer<'_, Vec<JobSummary>> {
        self.query(most as i64, |db, most| {
            let select = "SELECT id, began, ended, interrupted, body,
                 (SELECT count(*) FROM job_node WHERE job_node.job = job.id),
                 (SELECT count(failure) FROM job_node WHERE job_node.job = job.id)
                 FROM job ORDER BY began DESC, id DESC LIMIT $1";
            Box::pin(db.all(select, values![*most], summary))
        })
    }

    fn is_shared(&self) -> bool {
        B::IS_SHARED
    }
}

fn news(job: &str, node: &str) -> Event {
    Event::Job(JobNews { job: job.to_owned(), node: node.to_owned() }.into())
}

/// Tells that a job has changed, by a node that it is done for.
async fn tell<C: Change>(db: &C, id: &str) -> Result<(), C::Error> {
    let select = "SELECT node FROM job_node WHERE job = $1 LIMIT 1";
    let node = db.first(select, values![id], Row::only::<String>).await?;
    db.announce(vec![news(id, &node.unwrap_or_default())]).await
}

fn summary(row: Row) -> Result<JobSummary, Unreadable> {
    let [id, began, end, interrupted, body, ended, failed] = row.columns()?;
    let (job, state) = job_of([id, began, end, interrupted, body])?;
    Ok(JobSummary { job, state, ended: ended.get()?, failed: failed.get()? })
}

fn job(row: Row) -> Result<(Job, JobState), Unreadable> {
    job_of(row.columns()?)
}

fn job_of(columns: [Value; 5]) -> Result<(Job, JobState), Unreadable> {
    let [id, began, ended, interrupted, body] = columns;
    let job: Job = serde_json::from_str(&body.get::<String>()?)?;
    let state = match (ended.get()?, interrupted.get()?) {
        (Some(at), _) => JobState::Done(at),
        (None, Some(at)) => JobState::Interrupted(at),
        (None, None) => JobState::Running,
    };
    Ok((Job { id: id.get()?, began: began.get()?, ..job }, state))
}

async fn stored<S: Sql>(db: &S, id: &str) -> Result<Option<StoredJob>, S::Error> {
    let select = "SELECT id, began, ended, interrupted, body FROM job WHERE id = $1";
    let Some((job, state)) = db.first(select, values![id], job).await? else { return Ok(None) };
    let select = "SELECT node, failure FROM job_node WHERE job = $1";
    let results = db
        .all(select, values![id], Row::pair::<String, Option<String>>)
        .await?
        .into_iter()
        .collect();
    Ok(Some(StoredJob { job, state, results }))
}

/// Forgets some of the jobs that are kept no longer. Returns whether there may be more.
pub(super) async fn forget_some<C: Change>(
    db: &C,
    keep: Retention,
    at: Timestamp,
) -> Result<bool, C::Error> {
    let old = "SELECT id FROM job WHERE began < $1 ORDER BY began LIMIT $2";
    let old = db.all(old, values![keep.oldest_run(at), SOME], Row::only::<String>).await?;
    for delete in ["DELETE FROM job_node WHERE job = $1", "DELETE FROM job WHERE id = $1"] {
        db.each(delete, old.iter().map(|id| values![id]).collect()).await?;
    }
    Ok(old.len() as i64 == SOME)
}
