//! Admins, and the log of what was changed.

use jiff::Timestamp;
use provost_api::limits::AUDIT;

use crate::accounts::Accounts;
use crate::sql::{Backend, Row, Sql, Unreadable, values};
use crate::{Admin, Answer, AuditEntry};

impl<B: Backend> Accounts for B {
    fn add_admin(&self, admin: Admin, sha256: [u8; 32]) -> Answer<'_, bool> {
        self.change((admin, sha256), |db, (admin, sha256)| Box::pin(add(db, admin, *sha256)))
    }

    fn remove_admin<'a>(&'a self, name: &'a str) -> Answer<'a, bool> {
        self.change_reserved(name.to_owned(), |db, name| {
            Box::pin(async move {
                Ok(db.execute("DELETE FROM admin WHERE name = $1", values![name]).await? == 1)
            })
        })
    }

    fn admins(&self) -> Answer<'_, Vec<Admin>> {
        let select = "SELECT name, role, created, until FROM admin ORDER BY name";
        self.query(select, |db, select| Box::pin(db.all(select, [], admin)))
    }

    fn admin_of_token(&self, sha256: [u8; 32], at: Timestamp) -> Answer<'_, Option<Admin>> {
        self.query((sha256, at), |db, (sha256, at)| {
            let select =
                "SELECT name, role, created, until FROM admin WHERE token = $1 AND until > $2";
            Box::pin(db.first(select, values![*sha256, *at], admin))
        })
    }

    fn note_change(&self, entry: AuditEntry, is_reserved: bool) -> Answer<'_, i64> {
        match is_reserved {
            true => self.change_reserved(entry, |db, entry| Box::pin(note(db, entry))),
            false => self.change(entry, |db, entry| Box::pin(note(db, entry))),
        }
    }

    fn note_result(&self, id: i64, result: String) -> Answer<'_, ()> {
        self.change_reserved((id, result), |db, (id, result)| {
            let set = "UPDATE audit SET result = $2 WHERE id = $1 AND result IS NULL";
            Box::pin(async move { db.execute(set, values![*id, result]).await.map(drop) })
        })
    }

    fn changes(&self, since: Timestamp) -> Answer<'_, Vec<AuditEntry>> {
        self.query(since, |db, since| Box::pin(changes(db, *since)))
    }
}

async fn add<S: Sql>(db: &S, admin: &Admin, sha256: [u8; 32]) -> Result<bool, S::Error> {
    let add = "INSERT INTO admin (name, role, token, created, until) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (name) DO UPDATE SET role = excluded.role, token = excluded.token,
             created = excluded.created, until = excluded.until
         WHERE admin.until <= excluded.created";
    let Admin { name, role, created, until } = admin;
    Ok(db.execute(add, values![name, role.as_str(), sha256, *created, *until]).await? == 1)
}

fn admin(row: Row) -> Result<Admin, Unreadable> {
    let [name, role, created, until] = row.columns()?;
    let role = role.get::<String>()?.as_str().into();
    Ok(Admin { name: name.get()?, role, created: created.get()?, until: until.get()? })
}

async fn note<S: Sql>(db: &S, entry: &AuditEntry) -> Result<i64, S::Error> {
    let add = "INSERT INTO audit (at, who, source, action, request, result)
         VALUES ($1, $2, $3, $4, $5, $6) RETURNING id";
    let AuditEntry { at, who, from, action, request, result } = entry;
    let values = values![*at, who, from, action, request.get(), result.as_deref()];
    Ok(db.first(add, values, Row::only).await?.unwrap_or_default())
}

async fn changes<S: Sql>(db: &S, since: Timestamp) -> Result<Vec<AuditEntry>, S::Error> {
    let select = "SELECT at, who, source, action, request, result FROM audit WHERE at >= $1
         ORDER BY id DESC LIMIT $2";
    let mut changes = db.all(select, values![since, AUDIT as i64], entry).await?;
    changes.reverse();
    Ok(changes)
}

fn entry(row: Row) -> Result<AuditEntry, Unreadable> {
    let [at, who, from, action, request, result] = row.columns()?;
    let request = serde_json::from_str(&request.get::<String>()?)?;
    Ok(AuditEntry {
        at: at.get()?,
        who: who.get()?,
        from: from.get()?,
        action: action.get()?,
        request,
        result: result.get()?,
    })
}
