#include <check.h>
#include "unit/suites.h"
Suite *suite_arena(void) { return suite_create("arena"); }
