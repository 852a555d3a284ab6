#include "kit.h"

void error_tests(void)
{
}
