#include <check.h>
#include "unit/suites.h"
Suite *suite_task(void) { return suite_create("task"); }
