#include <check.h>
#include "unit/suites.h"
Suite *suite_fiber(void) { return suite_create("fiber"); }
