/* scan.h -- pictures of appointments: kept, shown to a model, and read (specification §4.4).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_SCAN_H
#define TRESTLE_DOMAIN_SCHEDULER_SCAN_H

#include "domain/scheduler/image.h"
#include "domain/scheduler/scan_read.h"

/* ".../appointments/{id}/scan/scan.png"; *ret_key is the name. */
res  scan_store_image(task *t, str group, str id, const image *picture, str *ret_key) MUST_USE;
void scan_drop_image(task *t, str key); /* failures are logged */

/* As ai_ask: what the model sees on it. */
res scan_ask(task *t, str user_key, const zone *z, const image *picture, const json_val **ret) MUST_USE;

/* Reads the stored picture in the background, and overwrites what it says; scanStatus is parsed or failed
 * afterwards. Nothing is done when another picture has come meanwhile (by scanCapturedAt). */
res scan_read_later(const appointment *p, const actor *by, const zone *z) MUST_USE;

#endif
