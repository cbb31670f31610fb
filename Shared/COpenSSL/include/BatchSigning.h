#ifndef COPENSSL_BATCH_SIGNING_H
#define COPENSSL_BATCH_SIGNING_H

#include <openssl/evp.h>
#include <stddef.h>
#include <stdint.h>

/// Returns a key for copenssl_sign_batch, which needs OpenSSL's older type for keys. copenssl_batch_key_free must free it. Returns NULL for
/// a key that is not P-256 or whose private key is not in memory.
EC_KEY *copenssl_batch_key(EVP_PKEY *key);

/// Frees a key of copenssl_batch_key. OpenSSL overwrites the private number when its last reference is freed.
void copenssl_batch_key_free(EC_KEY *key);

/// Makes `count` ECDSA signatures at once. Signature i is made with `keys[i]` over the 32 bytes at `digests + 32 i`. Its r and s, 32 bytes
/// each, are written to `signatures + 64 i`. Returns 1, or 0 if a signature could not be made; then none of them may be used.
int copenssl_sign_batch(EC_KEY *const *keys, const uint8_t *digests, size_t count, uint8_t *signatures);

#endif
