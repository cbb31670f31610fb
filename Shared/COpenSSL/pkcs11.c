#define OPENSSL_SUPPRESS_DEPRECATED
#include "COpenSSL.h"
#include <dlfcn.h>
#include <openssl/engine.h>
#include <openssl/ui.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The types of the PKCS #11 Cryptographic Token Interface Base Specification 2.40, as far as they are used here. copenssl_pkcs11_module is
// the beginning of the specification's list of functions (CK_FUNCTION_LIST). Functions that are not called here have the type unused_t.
typedef unsigned long ulong_t;
typedef struct {
  unsigned char major, minor;
} version_t;
typedef struct {
  unsigned char label[32], manufacturer[32], model[16], serial[16];
  ulong_t flags;
  ulong_t sessions_and_memory[10];
  version_t hardware, firmware;
  unsigned char utc_time[16];
} token_info_t;
typedef struct {
  ulong_t type;
  void *value;
  ulong_t length;
} attribute_t;
typedef struct {
  void *create_mutex, *destroy_mutex, *lock_mutex, *unlock_mutex;
  ulong_t flags;
  void *reserved;
} initialize_args_t;
typedef void (*unused_t)(void);
struct copenssl_pkcs11_module {
  version_t version;
  ulong_t (*initialize)(void *);
  unused_t finalize, get_info, get_function_list;
  ulong_t (*get_slot_list)(unsigned char token_present, ulong_t *slots, ulong_t *count);
  unused_t get_slot_info;
  ulong_t (*get_token_info)(ulong_t slot, token_info_t *);
  unused_t get_mechanism_list, get_mechanism_info, init_token, init_pin, set_pin;
  ulong_t (*open_session)(ulong_t slot, ulong_t flags, void *application, void *notify, ulong_t *session);
  ulong_t (*close_session)(ulong_t session);
  unused_t close_all_sessions, get_session_info, get_operation_state, set_operation_state, login, logout;
  unused_t create_object, copy_object, destroy_object, get_object_size, get_attribute_value, set_attribute_value;
  ulong_t (*find_objects_init)(ulong_t session, attribute_t *, ulong_t count);
  ulong_t (*find_objects)(ulong_t session, ulong_t *objects, ulong_t capacity, ulong_t *count);
  ulong_t (*find_objects_final)(ulong_t session);
};

enum {
  ok = 0,
  already_initialized = 0x191,
  os_locking_ok = 0x2,
  serial_session = 0x4,
  attribute_class = 0x0,
  attribute_label = 0x3,
  attribute_id = 0x102,
  class_private_key = 0x3,
};

copenssl_pkcs11_module *copenssl_pkcs11_module_open(const char *path, char *reason, size_t capacity) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    const char *text = dlerror();
    snprintf(reason, capacity, "%s", text == NULL ? "cannot be loaded" : text);
    return NULL;
  }
  ulong_t (*get_function_list)(copenssl_pkcs11_module **);
  *(void **)&get_function_list = dlsym(library, "C_GetFunctionList");
  copenssl_pkcs11_module *module = NULL;
  if (get_function_list == NULL) {
    snprintf(reason, capacity, "is not a PKCS#11 library (it has no function C_GetFunctionList)");
    dlclose(library);
    return NULL;
  }
  ulong_t code = get_function_list(&module);
  if (code == ok && module != NULL) {
    initialize_args_t arguments = {.flags = os_locking_ok};
    code = module->initialize(&arguments);
    if (code == ok || code == already_initialized) return module;
  }
  snprintf(reason, capacity, "cannot be initialised (PKCS#11 code 0x%lx)", code);
  dlclose(library);
  return NULL;
}

// Copies a text without its padding, and ends it with a zero byte.
static void copy_trimmed(char *to, const unsigned char *from, size_t length) {
  while (length > 0 && (from[length - 1] == ' ' || from[length - 1] == 0)) length -= 1;
  memcpy(to, from, length);
  to[length] = 0;
}

