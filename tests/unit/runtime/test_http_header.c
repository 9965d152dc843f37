#include <check.h>
#include "unit/suites.h"
Suite *suite_http_header(void) { return suite_create("http_header"); }
