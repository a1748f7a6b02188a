CREATE TABLE `branch_data` (
	`id` text PRIMARY KEY NOT NULL,
	`volume_id` text,
	`at` integer NOT NULL,
	`lsn` text,
	`writes` integer,
	`is_open` integer,
	`schema_only` integer,
	`past` text,
	`checksum` integer DEFAULT 0 NOT NULL
);
