#include <check.h>
#include "unit/suites.h"
Suite *suite_settings(void) { return suite_create("settings"); }
