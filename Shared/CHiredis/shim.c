// SwiftPM needs a source file in each C target.
#include "CHiredis.h"
