#include <check.h>
#include "unit/suites.h"
Suite *suite_fetch(void) { return suite_create("fetch"); }
