#include "kit.h"

void pipe_tests(void)
{
}
