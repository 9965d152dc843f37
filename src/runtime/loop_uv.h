/* loop_uv.h -- the loop as libuv knows it, for the files of the runtime that own handles.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_LOOP_UV_H
#define TRESTLE_RUNTIME_LOOP_UV_H

#include <uv.h>

#include "runtime/loop.h"

uv_loop_t *loop_uv(void); /* valid between loop_open and loop_close */

#endif
