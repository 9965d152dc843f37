/* scheduler.h -- families plan together: sessions, groups, an evening's guests, chat, appointments
 * (specification "scheduler").
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_H
#define TRESTLE_DOMAIN_SCHEDULER_H

#include "runtime/http.h"

/* Folder by folder; the numbers are those of §4. */

/* auth_http.c: §1.3 */
handler_fn sched_request_link, sched_consume_link;
/* service_http.c: 2, 3 */
handler_fn sched_usage, sched_diagnose;
/* me_http.c: 4, 5 */
handler_fn sched_me_groups, sched_me_dashboard;
/* user_http.c: 6 to 11 */
handler_fn sched_user_profile, sched_user_photo, sched_user_preferences;
/* group_http.c: 12, 17, 20 to 22 */
handler_fn sched_group_create, sched_group_meta, sched_group_rename, sched_group_delete, sched_group_restore;
/* member_http.c, invite_http.c: 13 to 16, 18, 19, 23 */
handler_fn sched_group_join, sched_group_decline, sched_group_members, sched_member_profile,
    sched_group_claim;
handler_fn sched_join_link, sched_invite_email;
/* scan_http.c: 24 to 27 */
handler_fn sched_scan, sched_scan_image, sched_scan_delete, sched_scan_rescan;
/* ignite_http.c: 28 to 35 */
handler_fn sched_ignite_start, sched_ignite_close, sched_ignite_photo, sched_ignite_meta, sched_ignite_join,
    sched_ignite_spinoff;
/* chat_http.c, direct_http.c: 36, 37 */
handler_fn sched_chat, sched_direct;
/* app_http.c, ignite_qr.c: the page and the code on its screen, which §4 does not count */
handler_fn sched_app, sched_ignite_qr;
/* start.c: once the app serves; makes the tables in the background, where all that is needed is set. */
void       sched_start(void);
/* Timers: reminder.c, purge.c */
handler_fn sched_reminder_tick, sched_purge;

#endif
