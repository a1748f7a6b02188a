CREATE TABLE `faults` (
	`name` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`scope` text NOT NULL,
	`timing` text NOT NULL,
	`effect` text NOT NULL,
	`set_at` integer NOT NULL,
	`seen` integer NOT NULL,
	`hits` integer NOT NULL,
	`rate` text,
	`checksum` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `requests` (
	`number` integer PRIMARY KEY NOT NULL,
	`last` integer NOT NULL,
	`at` integer NOT NULL,
	`payload` text NOT NULL
);
--> statement-breakpoint
ALTER TABLE `operations` ADD `failures` text;