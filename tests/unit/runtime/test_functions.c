#include <check.h>
#include "unit/suites.h"
Suite *suite_functions(void) { return suite_create("functions"); }
