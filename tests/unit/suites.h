/* suites.h -- the one list of unit suites: one per source file, in tests/unit/ at the same path, named
 * test_FILE.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_SUITES_H
#define TRESTLE_TESTS_SUITES_H

#include <check.h>

#define UNIT_SUITES(X)     \
    X(bulk_pace)           \
    X(bulk_window)         \
    X(arena)               \
    X(base64)              \
    X(buf)                 \
    X(canon)               \
    X(clock)               \
    X(gunzip)              \
    X(gzip)                \
    X(hash)                \
    X(id)                  \
    X(iso8601)             \
    X(json)                \
    X(json_cut)            \
    X(log)                 \
    X(log_stream)          \
    X(log_text)            \
    X(metrics)             \
    X(res)                 \
    X(str)                 \
    X(zone)                \
    X(zone_file)           \
    X(zone_rule)           \
    X(actions_copy)        \
    X(actions_counts)      \
    X(actions_facts)       \
    X(actions_item)        \
    X(actions_parts)       \
    X(actions_readme_html) \
    X(actions_record)      \
    X(actions_row)         \
    X(actions_search)      \
    X(actions_summary)     \
    X(actions_versions)    \
    X(auth)                \
    X(sched_form_data)     \
    X(sched_image)         \
    X(sched_plan)          \
    X(sched_scan_read)     \
    X(sched_trail)         \
    X(sched_when)          \
    X(service)             \
    X(asset)               \
    X(background)          \
    X(canonical)           \
    X(cron)                \
    X(envelope)            \
    X(envelope_write)      \
    X(error_reply)         \
    X(fetch)               \
    X(fiber)               \
    X(functions)           \
    X(functions_route)     \
    X(gate)                \
    X(http_header)         \
    X(http_server)         \
    X(key_lock)            \
    X(loop)                \
    X(queue_runner)        \
    X(redis)               \
    X(redis_url)           \
    X(reply)               \
    X(request)             \
    X(route_template)      \
    X(settings)            \
    X(task)                \
    X(task_scope)          \
    X(worker)              \
    X(entity)              \
    X(filter)              \
    X(facade)              \
    X(long_value)          \
    X(provision)           \
    X(update)              \
    X(store_choose)        \
    X(azure_conn_string)   \
    X(azure_sign)          \
    X(azure_call)          \
    X(azure_token)         \
    X(azure_odata)         \
    X(azure_batch)         \
    X(azure_tables)        \
    X(azure_blobs)         \
    X(azure_queues)        \
    X(azure_xml)           \
    X(embedded_engine)     \
    X(embedded_tables)     \
    X(embedded_blobs)      \
    X(embedded_queues)

#define DECLARE(name) Suite *suite_##name(void);
UNIT_SUITES(DECLARE)
#undef DECLARE

#endif
