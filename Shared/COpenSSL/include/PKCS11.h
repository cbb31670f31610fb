#ifndef COPENSSL_PKCS11_H
#define COPENSSL_PKCS11_H
// Keys in a token. OpenSSL 3.0 reaches them through an engine, whose interface is deprecated though nothing replaces it there;
// keeping the calls here keeps the warnings away from everyone else. Where the engine has one answer for several faults,
// the module is asked directly.
#include <openssl/evp.h>
#include <stddef.h>

/// A PKCS#11 library that was loaded and initialised.
typedef struct copenssl_pkcs11_module copenssl_pkcs11_module;
/// OpenSSL's engine over one such library.
typedef struct copenssl_pkcs11_engine copenssl_pkcs11_engine;

/// A token as its library describes it, texts without the padding.
typedef struct {
  unsigned long slot;
  unsigned long flags;
  char label[33];
  char manufacturer[33];
  char model[17];
  char serial[17];
} copenssl_pkcs11_token;

enum {
  COPENSSL_TOKEN_LOGIN_REQUIRED = 0x4,
  COPENSSL_TOKEN_INITIALIZED = 0x400,
  COPENSSL_TOKEN_PIN_FINAL_TRY = 0x20000,
  COPENSSL_TOKEN_PIN_LOCKED = 0x40000,
};

/// Loads and initialises a PKCS#11 library for the rest of the process's life. NULL with the reason written.
copenssl_pkcs11_module *copenssl_pkcs11_module_open(const char *path, char *reason, size_t capacity);
/// The initialised tokens in an array to be freed by copenssl_pkcs11_tokens_free; the number of them, or minus the library's code.
long copenssl_pkcs11_tokens(copenssl_pkcs11_module *module, copenssl_pkcs11_token **tokens);
void copenssl_pkcs11_tokens_free(copenssl_pkcs11_token *tokens);
/// How many private keys of a token have this label and id (NULL for any), as far as the login shows; or minus the library's code.
long copenssl_pkcs11_count_private_keys(
    copenssl_pkcs11_module *module, unsigned long slot, const char *label, const unsigned char *id, size_t id_length);
/// A new engine over the library at the path, for the rest of the process's life. NULL with OpenSSL's errors queued.
copenssl_pkcs11_engine *copenssl_pkcs11_engine_open(const char *path);
/// Logs in where the token wants it and gives the private key's handle, to be freed. NULL with OpenSSL's errors queued.
EVP_PKEY *copenssl_pkcs11_private_key(copenssl_pkcs11_engine *engine, const char *uri, const char *pin);
/// Whether the token told the key's public point.
int copenssl_pkcs11_has_public_point(EVP_PKEY *key);
#endif
