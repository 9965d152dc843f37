#include <check.h>
#include "unit/suites.h"
Suite *suite_http_server(void) { return suite_create("http_server"); }
