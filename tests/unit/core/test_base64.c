#include <check.h>
#include "unit/suites.h"
Suite *suite_base64(void) { return suite_create("base64"); }
