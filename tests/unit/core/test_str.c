#include <check.h>
#include "unit/suites.h"
Suite *suite_str(void) { return suite_create("str"); }
