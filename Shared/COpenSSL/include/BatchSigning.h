#ifndef COPENSSL_BATCH_SIGNING_H
#define COPENSSL_BATCH_SIGNING_H

#include <openssl/evp.h>
#include <stddef.h>
#include <stdint.h>

/// The P-256 key of OpenSSL's older kind that batch signing works with, with a reference of its own, or NULL: for a key whose private half
/// is not in memory, or is of another curve.
EC_KEY *copenssl_batch_key(EVP_PKEY *key);

/// Frees what `copenssl_batch_key` gave; the private number is overwritten with the last reference.
void copenssl_batch_key_free(EC_KEY *key);

/// Makes `count` ECDSA signatures at once, the i-th with `keys[i]` over the 32 bytes at `digests + 32 i`; r and s, of 32 bytes each, go to
/// `signatures + 64 i`. Returns 1, or 0 when not all could be made: then none is to be used.
int copenssl_sign_batch(EC_KEY *const *keys, const uint8_t *digests, size_t count, uint8_t *signatures);

#endif
