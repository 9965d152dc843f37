/* conn_string.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
typedef int not_an_empty_file;
