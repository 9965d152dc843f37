#include <check.h>
#include "unit/suites.h"
Suite *suite_gzip(void) { return suite_create("gzip"); }
