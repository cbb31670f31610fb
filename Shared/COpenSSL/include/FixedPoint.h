#ifndef COPENSSL_FIXED_POINT_H
#define COPENSSL_FIXED_POINT_H
#include <stddef.h>
#include <stdint.h>

/* Verifies ECDSA signatures of one P-256 key with tables made once for its point. All arithmetic is OpenSSL's. Verification holds no
   secret, so nothing here needs to take the same time for all values. Never changed after it is made: any number of threads may use
   one at once. */
typedef struct copenssl_fixed_point copenssl_fixed_point;

/* From the key's encoded point. NULL when it is no point of the curve, or OpenSSL makes no tables for it. */
copenssl_fixed_point *copenssl_fixed_point_new(const uint8_t *point, size_t length);
void copenssl_fixed_point_free(copenssl_fixed_point *self);

/* 1 when the 32 bytes of the digest were signed, 0 when not, -1 when OpenSSL fails (no memory). r and s are 32 bytes each, big endian. */
int copenssl_fixed_point_verify(const copenssl_fixed_point *self, const uint8_t *digest, const uint8_t *r, const uint8_t *s);
#endif
