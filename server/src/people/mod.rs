//! Accounts: the implementation of the interface's `People` port.

mod limits;
mod password;
mod token;

use std::sync::Arc;

use app::error::AppError;
use app::people::{Admin, NewSignIn, People, PeoplePage, Person, Role};
use async_trait::async_trait;
use diagnosis::ids::PersonId;
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use crate::store::people::{NewAccount, NewInvitation, SignInRow};
use crate::store::{Store, StoreError};
use limits::SignInLimits;
use password::Passwords;

/// Where the time comes from; tests give their own.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How long a sign-in lasts. It does not slide: the browser's cookie is set once, with this end.
const SIGN_IN_LASTS: SignedDuration = SignedDuration::from_hours(14 * 24);
const INVITATION_LASTS: SignedDuration = SignedDuration::from_hours(7 * 24);
const FIRST_ADMIN_LINK_LASTS: SignedDuration = SignedDuration::from_mins(15);

/// The accounts. One per server: it holds the limits on sign-ins.
pub struct Accounts {
    store: Store,
    clock: Clock,
    passwords: Passwords,
    limits: SignInLimits,
}

impl Accounts {
    /// The accounts of a store.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn new(store: Store, clock: Clock) -> Result<Self, AppError> {
        Ok(Self {
            store,
            clock,
            passwords: Passwords::new()?,
            limits: SignInLimits::new(),
        })
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Who is signed in with that cookie, with the role as it is now.
    ///
    /// # Errors
    /// The database is away.
    pub async fn person_of(&self, cookie_token: &str) -> Result<Option<Person>, StoreError> {
        match token::hash(cookie_token) {
            Some(hash) => self.store.person_of_token(&hash, self.now()).await,
            None => Ok(None),
        }
    }

    /// The path of a one-time link for the first admin, good for 15 minutes; nothing when there is
    /// an admin. A new link voids the earlier ones.
    ///
    /// # Errors
    /// The database is away.
    pub async fn first_admin_link(&self) -> Result<Option<String>, AppError> {
        let token = token::new()?;
        let new = self.invitation_row(
            &token,
            Role::Admin,
            None,
            "first start",
            FIRST_ADMIN_LINK_LASTS,
        );
        let stored = self.store.add_first_admin_link(&new).await?;
        Ok(stored.then(|| path(&token.text)))
    }

    /// The path of a one-time link that was asked for outside the interface, such as on the command
    /// line by somebody who is locked out.
    ///
    /// # Errors
    /// The database is away.
    pub async fn new_link(
        &self,
        role: Role,
        by: &str,
        lasts: SignedDuration,
    ) -> Result<String, AppError> {
        let token = token::new()?;
        let new = self.invitation_row(&token, role, None, by, lasts);
        self.store.add_invitation(&new).await?;
        Ok(path(&token.text))
    }

    fn invitation_row<'a>(
        &self,
        token: &token::Token,
        role: Role,
        created_by: Option<PersonId>,
        created_by_name: &'a str,
        lasts: SignedDuration,
    ) -> NewInvitation<'a> {
        let now = self.now();
        NewInvitation {
            token: token.hash,
            role,
            created_by,
            created_by_name,
            now,
            expires_at: now + lasts,
        }
    }

    /// A fresh sign-in: the row to store, and what goes into the cookie.
    fn fresh_sign_in(&self) -> Result<(SignInRow, NewSignIn), AppError> {
        let token = token::new()?;
        let now = self.now();
        let row = SignInRow {
            token: token.hash,
            now,
            expires_at: now + SIGN_IN_LASTS,
        };
        let sign_in = NewSignIn {
            token: token.text,
            lasts_seconds: SIGN_IN_LASTS.unsigned_abs().as_secs(),
        };
        Ok((row, sign_in))
    }
}

fn path(token: &str) -> String {
    format!("/invitation/{token}")
}

fn link_is_over() -> AppError {
    AppError::Conflict {
        message: "This link is not good any more: it was used or has expired. Ask an admin for a new one.".into(),
    }
}

/// A name as people may have it.
fn checked_name(name: &str) -> Result<&str, AppError> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > 64 || name.chars().any(char::is_control) {
        return Err(AppError::invalid(
            "name",
            "A name has 1 to 64 printable characters.",
        ));
    }
    Ok(name)
}

#[async_trait]
impl People for Accounts {
    async fn invitation(&self, token: &str) -> Result<Role, AppError> {
        let hash = token::hash(token).ok_or_else(link_is_over)?;
        self.store
            .invitation_role(&hash, self.now())
            .await?
            .ok_or_else(link_is_over)
    }

    async fn accept(&self, token: &str, name: &str, password: &str) -> Result<NewSignIn, AppError> {
        let name = checked_name(name)?;
        password::check(password)?;
        // Before the password is hashed: whoever has no link shall not make the server work.
        let hash = token::hash(token).ok_or_else(link_is_over)?;
        self.invitation(token).await?;
        let password_hash = self.passwords.hash(password).await?;
        let (row, sign_in) = self.fresh_sign_in()?;
        let new = NewAccount {
            id: PersonId(Uuid::now_v7()),
            name,
            password_hash: &password_hash,
        };
        if self.store.accept_invitation(&hash, &new, &row).await? {
            tracing::info!(person = %new.id, name, "an account was made");
            Ok(sign_in)
        } else {
            Err(link_is_over())
        }
    }

    async fn sign_in(&self, name: &str, password: &str) -> Result<NewSignIn, AppError> {
        // The same answer for everything that is wrong: it tells nobody which names exist.
        let wrong = || AppError::invalid("password", "The name or the password is wrong.");
        let name = checked_name(name).map_err(|_| wrong())?;
        self.limits.check(name)?;
        let known = self.store.password_of(name).await?;
        let (person, hash) = known.map_or((None, None), |(id, hash)| (Some(id), Some(hash)));
        let fits = self.passwords.verify(password, hash).await?;
        let Some(person) = person.filter(|_| fits) else {
            tracing::info!(name, "a sign-in was refused");
            return Err(wrong());
        };
        let (row, sign_in) = self.fresh_sign_in()?;
        self.store.add_sign_in(person, &row).await?;
        Ok(sign_in)
    }

    async fn sign_out(&self, token: &str) -> Result<(), AppError> {
        if let Some(hash) = token::hash(token) {
            self.store.remove_sign_in(&hash).await?;
        }
        Ok(())
    }

    async fn list(&self, _by: &Admin) -> Result<PeoplePage, AppError> {
        Ok(PeoplePage {
            people: self.store.people().await?,
            invitations: self.store.invitations(self.now()).await?,
        })
    }

    async fn invite(&self, by: &Admin, role: Role) -> Result<String, AppError> {
        let by = by.person();
        let token = token::new()?;
        let new = self.invitation_row(&token, role, Some(by.id), &by.name, INVITATION_LASTS);
        self.store.add_invitation(&new).await?;
        tracing::info!(by = %by.id, %role, "an invitation was made");
        Ok(path(&token.text))
    }

    async fn set_role(&self, by: &Admin, person: PersonId, role: Role) -> Result<(), AppError> {
        self.store.set_person_role(person, role).await?;
        tracing::info!(by = %by.person().id, %person, %role, "a role was changed");
        Ok(())
    }

    async fn remove(&self, by: &Admin, person: PersonId) -> Result<(), AppError> {
        self.store.remove_person(person).await?;
        tracing::info!(by = %by.person().id, %person, "an account was removed");
        Ok(())
    }
}
