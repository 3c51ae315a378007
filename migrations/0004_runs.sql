-- Checks run on one host outside a session.

CREATE TABLE runs (
    id uuid CONSTRAINT runs_pkey PRIMARY KEY,
    host_id uuid NOT NULL CONSTRAINT runs_host_fkey REFERENCES hosts (id) ON DELETE CASCADE,
    check_id text NOT NULL,
    title text NOT NULL,
    why text,
    state text NOT NULL CONSTRAINT runs_state_check
        CHECK (state IN ('running', 'done', 'interrupted', 'cancelled')),
    started_by uuid NOT NULL,
    started_by_name text NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz,
    version bigint NOT NULL DEFAULT 1,
    CONSTRAINT runs_finished_check CHECK ((state = 'running') = (finished_at IS NULL))
);

CREATE INDEX runs_host_idx ON runs (host_id, started_at DESC, id DESC);
CREATE INDEX runs_open_idx ON runs (id) WHERE state = 'running';

CREATE TABLE run_commands (
    run_id uuid NOT NULL CONSTRAINT run_commands_run_fkey REFERENCES runs (id) ON DELETE CASCADE,
    position integer NOT NULL,
    title text NOT NULL,
    command json NOT NULL,
    -- Absent while the command runs, or when it was interrupted.
    result json,
    stdout_hash text COLLATE "C"
        CONSTRAINT run_commands_stdout_fkey REFERENCES outputs (hash),
    stderr_hash text COLLATE "C"
        CONSTRAINT run_commands_stderr_fkey REFERENCES outputs (hash),
    CONSTRAINT run_commands_pkey PRIMARY KEY (run_id, position)
);

CREATE INDEX run_commands_stdout_idx ON run_commands (stdout_hash);
CREATE INDEX run_commands_stderr_idx ON run_commands (stderr_hash);
