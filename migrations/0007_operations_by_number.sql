CREATE TABLE `__new_operations` (
	`id` text NOT NULL,
	`number` integer PRIMARY KEY NOT NULL,
	`id_start` text GENERATED ALWAYS AS (substr("id", 1, 8)) VIRTUAL,
	`block` integer GENERATED ALWAYS AS ("number" >> 14) VIRTUAL,
	`project_id` text NOT NULL,
	`branch_id` text,
	`endpoint_id` text,
	`action` text NOT NULL,
	`status` text GENERATED ALWAYS AS (json_extract("state", '$.status')) VIRTUAL,
	`state` text NOT NULL,
	`duration_ms` integer NOT NULL,
	`cause` text NOT NULL,
	`then_start` integer NOT NULL,
	`failures` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`checksum` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
INSERT INTO `__new_operations` ("id", "number", "project_id", "branch_id", "endpoint_id", "action", "state", "duration_ms", "cause", "then_start", "failures", "created_at", "updated_at", "checksum")
SELECT "id", "number", "project_id", "branch_id", "endpoint_id", "action", "state", "duration_ms", "cause", "then_start", "failures", "created_at", "updated_at", "checksum" FROM `operations` ORDER BY "number";--> statement-breakpoint
DROP TABLE `operations`;--> statement-breakpoint
ALTER TABLE `__new_operations` RENAME TO `operations`;--> statement-breakpoint
CREATE INDEX `operations_by_id` ON `operations` (`block`,`id_start`);--> statement-breakpoint
CREATE INDEX `operations_of_project` ON `operations` (`block`,`project_id`,`number`);--> statement-breakpoint
CREATE INDEX `operations_unfinished` ON `operations` (`number`) WHERE status IN ('scheduling', 'running');