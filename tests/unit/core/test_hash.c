#include <check.h>
#include "unit/suites.h"
Suite *suite_hash(void) { return suite_create("hash"); }