long copenssl_pkcs11_tokens(copenssl_pkcs11_module *module, copenssl_pkcs11_token **tokens) {
  *tokens = NULL;
  ulong_t count = 0;
  ulong_t code = module->get_slot_list(1, NULL, &count);
  if (code != ok) return -(long)code;
  // Leaves space for tokens that are inserted between the two calls.
  count += 8;
  ulong_t *slots = calloc(count, sizeof *slots);
  copenssl_pkcs11_token *found = calloc(count, sizeof *found);
  // Without memory, the process ends, as Swift's allocations do.
  if (slots == NULL || found == NULL) abort();
  code = module->get_slot_list(1, slots, &count);
  long initialized = 0;
  for (ulong_t index = 0; code == ok && index < count; index += 1) {
    token_info_t info;
    memset(&info, 0, sizeof info);
    if (module->get_token_info(slots[index], &info) != ok || (info.flags & COPENSSL_TOKEN_INITIALIZED) == 0) continue;
    copenssl_pkcs11_token *token = &found[initialized++];
    token->slot = slots[index];
    token->flags = info.flags;
    copy_trimmed(token->label, info.label, sizeof info.label);
    copy_trimmed(token->manufacturer, info.manufacturer, sizeof info.manufacturer);
    copy_trimmed(token->model, info.model, sizeof info.model);
    copy_trimmed(token->serial, info.serial, sizeof info.serial);
  }
  free(slots);
  if (code != ok) {
    free(found);
    return -(long)code;
  }
  *tokens = found;
  return initialized;
}

void copenssl_pkcs11_tokens_free(copenssl_pkcs11_token *tokens) { free(tokens); }

long copenssl_pkcs11_count_private_keys(
    copenssl_pkcs11_module *module, unsigned long slot, const char *label, const unsigned char *id, size_t id_length) {
  ulong_t session = 0;
  ulong_t code = module->open_session(slot, serial_session, NULL, NULL, &session);
  if (code != ok) return -(long)code;
  ulong_t class = class_private_key;
  attribute_t template[3] = {{attribute_class, &class, sizeof class}};
  ulong_t conditions = 1;
  if (label != NULL) template[conditions++] = (attribute_t){attribute_label, (void *)label, strlen(label)};
  if (id != NULL) template[conditions++] = (attribute_t){attribute_id, (void *)id, id_length};
  ulong_t objects[8];
  ulong_t count = 0;
  code = module->find_objects_init(session, template, conditions);
  if (code == ok) {
    code = module->find_objects(session, objects, sizeof objects / sizeof *objects, &count);
    module->find_objects_final(session);
  }
  module->close_session(session);
  return code == ok ? (long)count : -(long)code;
}

copenssl_pkcs11_engine *copenssl_pkcs11_engine_open(const char *path) {
  char file[4096];
  const char *folder = getenv("OPENSSL_ENGINES");
  if (folder == NULL) folder = OPENSSL_info(OPENSSL_INFO_ENGINES_DIR);
  if (folder == NULL) folder = "";
  snprintf(file, sizeof file, "%s/pkcs11.so", folder);
  ENGINE_load_dynamic();
  ENGINE *engine = ENGINE_by_id("dynamic");
  if (engine == NULL) return NULL;
  // Each library gets its own engine (LIST_ADD 0): an engine on OpenSSL's list is shared, and has only one library and one PIN.
  if (ENGINE_ctrl_cmd_string(engine, "SO_PATH", file, 0) != 1 || ENGINE_ctrl_cmd_string(engine, "LIST_ADD", "0", 0) != 1 ||
      ENGINE_ctrl_cmd_string(engine, "LOAD", NULL, 0) != 1 || ENGINE_ctrl_cmd_string(engine, "MODULE_PATH", path, 0) != 1 ||
      // Without QUIET, the engine writes to standard error.
      ENGINE_ctrl_cmd_string(engine, "QUIET", NULL, 0) != 1 ||
      // Without this user interface, the engine asks for a PIN on a terminal.
      ENGINE_ctrl(engine, ENGINE_CTRL_SET_USER_INTERFACE, 0, (void *)UI_null(), NULL) != 1 || ENGINE_init(engine) != 1) {
    ENGINE_free(engine);
    return NULL;
  }
  // ENGINE_finish is never called, because it would finalise the library for all other engines that use it.
  return (copenssl_pkcs11_engine *)engine;
}

EVP_PKEY *copenssl_pkcs11_private_key(copenssl_pkcs11_engine *engine, const char *uri, const char *pin) {
  ENGINE *real = (ENGINE *)engine;
  if (ENGINE_ctrl_cmd_string(real, "PIN", pin, 0) != 1) return NULL;
  EVP_PKEY *key = ENGINE_load_private_key(real, uri, NULL, NULL);
  // Replaces the PIN that the engine would use for the next key, so that it is not tried with another token. libp11 has its own copy of a
  // token's PIN, with which it can log in again.
  ERR_set_mark();
  ENGINE_ctrl_cmd_string(real, "PIN", "", 0);
  ERR_pop_to_mark();
  return key;
}

int copenssl_pkcs11_has_public_point(EVP_PKEY *key) {
  const EC_KEY *pair = EVP_PKEY_get0_EC_KEY(key);
  return pair != NULL && EC_KEY_get0_group(pair) != NULL && EC_KEY_get0_public_key(pair) != NULL;
}
