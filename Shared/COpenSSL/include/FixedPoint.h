#ifndef COPENSSL_FIXED_POINT_H
#define COPENSSL_FIXED_POINT_H
#include <stddef.h>
#include <stdint.h>

/* Verifies ECDSA signatures of one P-256 or P-384 key with tables made once for its point. Points and products are
   OpenSSL's; an inverse that was worked out here (ModularInverse.h) counts when OpenSSL has found the product to be one. Verification
   holds no secret, so nothing here needs to take the same time for all values. Never changed after it is made: any number of threads
   may use one at once. */
typedef struct copenssl_fixed_point copenssl_fixed_point;

enum { COPENSSL_FIXED_P256 = 256, COPENSSL_FIXED_P384 = 384 };

/* From the key's encoded point on the curve of so many bits. NULL when it is no point of the curve, or OpenSSL makes no tables for it. */
copenssl_fixed_point *copenssl_fixed_point_new(int bits, const uint8_t *point, size_t length);
void copenssl_fixed_point_free(copenssl_fixed_point *self);

/* 1 when the digest was signed, 0 when not, -1 when OpenSSL fails (no memory). r and s are as wide as the curve, big endian; of a
   longer digest the leftmost bytes count, as many as the curve is wide (FIPS 186-5, section 6.4.2). */
int copenssl_fixed_point_verify(
    const copenssl_fixed_point *self, const uint8_t *digest, size_t digest_length, const uint8_t *r, const uint8_t *s);

/* The same answers for a P-384 key that has no tables, with the generator's alone: it takes a tenth less than OpenSSL's own. */
int copenssl_p384_verify(
    const uint8_t *point, size_t length, const uint8_t *digest, size_t digest_length, const uint8_t *r, const uint8_t *s);
#endif
