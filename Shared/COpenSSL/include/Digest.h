#ifndef COPENSSL_DIGEST_H
#define COPENSSL_DIGEST_H
#include <openssl/sha.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the 32 bytes of a SHA-256 digest, which may overwrite the input. Returns 1, or 0 if OpenSSL fails. */
int copenssl_sha256(const uint8_t *bytes, size_t length, uint8_t *digest);

/* The state of SHA-256 after the first bytes of a message, the prefix. */
typedef struct {
  SHA256_CTX state;
} copenssl_sha256_prefix;

/* Sets the state from the bytes of the prefix. Returns 1, or 0 if OpenSSL fails. */
int copenssl_sha256_prefix_set(copenssl_sha256_prefix *self, const uint8_t *bytes, size_t length);

/* Writes the 32 bytes of the digest of a message: the prefix, followed by these bytes. Returns 1, or 0 if OpenSSL fails. */
int copenssl_sha256_after(const copenssl_sha256_prefix *prefix, const uint8_t *bytes, size_t length, uint8_t *digest);

/* A key of HMAC with SHA-256 (RFC 2104): the states of the inner and the outer digest after the padded key, the same for every message. */
typedef struct {
  SHA256_CTX inner, outer;
} copenssl_hmac_key;

/* Sets the key from a block of 64 bytes: the key, padded with zeros. Returns 1, or 0 if OpenSSL fails. */
int copenssl_hmac_key_set(copenssl_hmac_key *self, const uint8_t *block);

/* Writes the message authentication code, 32 bytes. Returns 1, or 0 if OpenSSL fails. */
int copenssl_hmac_sha256(const copenssl_hmac_key *key, const uint8_t *bytes, size_t length, uint8_t *mac);
#endif
