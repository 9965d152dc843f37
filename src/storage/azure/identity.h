/* identity.h -- a token from whoever vouches for this process (spec 2.8): workload identity federation, the
 * managed identity of App Service, or that of a virtual machine (IMDS).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_IDENTITY_H
#define TRESTLE_STORAGE_AZURE_IDENTITY_H

#include "runtime/task.h"

typedef struct {
    str  resource;          /* "https://storage.azure.com" */
    bool workload, managed; /* which kinds may be used */
    str  client_id;         /* of a user-assigned identity; may be empty */
    str  resource_id;       /* … by its resource; may be empty */
} identity;

typedef struct {
    str     token; /* in the task's arena */
    int64_t expires_us;
} identity_token;

/* Which of them is chosen by the environment, anew each time, for it may change while the process lives.
 * patient: with all retries, for somebody who cannot go on without; else one try of a few seconds. The
 * message never holds a token. */
res identity_fetch(task *t, const identity *id, bool patient, identity_token *ret) MUST_USE;

#endif
