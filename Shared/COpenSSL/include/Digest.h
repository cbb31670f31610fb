#ifndef COPENSSL_DIGEST_H
#define COPENSSL_DIGEST_H
#include <stddef.h>
#include <stdint.h>

/* SHA-256: 1, and the 32 bytes of the digest, which may lie over the bytes that it is made of; 0 when OpenSSL fails. */
int copenssl_sha256(const uint8_t *bytes, size_t length, uint8_t *digest);
#endif
