ALTER TABLE `branches` ADD `logical_size_bytes` integer;--> statement-breakpoint
ALTER TABLE `hourly_usage` ADD `data` text;--> statement-breakpoint
ALTER TABLE `usage` ADD `data` text;