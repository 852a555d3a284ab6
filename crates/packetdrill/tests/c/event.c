#include "kit.h"

void event_tests(void)
{
}
