#include <check.h>
#include "unit/suites.h"
Suite *suite_res(void) { return suite_create("res"); }
