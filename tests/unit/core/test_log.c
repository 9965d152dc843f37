#include <check.h>
#include "unit/suites.h"
Suite *suite_log(void) { return suite_create("log"); }
