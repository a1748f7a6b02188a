CREATE TABLE `branch_snapshots` (
	`id` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`project_id` text NOT NULL,
	`source_branch_id` text NOT NULL,
	`name` text NOT NULL,
	`timestamp` integer NOT NULL,
	`lsn` text,
	`manual` integer NOT NULL,
	`expires_at` integer,
	`content` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`checksum` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `hourly_usage` (
	`key` text PRIMARY KEY NOT NULL,
	`of` text NOT NULL,
	`hour` integer NOT NULL,
	`active_ms` integer NOT NULL,
	`cu_ms` real NOT NULL,
	`checksum` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `records` (
	`id` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`kind` text NOT NULL,
	`scope` text NOT NULL,
	`fields` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`checksum` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE `api_keys` ADD `scope` text;--> statement-breakpoint
ALTER TABLE `branches` ADD `recoverable_until` integer;--> statement-breakpoint
ALTER TABLE `branches` ADD `expires_at` integer;--> statement-breakpoint
ALTER TABLE `branches` ADD `ttl_seconds` integer;--> statement-breakpoint
ALTER TABLE `branches` ADD `last_reset_at` integer;--> statement-breakpoint
ALTER TABLE `branches` ADD `restored_from` text;--> statement-breakpoint
ALTER TABLE `branches` ADD `restored_as` text;--> statement-breakpoint
ALTER TABLE `branches` ADD `restore_status` text;--> statement-breakpoint
ALTER TABLE `branches` ADD `backup_schedule` text;--> statement-breakpoint
ALTER TABLE `branches` ADD `past` text;--> statement-breakpoint
ALTER TABLE `projects` ADD `recoverable_until` integer;--> statement-breakpoint
ALTER TABLE `usage` ADD `hour` text;