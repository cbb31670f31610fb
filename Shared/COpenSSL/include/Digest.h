#ifndef COPENSSL_DIGEST_H
#define COPENSSL_DIGEST_H
#include <openssl/sha.h>
#include <stddef.h>
#include <stdint.h>

/* SHA-256. Returns 1 and writes the 32 bytes of the digest, which may overwrite the input; returns 0 if OpenSSL fails. */
int copenssl_sha256(const uint8_t *bytes, size_t length, uint8_t *digest);

/* The state of SHA-256 after the first bytes of a message. */
typedef struct {
  SHA256_CTX state;
} copenssl_sha256_prefix;

/* Sets the state from the first bytes. Returns 0 if OpenSSL fails. */
int copenssl_sha256_prefix_set(copenssl_sha256_prefix *self, const uint8_t *bytes, size_t length);

/* The digest, 32 bytes, of a message whose other bytes are these. Returns 0 if OpenSSL fails. */
int copenssl_sha256_after(const copenssl_sha256_prefix *prefix, const uint8_t *bytes, size_t length, uint8_t *digest);

/* A key of HMAC with SHA-256: the states of both digests after the padded key, which are the same for every message. */
typedef struct {
  SHA256_CTX inner, outer;
} copenssl_hmac_key;

/* Sets the key from 64 bytes: a shorter key with zeros after it. Returns 0 if OpenSSL fails. */
int copenssl_hmac_key_set(copenssl_hmac_key *self, const uint8_t *block);

/* The code of a message, 32 bytes. Returns 0 if OpenSSL fails. */
int copenssl_hmac_sha256(const copenssl_hmac_key *key, const uint8_t *bytes, size_t length, uint8_t *code);
#endif
