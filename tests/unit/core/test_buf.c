#include <check.h>
#include "unit/suites.h"
Suite *suite_buf(void) { return suite_create("buf"); }
