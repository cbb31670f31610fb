#include "CBuildInformation.h"

#ifndef ATTRIBUTION_COMMIT
#define ATTRIBUTION_COMMIT unknown
#endif

// Two macros, so that the value of ATTRIBUTION_COMMIT becomes text and not its name.
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

const char *attribution_build_commit(void) { return TEXT(ATTRIBUTION_COMMIT); }
