#include <check.h>
#include "unit/suites.h"
Suite *suite_reply(void) { return suite_create("reply"); }
