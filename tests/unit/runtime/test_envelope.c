#include <check.h>
#include "unit/suites.h"
Suite *suite_envelope(void) { return suite_create("envelope"); }
