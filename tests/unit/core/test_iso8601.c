#include <check.h>
#include "unit/suites.h"
Suite *suite_iso8601(void) { return suite_create("iso8601"); }
