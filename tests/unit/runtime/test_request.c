#include <check.h>
#include "unit/suites.h"
Suite *suite_request(void) { return suite_create("request"); }
