#ifndef COPENSSL_BATCH_SIGNING_H
#define COPENSSL_BATCH_SIGNING_H

#include <openssl/evp.h>
#include <stddef.h>
#include <stdint.h>

/// Returns the P-256 key in OpenSSL's older type for batch signing, with its own reference. Returns NULL for a key whose private key is not
/// in memory or that has another curve.
EC_KEY *copenssl_batch_key(EVP_PKEY *key);

/// Frees a key of `copenssl_batch_key`; the private number is overwritten with the last reference.
void copenssl_batch_key_free(EC_KEY *key);

/// Makes `count` ECDSA signatures at once, the i-th with `keys[i]` over the 32 bytes at `digests + 32 i`. Writes r and s, 32 bytes each, to
/// `signatures + 64 i`. Returns 1, or 0 if one of them could not be made; then none may be used.
int copenssl_sign_batch(EC_KEY *const *keys, const uint8_t *digests, size_t count, uint8_t *signatures);

#endif
