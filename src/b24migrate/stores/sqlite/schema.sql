-- The embedded store. Three parts: what every store has, one record table, one register.
-- Big columns come last, so that a question about the small ones never walks a long payload.

-- [store]
CREATE TABLE Tallies (
    TableName TEXT NOT NULL,
    Status TEXT NOT NULL,
    Records INTEGER NOT NULL,
    PulledThrough INTEGER NOT NULL,
    PRIMARY KEY (TableName, Status)
);
CREATE TABLE Counters (
    Name TEXT NOT NULL PRIMARY KEY,
    Value REAL NOT NULL
);
-- VisibleAt: null = can be taken now; a leased job becomes visible when its lease ends.
CREATE TABLE Jobs (
    Seq INTEGER PRIMARY KEY,
    Id TEXT NOT NULL UNIQUE,
    Scope TEXT NOT NULL,
    Kind TEXT NOT NULL,
    Args TEXT NOT NULL,
    Attempts INTEGER NOT NULL,
    Failures INTEGER NOT NULL,
    VisibleAt TEXT,
    Owner TEXT,
    Token TEXT,
    LeaseUntil TEXT
);
CREATE INDEX JobsVisible ON Jobs (VisibleAt, Seq);
CREATE INDEX JobsScope ON Jobs (Scope);
CREATE INDEX JobsOwned ON Jobs (Owner) WHERE Owner IS NOT NULL;
-- How many jobs a scope has is asked after every job: it must not cost a walk over all of them.
CREATE TABLE Scopes (
    Scope TEXT NOT NULL PRIMARY KEY,
    Open INTEGER NOT NULL
);
CREATE TRIGGER JobAdded AFTER INSERT ON Jobs BEGIN
    INSERT INTO Scopes (Scope, Open) VALUES (new.Scope, 1) ON CONFLICT (Scope) DO UPDATE SET Open = Open + 1;
END;
CREATE TRIGGER JobRemoved AFTER DELETE ON Jobs BEGIN
    UPDATE Scopes SET Open = Open - 1 WHERE Scope = old.Scope;
END;
CREATE TABLE DeadLetters (
    Seq INTEGER PRIMARY KEY,
    Id TEXT NOT NULL UNIQUE,
    Scope TEXT NOT NULL,
    Kind TEXT NOT NULL,
    Args TEXT NOT NULL,
    Attempts INTEGER NOT NULL,
    Failures INTEGER NOT NULL,
    Code TEXT NOT NULL,
    Reason TEXT NOT NULL,
    DiedAt TEXT NOT NULL,
    ReasonMessage TEXT
);
-- Those of records may be as many as records; who looks for the others must not walk past them.
CREATE INDEX DeadParts ON DeadLetters (Scope, Seq) WHERE json_type(Args, '$.record') IS NULL;

-- [records]
CREATE TABLE "{table}" (
    Ord TEXT NOT NULL UNIQUE,
    PartitionKey TEXT NOT NULL DEFAULT {partition},
    RowKey TEXT NOT NULL,
    Status TEXT NOT NULL DEFAULT 'NEW',
    PayloadHash TEXT,
    Attempts INTEGER NOT NULL DEFAULT 0,
    LastErrorCode TEXT,
    LastErrorAtUtc TEXT,
    RetryAfterUtc TEXT,
    TargetId TEXT,
    ImportedAtUtc TEXT,
    SourceOriginal TEXT,
    SourceUtc TEXT,
    OriginalOffsetMin INTEGER,
    PulledThrough INTEGER NOT NULL DEFAULT 0,
    Revision INTEGER NOT NULL DEFAULT 0,
    Losses TEXT,
    DeletedUtc TEXT,
    RunId TEXT,
    MigrationVersion INTEGER NOT NULL DEFAULT {version},
    Pass INTEGER NOT NULL,
    NaturalKey TEXT,
    LastError TEXT,
    LastErrorMessage TEXT,
    Extras TEXT,
    Payload TEXT NOT NULL
);
CREATE INDEX "{table}Pending" ON "{table}" (Ord, PulledThrough) WHERE Status IN ('NEW', 'ERROR_RETRY');
CREATE INDEX "{table}Failed" ON "{table}" (Ord) WHERE Status IN ('IMPORT_ERR', 'ERROR_RETRY');
CREATE INDEX "{table}Imported" ON "{table}" (Ord) WHERE Status = 'IMPORT_OK';
CREATE INDEX "{table}Errors" ON "{table}" (Status, LastErrorCode)
    WHERE LastErrorCode IS NOT NULL AND Status <> 'IMPORT_OK';

-- [files]
ALTER TABLE "{table}" ADD COLUMN Name TEXT AS (json_extract(Payload, '$.name')) VIRTUAL;
ALTER TABLE "{table}" ADD COLUMN Size INTEGER AS (json_extract(Payload, '$.size')) VIRTUAL;
ALTER TABLE "{table}" ADD COLUMN Sha256 TEXT AS (json_extract(Payload, '$.sha256')) VIRTUAL;
ALTER TABLE "{table}" ADD COLUMN Location TEXT AS (json_extract(Payload, '$.location')) VIRTUAL;
ALTER TABLE "{table}" ADD COLUMN Entity TEXT AS (json_extract(Payload, '$.entity')) VIRTUAL;

-- [register]
-- Messages (where a register has it): keys and values of the sentences in a row, whose columns have the English.
-- Kinds: which columns hold JSON text or a truth value; null when every value is what it looks like.
CREATE TABLE "{table}" (
    PartitionKey TEXT NOT NULL,
    RowKey TEXT NOT NULL,
    {columns},
    Version INTEGER NOT NULL DEFAULT 1,
    Kinds TEXT,
    PRIMARY KEY (PartitionKey, RowKey)
);
