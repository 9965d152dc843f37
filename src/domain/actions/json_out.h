/* json_out.h -- JSON written straight into a buf, for documents of many thousand items.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_JSON_OUT_H
#define TRESTLE_DOMAIN_ACTIONS_JSON_OUT_H

#include "core/buf.h"

void json_out_text(buf *out, str text);         /* quoted; UTF-8 is taken as it is */
void json_out_text_or_null(buf *out, str text); /* empty: null */
void json_out_number(buf *out, double n);       /* as JavaScript prints it */
void json_out_bool(buf *out, bool truth);
/* The key with its quotes and colon, and a comma before all but the first after an opening bracket. */
void json_out_key(buf *out, const char *key);

#endif
