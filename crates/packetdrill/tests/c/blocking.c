#include "kit.h"

void blocking_tests(void)
{
}
