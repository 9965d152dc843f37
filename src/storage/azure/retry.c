/* retry.c -- see retry.h.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/retry.h"

#include "core/iso8601.h"

bool retry_status(int status)
{
    if (status == 408 || status == 429)
        return true;
    return status >= 500 && status <= 599 && status != 501 && status != 505;
}

bool retry_failure(res r)
{
    return r == RES_UNREACHABLE || r == RES_UPSTREAM || r == RES_TIMEOUT;
}

bool retry_slowly(str code)
{
    return str_eq(code, STR("TableBeingDeleted")) || str_eq(code, STR("ContainerBeingDeleted")) ||
           str_eq(code, STR("QueueBeingDeleted"));
}

uint64_t retry_delay_ms(unsigned tries, uint32_t random)
{
    uint64_t most = RETRY_BASE_MS;
    for (unsigned i = 1; i < tries && most < RETRY_CAP_MS; i++)
        most *= 2;
    if (most > RETRY_CAP_MS)
        most = RETRY_CAP_MS;
    return random % (most + 1);
}

static bool number_header(const fetch_answer *got, str name, uint64_t *ret)
{
    return str_to_u64(str_trim(http_header_get(got->headers, got->header_count, name)), ret);
}

bool retry_after_ms(const fetch_answer *got, int64_t now_us, uint64_t *ret)
{
    uint64_t n;
    int64_t  at_us;
    if (number_header(got, STR("retry-after-ms"), ret) || number_header(got, STR("x-ms-retry-after-ms"), ret))
        return true;
    if (number_header(got, STR("Retry-After"), &n)) {
        *ret = n < UINT64_MAX / 1000 ? n * 1000 : UINT64_MAX;
        return true;
    }
    if (!http_date_parse(str_trim(http_header_get(got->headers, got->header_count, STR("Retry-After"))),
                         &at_us))
        return false;
    *ret = at_us > now_us ? (uint64_t)(at_us - now_us + 999) / 1000 : 0;
    return true;
}
