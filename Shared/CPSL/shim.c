#include "CPSL.h"
#include <libpsl.h>
#include <string.h>

static psl_ctx_t *context(const attribution_suffixes *list) { return (psl_ctx_t *)(void *)list; }

const attribution_suffixes *attribution_suffixes_built_in(void) { return (const attribution_suffixes *)psl_builtin(); }

attribution_suffixes *attribution_suffixes_load(const char *path) {
  psl_ctx_t *list = psl_load_file(path);
  if (!list) return NULL;
  // Any text can be loaded. A list that does not know `com` is none; in the binary form suffixes cannot be counted.
  if (!psl_is_public_suffix2(list, "com", PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE)) {
    psl_free(list);
    return NULL;
  }
  return (attribution_suffixes *)list;
}

void attribution_suffixes_free(attribution_suffixes *list) { psl_free(context(list)); }

ptrdiff_t attribution_suffixes_registrable(const attribution_suffixes *list, const char *name) {
  const char *found = psl_registrable_domain(context(list), name);
  // libpsl answers a place inside the name that it was given.
  return found && found >= name && found <= name + strlen(name) ? found - name : -1;
}
