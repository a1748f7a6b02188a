CREATE TABLE `revoked_hashes` (
	`key_id` integer PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`checksum` integer DEFAULT 0 NOT NULL
);
