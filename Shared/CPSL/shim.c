#define _GNU_SOURCE
#include "CPSL.h"
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

// The functions of libpsl that are used here, by its documented interface. The library is loaded at run time, because libcurl installs it
// without its headers.
typedef struct psl_ctx_st psl_ctx_t;
static const psl_ctx_t *(*builtin)(void);
static psl_ctx_t *(*load_file)(const char *);
static void (*release)(psl_ctx_t *);
static int (*is_public_suffix)(const psl_ctx_t *, const char *, int);
static const char *(*registrable_domain)(const psl_ctx_t *, const char *);

// PSL_TYPE_ICANN, PSL_TYPE_PRIVATE and PSL_TYPE_NO_STAR_RULE of libpsl.
enum { TYPE_ANY = 1 | 2, TYPE_NO_STAR_RULE = 4 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_loaded;

static void load_library(void) {
  void *library = dlopen("libpsl.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  // POSIX permits converting a pointer from dlsym to a function pointer; C has no conversion for it.
  *(void **)&builtin = dlsym(library, "psl_builtin");
  *(void **)&load_file = dlsym(library, "psl_load_file");
  *(void **)&release = dlsym(library, "psl_free");
  *(void **)&is_public_suffix = dlsym(library, "psl_is_public_suffix2");
  *(void **)&registrable_domain = dlsym(library, "psl_registrable_domain");
  is_loaded = builtin && load_file && release && is_public_suffix && registrable_domain;
}

int attribution_suffixes_library(void) {
  pthread_once(&once, load_library);
  return is_loaded;
}

static psl_ctx_t *context(const attribution_suffixes *list) { return (psl_ctx_t *)(void *)list; }

const attribution_suffixes *attribution_suffixes_built_in(void) {
  return attribution_suffixes_library() ? (const attribution_suffixes *)builtin() : NULL;
}

attribution_suffixes *attribution_suffixes_load(const char *path) {
  if (!attribution_suffixes_library()) return NULL;
  psl_ctx_t *list = load_file(path);
  if (!list) return NULL;
  // libpsl loads any text without an error, and cannot count the suffixes of a binary list. So a file counts as a list if it has `com`.
  if (!is_public_suffix(list, "com", TYPE_ANY | TYPE_NO_STAR_RULE)) {
    release(list);
    return NULL;
  }
  return (attribution_suffixes *)list;
}

void attribution_suffixes_free(attribution_suffixes *list) { release(context(list)); }

ptrdiff_t attribution_suffixes_registrable(const attribution_suffixes *list, const char *name) {
  const char *found = registrable_domain(context(list), name);
  // libpsl returns a pointer into `name`; anything else would be an error of the library.
  return found && found >= name && found <= name + strlen(name) ? found - name : -1;
}
