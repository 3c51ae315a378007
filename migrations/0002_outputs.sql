-- Raw outputs by the SHA-256 of their bytes. An output is stored before the row that refers to it;
-- one that nothing refers to is removed once `stored_at` is old.

CREATE TABLE outputs (
    hash text COLLATE "C" CONSTRAINT outputs_pkey PRIMARY KEY
        CONSTRAINT outputs_hash_check CHECK (hash ~ '^[0-9a-f]{64}$'),
    -- Bytes before compression.
    size bigint NOT NULL CONSTRAINT outputs_size_check CHECK (size >= 0),
    -- zlib (RFC 1950).
    body bytea NOT NULL,
    -- Set again whenever the same bytes are stored again.
    stored_at timestamptz NOT NULL
);

-- The bodies are compressed already.
ALTER TABLE outputs ALTER COLUMN body SET STORAGE EXTERNAL;
