-- Sessions: an append-only list of events each. `sessions` holds the summary that lists show; it is
-- written in the transaction that appends, and can be rebuilt from the events.

CREATE TABLE sessions (
    id uuid CONSTRAINT sessions_pkey PRIMARY KEY,
    -- The last event. Whoever appends locks this row first, so the numbers have no gaps.
    seq bigint NOT NULL CONSTRAINT sessions_seq_check CHECK (seq >= 1),
    title text NOT NULL,
    ends text NOT NULL,
    state text NOT NULL CONSTRAINT sessions_state_check CHECK (state IN (
        'running', 'waiting', 'cause-found', 'no-fault-found', 'inconclusive', 'stopped')),
    headline text NOT NULL,
    started_by_name text NOT NULL,
    started_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL
);

CREATE INDEX sessions_changed_idx ON sessions (changed_at DESC, id DESC);
CREATE INDEX sessions_running_idx ON sessions (id) WHERE state = 'running';

CREATE TABLE session_events (
    session_id uuid NOT NULL
        CONSTRAINT session_events_session_fkey REFERENCES sessions (id) ON DELETE CASCADE,
    seq bigint NOT NULL CONSTRAINT session_events_seq_check CHECK (seq >= 1),
    at timestamptz NOT NULL,
    -- The version of the event's form. A newer one than the program knows is refused.
    version integer NOT NULL,
    event json NOT NULL,
    CONSTRAINT session_events_pkey PRIMARY KEY (session_id, seq)
);

-- Which outputs a session's events refer to, so that none of them is removed.
CREATE TABLE session_outputs (
    session_id uuid NOT NULL
        CONSTRAINT session_outputs_session_fkey REFERENCES sessions (id) ON DELETE CASCADE,
    hash text COLLATE "C" NOT NULL
        CONSTRAINT session_outputs_hash_fkey REFERENCES outputs (hash),
    CONSTRAINT session_outputs_pkey PRIMARY KEY (session_id, hash)
);

CREATE INDEX session_outputs_hash_idx ON session_outputs (hash);
