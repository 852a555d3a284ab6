#include "kit.h"

void time_tests(void)
{
}
