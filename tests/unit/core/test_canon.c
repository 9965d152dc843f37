#include <check.h>
#include "unit/suites.h"
Suite *suite_canon(void) { return suite_create("canon"); }
