#include <check.h>
#include "unit/suites.h"
Suite *suite_json(void) { return suite_create("json"); }
