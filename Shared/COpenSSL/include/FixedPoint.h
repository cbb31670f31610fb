#ifndef COPENSSL_FIXED_POINT_H
#define COPENSSL_FIXED_POINT_H
#include <stddef.h>
#include <stdint.h>

/* Verifies ECDSA signatures of one P-256 or P-384 key with tables that are made once for its point. OpenSSL does the arithmetic, except for
   modular inverses (ModularInverse.h): OpenSSL only checks that a number times its inverse is one. Verification uses no secret, so the time
   may depend on the values. The object is immutable, so any number of threads may use it at once. */
typedef struct copenssl_fixed_point copenssl_fixed_point;

enum { COPENSSL_FIXED_P256 = 256, COPENSSL_FIXED_P384 = 384 };

/* Makes tables for a key from its encoded point on the curve with that number of bits. Returns NULL if the bytes are not a point of the
   curve, or if OpenSSL fails. */
copenssl_fixed_point *copenssl_fixed_point_new(int bits, const uint8_t *point, size_t length);
void copenssl_fixed_point_free(copenssl_fixed_point *self);

/* Verifies `count` signatures. They share modular inverses, so that verifying several together takes less time. A signature is r and s,
   each with the curve's width, big endian. All digests have the same length. If they are longer than the curve's width, only their leftmost
   bytes count, as many as the curve's width (FIPS 186-5, section 6.4.2). A result is 1 if the key signed the digest, 0 if it did not, -1 if
   OpenSSL fails (no memory). */
void copenssl_fixed_point_verify(
    const copenssl_fixed_point *self, size_t count, const uint8_t *digests, size_t digest_length, const uint8_t *signatures,
    int8_t *results);

/* Verifies one signature of a P-384 key that has no tables, with a table of the generator, which all keys share. This takes less time than
   OpenSSL's own verification. Returns 1, 0 or -1 as above. */
int copenssl_p384_verify(
    const uint8_t *point, size_t length, const uint8_t *digest, size_t digest_length, const uint8_t *signature);
#endif
