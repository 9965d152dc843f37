/* azure_ops.h -- the three services over azure_call; `self` of each is its azure_endpoint.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_AZURE_OPS_H
#define TRESTLE_STORAGE_AZURE_AZURE_OPS_H

#include "storage/azure/azure.h"
#include "storage/backend.h"

extern const tables_ops azure_tables; /* tables.c */
extern const blobs_ops  azure_blobs;  /* blobs.c */
extern const queues_ops azure_queues; /* queues.c */

#endif
