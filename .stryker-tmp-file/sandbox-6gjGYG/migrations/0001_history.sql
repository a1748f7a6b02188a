CREATE TABLE `checkpoints` (
	`seq` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`chain` integer NOT NULL,
	`world` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `history` (
	`id` integer PRIMARY KEY NOT NULL,
	`history_id` text NOT NULL,
	`journal_version` integer NOT NULL,
	`forgotten_seq` integer NOT NULL,
	`operations_forgotten_before` integer NOT NULL,
	`origin` text,
	`checksum` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE `accounts` ADD `checksum` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `api_key_uses` ADD `checksum` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `checksum` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `branches` ADD `checksum` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `computes` ADD `checksum` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `connections` ADD `checksum` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `events` ADD `decision` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `events` ADD `chain` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `operations` ADD `checksum` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `projects` ADD `checksum` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `scheduled_activities` ADD `checksum` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `secrets` ADD `checksum` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage` ADD `checksum` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `world` ADD `chain` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `world` ADD `checksum` integer DEFAULT 0 NOT NULL;