#include <check.h>
#include "unit/suites.h"
Suite *suite_id(void) { return suite_create("id"); }
