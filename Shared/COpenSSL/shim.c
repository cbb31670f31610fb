/* Checks that the module's header compiles by itself. */
#include "COpenSSL.h"
