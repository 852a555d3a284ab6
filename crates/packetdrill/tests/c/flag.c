#include "kit.h"

void flag_tests(void)
{
}
