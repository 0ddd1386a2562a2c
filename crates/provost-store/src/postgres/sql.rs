//! Texts of SQL, asked of a connection or a transaction.

use std::sync::Arc;

use deadpool_postgres::{GenericClient, Object, Transaction};
use futures_util::TryStreamExt;
use futures_util::future::try_join_all;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::error::Failure;
use super::{Postgres, notices};
use crate::notice::Subscriptions;
use crate::{Answer, Notice};
use crate::sql::{Backend, Change, Row, Running, Sql, Value};

impl<C: GenericClient + Send> Sql for C {
    type Error = Failure;

    async fn execute<const N: usize>(
        &self,
        text: &'static str,
        values: [Value; N],
    ) -> Result<u64, Failure> {
        let statement = self.prepare_cached(text).await?;
        Ok(self.execute_raw(&statement, values).await?)
    }

    async fn each<const N: usize>(
        &self,
        text: &'static str,
        values: Vec<[Value; N]>,
    ) -> Result<Vec<Row>, Failure> {
        let statement = &self.prepare_cached(text).await?;
        // Sent one after the other, without waiting for answers.
        let results = values.into_iter().map(async |values| {
            let rows = self.query_raw(statement, values).await?;
            rows.map_ok(|row| row).try_collect::<Vec<_>>().await
        });
        let rows = try_join_all(results).await?.into_iter().flatten();
        let values = |row: tokio_postgres::Row| {
            (0..row.len()).map(|n| row.try_get(n)).collect::<Result<_, _>>().map(Row)
        };
        Ok(rows.map(values).collect::<Result<_, _>>()?)
    }
}

impl Change for Transaction<'_> {
    async fn add_notices(
        &self,
        subscriptions: &Subscriptions,
        notices: &[Notice],
    ) -> Result<(), Failure> {
        notices::add(self, subscriptions, notices).await
    }
}

type BadValue = Box<dyn std::error::Error + Send + Sync>;

impl ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, BadValue> {
        match (self, ty) {
            (Self::Null, _) => Ok(IsNull::Yes),
            (Self::Number(number), &Type::BOOL) => (*number != 0).to_sql(ty, out),
            (Self::Number(number), &Type::INT4) => i32::try_from(*number)?.to_sql(ty, out),
            (Self::Number(number), _) => number.to_sql_checked(ty, out),
            (Self::Text(text), _) => text.to_sql_checked(ty, out),
            (Self::Bytes(bytes), _) => bytes.to_sql_checked(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, BadValue> {
        Ok(match *ty {
            Type::BOOL => Self::Number(bool::from_sql(ty, raw)?.into()),
            Type::INT4 => Self::Number(i32::from_sql(ty, raw)?.into()),
            Type::INT8 => Self::Number(i64::from_sql(ty, raw)?),
            Type::BYTEA => Self::Bytes(Vec::from_sql(ty, raw)?),
            _ => Self::Text(String::from_sql(ty, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, BadValue> {
        Ok(Self::Null)
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::BOOL | Type::INT4 | Type::INT8 | Type::BYTEA | Type::TEXT)
    }
}

impl Backend for Postgres {
    type Error = Failure;
    type Reader<'c> = Object;
    type Change<'c> = Transaction<'c>;

    fn subscriptions(&self) -> &Arc<Subscriptions> {
        &self.database.subscriptions
    }

    fn may_deliver(&self) -> Answer<'_, bool> {
        self.write(self.deliveries.ask(&self.database))
    }

    fn query<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        request: A,
        work: for<'a, 'c> fn(&'a Object, &'a A) -> Running<'a, T, Failure>,
    ) -> Answer<'_, T> {
        self.read(async move {
            let client = self.database.client().await?;
            work(&client, &request).await
        })
    }

    fn change<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        request: A,
        work: for<'a, 'c> fn(&'a Transaction<'c>, &'a A) -> Running<'a, T, Failure>,
    ) -> Answer<'_, T> {
        self.write(async move {
            let mut client = self.database.client().await?;
            let change = client.transaction().await?;
            let answer = work(&change, &request).await?;
            change.commit().await?;
            Ok(answer)
        })
    }
}
