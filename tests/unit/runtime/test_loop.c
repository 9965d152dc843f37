#include <check.h>
#include "unit/suites.h"
Suite *suite_loop(void) { return suite_create("loop"); }
