//! Accounts, sign-ins and one-time links. Tokens come in as hashes; the rules about passwords are in
//! `crate::people`.

use app::people::{Invitation, Person, PersonRow, Role};
use diagnosis::ids::PersonId;
use jiff::{SignedDuration, Timestamp};
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use super::row::time;
use super::{Store, StoreError};

/// How exact "last seen" is: a write per request would be too much for what it tells.
const SEEN_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// The SHA-256 of a token.
pub(crate) type TokenHash = [u8; 32];

/// A one-time link to be stored.
pub(crate) struct NewInvitation<'a> {
    pub(crate) token: TokenHash,
    pub(crate) role: Role,
    pub(crate) created_by: Option<PersonId>,
    pub(crate) created_by_name: &'a str,
    pub(crate) now: Timestamp,
    pub(crate) expires_at: Timestamp,
}

/// An account to be made with a one-time link, and its first sign-in.
pub(crate) struct NewAccount<'a> {
    pub(crate) id: PersonId,
    pub(crate) name: &'a str,
    pub(crate) password_hash: &'a str,
}

/// A sign-in to be stored.
pub(crate) struct SignInRow {
    pub(crate) token: TokenHash,
    pub(crate) now: Timestamp,
    pub(crate) expires_at: Timestamp,
}

/// Names are compared without case.
pub(crate) fn name_key(name: &str) -> String {
    name.to_lowercase()
}

fn role(name: &str) -> Result<Role, StoreError> {
    name.parse()
        .map_err(|_| StoreError::corrupt("a role", format!("“{name}”")))
}

