#include <check.h>
#include "unit/suites.h"
Suite *suite_metrics(void) { return suite_create("metrics"); }
