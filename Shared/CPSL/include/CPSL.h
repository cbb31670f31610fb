#ifndef CPSL_H
#define CPSL_H
#include <stddef.h>

// A public suffix list (libpsl). It is immutable, so any thread may query it.
typedef struct attribution_suffixes attribution_suffixes;

// True if the library is installed (libpsl.so.5). Without the library there is no list.
int attribution_suffixes_library(void);
// The list that is built into libpsl; NULL if libpsl was built without one. It must not be released.
const attribution_suffixes *attribution_suffixes_built_in(void);
// Loads a list from a file, as text or in the binary format of psl-make-dafsa; NULL if the file cannot be read or lacks the suffix `com`.
// attribution_suffixes_free must release the list.
attribution_suffixes *attribution_suffixes_load(const char *path);
void attribution_suffixes_free(attribution_suffixes *list);
// The offset in `name` at which its registrable domain begins; -1 if it has none, because it is a public suffix or not a domain. `name`
// must be in lower case, with labels beyond ASCII in their xn-- form.
ptrdiff_t attribution_suffixes_registrable(const attribution_suffixes *list, const char *name);

#endif
