/* handlers.c -- every function of the app, named as the folder that holds its function.json.
 *
 * Trigger, methods, route and auth level are read from that function.json at start, and from nowhere else. A
 * folder without a row, or a row without a folder, ends the program with one clear line.
 *
 * SPDX-License-Identifier: MIT */
#include "app/handlers.h"

#include "domain/actions.h"
#include "domain/scheduler.h"
#include "domain/service.h"

const handler handlers[] = {
    /* folder    handler           deadline_ms  body_max */
    {"ActionsBuildSnapshot", actions_build_snapshot, 300000, 64 * KIB},
    {"ActionsGet", actions_get, 30000, 0},
    {"ActionsList", actions_list, 230000, 0},
    {"ActionsPurge", actions_purge, 240000, 0},
    {"ActionsReadme", actions_readme, 30000, 0},
    {"ActionsSearch", actions_search, 30000, 0},
    {"ActionsSnapshot", actions_snapshot, 60000, 0},
    {"ActionsStats", actions_stats, 120000, 0},
    {"ActionsStatus", actions_status, 120000, 0},
    {"ActionsUpsert", actions_upsert, 60000, 8 * MIB},
    {"ActionsUpsertBatch", actions_upsert_batch, 230000, 8 * MIB},
    {"ActionsVersions", actions_versions, 120000, 0},
    {"health", service_health, 5000, 0},
    {"metrics", service_metrics, 5000, 0},
    {"openapi", service_openapi, 5000, 0},
    {"reminderTick", sched_reminder_tick, 240000, 0},
    {"schedApp", sched_app, 5000, 0},
    {"schedAppointmentScanDelete", sched_scan_delete, 30000, 16 * KIB},
    {"schedAppointmentScanImage", sched_scan_image, 30000, 0},
    {"schedAppointmentScanRescan", sched_scan_rescan, 30000, 8 * MIB},
    {"schedAuthConsumeLink", sched_consume_link, 30000, 16 * KIB},
    {"schedAuthRequestLink", sched_request_link, 30000, 16 * KIB},
    {"schedChat", sched_chat, 470000, 256 * KIB},
    {"schedDiagnoseOpenai", sched_diagnose, 15000, 0},
    {"schedDirect", sched_direct, 120000, 64 * KIB},
    {"schedGroupClaim", sched_group_claim, 30000, 16 * KIB},
    {"schedGroupCreate", sched_group_create, 30000, 16 * KIB},
    {"schedGroupDecline", sched_group_decline, 30000, 16 * KIB},
    {"schedGroupDelete", sched_group_delete, 30000, 16 * KIB},
    {"schedGroupInviteEmail", sched_invite_email, 60000, 16 * KIB},
    {"schedGroupJoin", sched_group_join, 30000, 16 * KIB},
    {"schedGroupJoinLink", sched_join_link, 60000, 16 * KIB},
    {"schedGroupMemberProfile", sched_member_profile, 30000, 16 * KIB},
    {"schedGroupMembers", sched_group_members, 30000, 0},
    {"schedGroupMeta", sched_group_meta, 30000, 0},
    {"schedGroupRename", sched_group_rename, 30000, 16 * KIB},
    {"schedGroupRestore", sched_group_restore, 30000, 16 * KIB},
    {"schedIgniteClose", sched_ignite_close, 30000, 16 * KIB},
    {"schedIgniteJoin", sched_ignite_join, 60000, 6 * MIB},
    {"schedIgniteMeta", sched_ignite_meta, 30000, 16 * KIB},
    {"schedIgnitePhoto", sched_ignite_photo, 60000, 6 * MIB},
    {"schedIgniteQr", sched_ignite_qr, 30000, 0},
    {"schedIgniteSpinoff", sched_ignite_spinoff, 30000, 16 * KIB},
    {"schedIgniteStart", sched_ignite_start, 30000, 16 * KIB},
    {"schedMeDashboard", sched_me_dashboard, 30000, 0},
    {"schedMeGroups", sched_me_groups, 30000, 0},
    {"schedPurge", sched_purge, 240000, 0},
    {"schedScanAppointment", sched_scan, 240000, 8 * MIB},
    {"schedUsage", sched_usage, 30000, 0},
    {"schedUserPreferences", sched_user_preferences, 30000, 64 * KIB},
    {"schedUserProfile", sched_user_profile, 30000, 16 * KIB},
    {"schedUserProfilePhoto", sched_user_photo, 30000, 4 * MIB},
    {"SnapshotWarmup", actions_snapshot_warmup, 240000, 0},
    {"StatsWarmup", actions_stats_warmup, 240000, 0},
    {"VersionsWarmup", actions_versions_warmup, 240000, 0},
};

const size_t handler_count = sizeof handlers / sizeof *handlers;

const error_shape error_shapes[] = {
    {"ActionsUpsert", actions_upsert_error},
    {"actions", actions_error},
};

const size_t error_shape_count = sizeof error_shapes / sizeof *error_shapes;
