-- Hosts, what the last look at them found, and their confirmed keys.
--
-- Documents are `json`, here and everywhere: hosts may print NUL, which JSON writes as \u0000 and
-- `jsonb` refuses. They are written and read whole, by the program.

CREATE TABLE hosts (
    id uuid CONSTRAINT hosts_pkey PRIMARY KEY,
    name text NOT NULL,
    -- In lower case, as for people.
    name_key text NOT NULL CONSTRAINT hosts_name_key UNIQUE,
    address text NOT NULL,
    port integer NOT NULL CONSTRAINT hosts_port_check CHECK (port BETWEEN 1 AND 65535),
    login text NOT NULL,
    credential json NOT NULL,
    jump_id uuid CONSTRAINT hosts_jump_fkey REFERENCES hosts (id)
        CONSTRAINT hosts_jump_check CHECK (jump_id <> id),
    created_by uuid NOT NULL,
    created_at timestamptz NOT NULL,
    -- Rises with every change, also of the host's runs.
    version bigint NOT NULL DEFAULT 1,
    -- Since when it is being looked at.
    checking_since timestamptz,
    last_check json
);

CREATE INDEX hosts_jump_idx ON hosts (jump_id);

-- Every key that was ever confirmed, by whom and when. The rows that were not replaced hold.
CREATE TABLE host_keys (
    host_id uuid NOT NULL CONSTRAINT host_keys_host_fkey REFERENCES hosts (id) ON DELETE CASCADE,
    algorithm text NOT NULL,
    fingerprint text NOT NULL,
    openssh text NOT NULL,
    confirmed_by uuid NOT NULL,
    -- The name that person had then; an account may be removed.
    confirmed_by_name text NOT NULL,
    confirmed_at timestamptz NOT NULL,
    replaced_at timestamptz
);

CREATE UNIQUE INDEX host_keys_current_key ON host_keys (host_id) WHERE replaced_at IS NULL;
CREATE INDEX host_keys_host_idx ON host_keys (host_id);
