/* contract_main.c -- see contract.h.
 *
 * SPDX-License-Identifier: MIT */
#include "live/contract.h"

#include "live/live.h"

int main(int argc, char **argv)
{
    static const runner_suite suites[] = {
        {"tables", suite_tables},         {"values", suite_values}, {"query", suite_query},
        {"filter", suite_filter},         {"batch", suite_batch},   {"blobs", suite_blobs},
        {"blob_lists", suite_blob_lists}, {"queues", suite_queues}, {"races", suite_races},
        {"history", suite_history},
    };
    return live_main(suites, sizeof suites / sizeof *suites, argc, argv);
}
