#ifndef COPENSSL_DIGEST_H
#define COPENSSL_DIGEST_H
#include <stddef.h>
#include <stdint.h>

/* SHA-256. Returns 1 and writes the 32 bytes of the digest, which may overwrite the input; returns 0 if OpenSSL fails. */
int copenssl_sha256(const uint8_t *bytes, size_t length, uint8_t *digest);
#endif
