#include <check.h>
#include "unit/suites.h"
Suite *suite_clock(void) { return suite_create("clock"); }
