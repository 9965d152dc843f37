#include <check.h>
#include "unit/suites.h"
Suite *suite_route_template(void) { return suite_create("route_template"); }
