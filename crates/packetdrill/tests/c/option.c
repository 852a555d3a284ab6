#include "kit.h"

void option_tests(void)
{
}
