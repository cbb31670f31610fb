#ifndef COPENSSL_PKCS11_H
#define COPENSSL_PKCS11_H
// Keys in a token. OpenSSL 3.0 uses them through an engine. Engines are deprecated, but this version has no replacement. All calls of the
// engine are in pkcs11.c, so that only this file suppresses the warnings. Where the engine reports one error for several causes, pkcs11.c
// calls the token's library directly.
#include <openssl/evp.h>
#include <stddef.h>

/// A PKCS#11 library that is loaded and initialised.
typedef struct copenssl_pkcs11_module copenssl_pkcs11_module;
/// OpenSSL's engine for one such library.
typedef struct copenssl_pkcs11_engine copenssl_pkcs11_engine;

/// A token as its library describes it, without the padding of the texts.
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

/// Loads and initialises a PKCS#11 library, which stays loaded until the process ends. Returns NULL after an error, and writes the reason.
copenssl_pkcs11_module *copenssl_pkcs11_module_open(const char *path, char *reason, size_t capacity);
/// Stores the initialised tokens in an array that copenssl_pkcs11_tokens_free must free. Returns their number, or the negative error code
/// of the library.
long copenssl_pkcs11_tokens(copenssl_pkcs11_module *module, copenssl_pkcs11_token **tokens);
void copenssl_pkcs11_tokens_free(copenssl_pkcs11_token *tokens);
/// Returns the number of private keys in a token with this label and id (NULL for any) that the present login can see. Counts at most 8.
/// After an error, returns the negative error code of the library.
long copenssl_pkcs11_count_private_keys(
    copenssl_pkcs11_module *module, unsigned long slot, const char *label, const unsigned char *id, size_t id_length);
/// Makes a new engine for the library at the path. The engine exists until the process ends. Returns NULL after an error, with OpenSSL's
/// errors in the queue.
copenssl_pkcs11_engine *copenssl_pkcs11_engine_open(const char *path);
/// Logs in if the token requires it, and returns the private key's handle, which the caller must free. Returns NULL after an error, with
/// OpenSSL's errors in the queue.
EVP_PKEY *copenssl_pkcs11_private_key(copenssl_pkcs11_engine *engine, const char *uri, const char *pin);
/// True if the token returned the key's public point.
int copenssl_pkcs11_has_public_point(EVP_PKEY *key);
#endif
