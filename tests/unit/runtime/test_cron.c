#include <check.h>
#include "unit/suites.h"
Suite *suite_cron(void) { return suite_create("cron"); }
