-- Accounts, their sign-ins and the one-time links that make them. Tokens are stored as SHA-256 only.

CREATE TABLE people (
    id uuid CONSTRAINT people_pkey PRIMARY KEY,
    name text NOT NULL,
    -- The name in lower case by Unicode's rules. The program makes it, so that "the same name" does
    -- not depend on the database's locale.
    name_key text NOT NULL CONSTRAINT people_name_key UNIQUE,
    role text NOT NULL CONSTRAINT people_role_check CHECK (role IN ('viewer', 'operator', 'admin')),
    -- Argon2id in PHC form, with its parameters.
    password_hash text NOT NULL,
    created_at timestamptz NOT NULL,
    last_seen_at timestamptz
);

CREATE TABLE sign_ins (
    token_hash bytea CONSTRAINT sign_ins_pkey PRIMARY KEY,
    person_id uuid NOT NULL
        CONSTRAINT sign_ins_person_fkey REFERENCES people (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);

CREATE INDEX sign_ins_person_idx ON sign_ins (person_id);
CREATE INDEX sign_ins_expires_idx ON sign_ins (expires_at);

CREATE TABLE invitations (
    token_hash bytea CONSTRAINT invitations_pkey PRIMARY KEY,
    role text NOT NULL
        CONSTRAINT invitations_role_check CHECK (role IN ('viewer', 'operator', 'admin')),
    -- The first start's link works only while there is no admin.
    first_admin boolean NOT NULL,
    -- Absent for links made by the first start or on the command line. An invitation does not
    -- outlive the account that made it.
    created_by uuid CONSTRAINT invitations_creator_fkey REFERENCES people (id) ON DELETE CASCADE,
    created_by_name text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
