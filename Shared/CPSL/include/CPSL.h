#ifndef CPSL_H
#define CPSL_H
#include <stddef.h>

// A list of public suffixes (libpsl). Nothing changes it after it was made, so that any thread may ask it.
typedef struct attribution_suffixes attribution_suffixes;

// Whether the library is on this machine (libpsl.so.5). Without it there is no list.
int attribution_suffixes_library(void);
// The list that libpsl carries in itself; NULL when it was built without one. It is never released.
const attribution_suffixes *attribution_suffixes_built_in(void);
// The list of a file, as text or in the form of psl-make-dafsa; NULL when it cannot be read or has no suffixes.
// attribution_suffixes_free releases it.
attribution_suffixes *attribution_suffixes_load(const char *path);
void attribution_suffixes_free(attribution_suffixes *list);
// Where in `name` its registrable domain begins, or -1 when it has none: it is a public suffix, or no domain. `name` is lower case, its
// labels beyond ASCII are in their xn-- form.
ptrdiff_t attribution_suffixes_registrable(const attribution_suffixes *list, const char *name);

#endif
