/* readme_html.h -- pictures of a README that is shown elsewhere (specification §11, Readme).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_README_HTML_H
#define TRESTLE_DOMAIN_ACTIONS_README_HTML_H

#include "core/arena.h"

enum { README_HTML_MAX = 8 * MIB };

/* The same text, with relative src and srcset of img and source made absolute: those that begin with a slash
 * below `root`, the others below its folder `dir` ("" or "docs/en"), which they cannot leave upwards beyond
 * root. root ends with a slash. Everything else stays byte for byte; so does all of it when the result would
 * be longer than README_HTML_MAX. */
str readme_html(arena *a, str html, str root, str dir);

#endif
