CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`name` text NOT NULL,
	`email` text NOT NULL,
	`plan` text NOT NULL,
	`organization_id` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `api_key_uses` (
	`key_id` integer PRIMARY KEY NOT NULL,
	`last_used_at` integer NOT NULL,
	`last_used_from_addr` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` integer PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer
);
--> statement-breakpoint
CREATE TABLE `branches` (
	`id` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`project_id` text NOT NULL,
	`parent_id` text,
	`parent_timestamp` integer,
	`parent_lsn` text,
	`name` text NOT NULL,
	`state` text NOT NULL,
	`state_changed_at` integer NOT NULL,
	`default` integer NOT NULL,
	`protected` integer NOT NULL,
	`init_source` text NOT NULL,
	`roles` text NOT NULL,
	`databases` text NOT NULL,
	`annotations` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `branches_name` ON `branches` (`project_id`,`name`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `branches_default` ON `branches` (`project_id`) WHERE "default" = 1 AND deleted_at IS NULL;--> statement-breakpoint
CREATE TABLE `computes` (
	`id` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`project_id` text NOT NULL,
	`branch_id` text NOT NULL,
	`region_id` text NOT NULL,
	`type` text NOT NULL,
	`name` text,
	`range` text NOT NULL,
	`suspend_timeout_seconds` integer NOT NULL,
	`settings` text NOT NULL,
	`pooler_enabled` integer NOT NULL,
	`passwordless_access` integer NOT NULL,
	`disabled` integer NOT NULL,
	`provisioner` text NOT NULL,
	`phase` text NOT NULL,
	`waiting` text,
	`last_active_at` integer,
	`started_at` integer,
	`suspended_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `computes_primary` ON `computes` (`branch_id`) WHERE type = 'read_write';--> statement-breakpoint
CREATE TABLE `connections` (
	`key` text PRIMARY KEY NOT NULL,
	`endpoint_id` text NOT NULL,
	`id` text NOT NULL,
	`pooled` integer NOT NULL,
	`database` text,
	`in_transaction` integer NOT NULL,
	`waiting` integer NOT NULL,
	`until` integer,
	`busy_until` integer,
	`lasts_ms` integer,
	`busy_ms` integer
);
--> statement-breakpoint
CREATE TABLE `events` (
	`seq` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`type` text NOT NULL,
	`payload` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `operations` (
	`id` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`project_id` text NOT NULL,
	`branch_id` text,
	`endpoint_id` text,
	`action` text NOT NULL,
	`status` text GENERATED ALWAYS AS (json_extract("state", '$.status')) VIRTUAL,
	`state` text NOT NULL,
	`duration_ms` integer NOT NULL,
	`cause` text NOT NULL,
	`then_start` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `operations_of_project` ON `operations` (`project_id`,`number`);--> statement-breakpoint
CREATE INDEX `operations_unfinished` ON `operations` (`number`) WHERE status IN ('scheduling', 'running');--> statement-breakpoint
CREATE TABLE `projects` (
	`id` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`region_id` text NOT NULL,
	`provisioner` text NOT NULL,
	`pg_version` integer NOT NULL,
	`store_passwords` integer NOT NULL,
	`history_retention_seconds` integer NOT NULL,
	`settings` text NOT NULL,
	`default_endpoint_settings` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE TABLE `scheduled_activities` (
	`number` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`activity` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `secrets` (
	`id` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `usage` (
	`id` text PRIMARY KEY NOT NULL,
	`active_ms` integer NOT NULL,
	`cu_ms` real NOT NULL
);
--> statement-breakpoint
CREATE TABLE `world` (
	`id` integer PRIMARY KEY NOT NULL,
	`settings` text NOT NULL,
	`numbers` text NOT NULL,
	`clock` text NOT NULL,
	`seq` integer NOT NULL,
	`at` integer NOT NULL,
	`now` integer NOT NULL
);