impl Store {
    /// Stores a one-time link.
    pub(crate) async fn add_invitation(&self, new: &NewInvitation<'_>) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        insert_invitation(&mut tx, new, false).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Stores the first admin's link in place of earlier ones; false, and nothing stored, when there
    /// is an admin.
    pub(crate) async fn add_first_admin_link(
        &self,
        new: &NewInvitation<'_>,
    ) -> Result<bool, StoreError> {
        let mut tx = self.pool.begin().await?;
        if has_admin(&mut tx).await? {
            return Ok(false);
        }
        sqlx::query!("DELETE FROM invitations WHERE first_admin")
            .execute(&mut *tx)
            .await?;
        insert_invitation(&mut tx, new, true).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// The role a one-time link gives, while it is good.
    pub(crate) async fn invitation_role(
        &self,
        token: &TokenHash,
        now: Timestamp,
    ) -> Result<Option<Role>, StoreError> {
        sqlx::query_scalar!(
            "SELECT role FROM invitations
             WHERE token_hash = $1 AND expires_at > $2
               AND NOT (first_admin AND EXISTS (SELECT FROM people WHERE role = 'admin'))",
            token.as_slice(),
            time(now) as _
        )
        .fetch_optional(&self.pool)
        .await?
        .map(|r| role(&r))
        .transpose()
    }

    /// Uses a one-time link: makes the account and signs it in, all or nothing; false when the link
    /// is not good (any more).
    pub(crate) async fn accept_invitation(
        &self,
        token: &TokenHash,
        new: &NewAccount<'_>,
        sign_in: &SignInRow,
    ) -> Result<bool, StoreError> {
        let mut tx = self.pool.begin().await?;
        // Whoever deletes the row has the link; another who races waits here and finds none.
        let Some(link) = sqlx::query!(
            "DELETE FROM invitations WHERE token_hash = $1 AND expires_at > $2
             RETURNING role, first_admin",
            token.as_slice(),
            time(sign_in.now) as _
        )
        .fetch_optional(&mut *tx)
        .await?
        else {
            return Ok(false);
        };
        if link.first_admin && has_admin(&mut tx).await? {
            return Ok(false);
        }
        sqlx::query!(
            "INSERT INTO people (id, name, name_key, role, password_hash, created_at, last_seen_at)
             VALUES ($1, $2, $3, $4, $5, $6, $6)",
            new.id.0,
            new.name,
            name_key(new.name),
            link.role,
            new.password_hash,
            time(sign_in.now) as _
        )
        .execute(&mut *tx)
        .await?;
        insert_sign_in(&mut tx, new.id, sign_in).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// The account of that name and its password's hash.
    pub(crate) async fn password_of(
        &self,
        name: &str,
    ) -> Result<Option<(PersonId, String)>, StoreError> {
        Ok(sqlx::query!(
            "SELECT id, password_hash FROM people WHERE name_key = $1",
            name_key(name)
        )
        .fetch_optional(&self.pool)
        .await?
        .map(|row| (PersonId(row.id), row.password_hash)))
    }

    /// Stores a sign-in, and removes those that are over.
    pub(crate) async fn add_sign_in(
        &self,
        person: PersonId,
        sign_in: &SignInRow,
    ) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        sqlx::query!(
            "DELETE FROM sign_ins WHERE expires_at <= $1",
            time(sign_in.now) as _
        )
        .execute(&mut *tx)
        .await?;
        insert_sign_in(&mut tx, person, sign_in).await?;
        tx.commit().await?;
        Ok(())
    }

    pub(crate) async fn remove_sign_in(&self, token: &TokenHash) -> Result<(), StoreError> {
        sqlx::query!(
            "DELETE FROM sign_ins WHERE token_hash = $1",
            token.as_slice()
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Who a sign-in's token belongs to, with the role as it is now.
    pub(crate) async fn person_of_token(
        &self,
        token: &TokenHash,
        now: Timestamp,
    ) -> Result<Option<Person>, StoreError> {
        let Some(row) = sqlx::query!(
            r#"SELECT p.id, p.name, p.role,
                      (p.last_seen_at IS NULL OR p.last_seen_at < $3) AS "stamp!"
               FROM sign_ins s JOIN people p ON p.id = s.person_id
               WHERE s.token_hash = $1 AND s.expires_at > $2"#,
            token.as_slice(),
            time(now) as _,
            time(now - SEEN_EVERY) as _
        )
        .fetch_optional(&self.pool)
        .await?
        else {
            return Ok(None);
        };
        if row.stamp {
            sqlx::query!(
                "UPDATE people SET last_seen_at = greatest(last_seen_at, $2) WHERE id = $1",
                row.id,
                time(now) as _
            )
            .execute(&self.pool)
            .await?;
        }
        Ok(Some(Person {
            id: PersonId(row.id),
            name: row.name,
            role: role(&row.role)?,
        }))
    }

    /// The accounts, by name.
    pub(crate) async fn people(&self) -> Result<Vec<PersonRow>, StoreError> {
        sqlx::query!(
            r#"SELECT id, name, role, created_at AS "created_at: jiff_sqlx::Timestamp",
                      last_seen_at AS "last_seen_at: jiff_sqlx::Timestamp"
               FROM people ORDER BY name_key COLLATE "C""#
        )
        .fetch_all(&self.pool)
        .await?
        .into_iter()
        .map(|row| {
            Ok(PersonRow {
                person: Person {
                    id: PersonId(row.id),
                    name: row.name,
                    role: role(&row.role)?,
                },
                created_at: row.created_at.to_jiff(),
                last_seen_at: row.last_seen_at.map(jiff_sqlx::Timestamp::to_jiff),
            })
        })
        .collect()
    }

    /// The invitations that are good, those that end first before the others.
    pub(crate) async fn invitations(&self, now: Timestamp) -> Result<Vec<Invitation>, StoreError> {
        sqlx::query!(
            r#"SELECT role, created_by_name, expires_at AS "expires_at: jiff_sqlx::Timestamp"
               FROM invitations WHERE expires_at > $1 AND NOT first_admin ORDER BY expires_at"#,
            time(now) as _
        )
        .fetch_all(&self.pool)
        .await?
        .into_iter()
        .map(|row| {
            Ok(Invitation {
                role: role(&row.role)?,
                created_by: row.created_by_name,
                expires_at: row.expires_at.to_jiff(),
            })
        })
        .collect()
    }

    /// Changes a role. Invitations by somebody who is no admin any more are void.
    pub(crate) async fn set_person_role(&self, id: PersonId, to: Role) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        if to != Role::Admin {
            keep_an_admin(&mut tx, id).await?;
            sqlx::query!("DELETE FROM invitations WHERE created_by = $1", id.0)
                .execute(&mut *tx)
                .await?;
        }
        let changed = sqlx::query!("UPDATE people SET role = $2 WHERE id = $1", id.0, to.name())
            .execute(&mut *tx)
            .await?;
        if changed.rows_affected() == 0 {
            return Err(gone());
        }
        tx.commit().await?;
        Ok(())
    }

    /// Removes an account, its sign-ins and its invitations.
    pub(crate) async fn remove_person(&self, id: PersonId) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        keep_an_admin(&mut tx, id).await?;
        let removed = sqlx::query!("DELETE FROM people WHERE id = $1", id.0)
            .execute(&mut *tx)
            .await?;
        if removed.rows_affected() == 0 {
            return Err(gone());
        }
        tx.commit().await?;
        Ok(())
    }
}

/// Refuses when this is the only admin. All admins' rows stay locked, in one order, until the
/// transaction ends: two who remove each other come one after the other.
async fn keep_an_admin(tx: &mut PgConnection, id: PersonId) -> Result<(), StoreError> {
    let admins: Vec<Uuid> =
        sqlx::query_scalar!("SELECT id FROM people WHERE role = 'admin' ORDER BY id FOR UPDATE")
            .fetch_all(tx)
            .await?;
    if admins == [id.0] {
        return Err(StoreError::conflict(
            "people_last_admin",
            "This is the last admin. Make somebody else an admin first.",
        ));
    }
    Ok(())
}

async fn has_admin(tx: &mut PgConnection) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM people WHERE role = 'admin') AS "there!""#
    )
    .fetch_one(tx)
    .await?)
}

async fn insert_invitation(
    tx: &mut PgConnection,
    new: &NewInvitation<'_>,
    first_admin: bool,
) -> Result<(), StoreError> {
    sqlx::query!(
        "DELETE FROM invitations WHERE expires_at <= $1",
        time(new.now) as _
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "INSERT INTO invitations
            (token_hash, role, first_admin, created_by, created_by_name, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        new.token.as_slice(),
        new.role.name(),
        first_admin,
        new.created_by.map(|p| p.0),
        new.created_by_name,
        time(new.now) as _,
        time(new.expires_at) as _
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

async fn insert_sign_in(
    tx: &mut PgConnection,
    person: PersonId,
    sign_in: &SignInRow,
) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO sign_ins (token_hash, person_id, created_at, expires_at)
         VALUES ($1, $2, $3, $4)",
        sign_in.token.as_slice(),
        person.0,
        time(sign_in.now) as _,
        time(sign_in.expires_at) as _
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

const fn gone() -> StoreError {
    StoreError::NotFound { what: "The person" }
}
