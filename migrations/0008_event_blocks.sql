CREATE TABLE `event_blocks` (
	`last_seq` integer PRIMARY KEY NOT NULL,
	`first_seq` integer NOT NULL,
	`types` text NOT NULL,
	`chain_before` integer NOT NULL,
	`chain` integer NOT NULL,
	`events` blob NOT NULL
);
