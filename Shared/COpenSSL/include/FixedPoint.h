#ifndef COPENSSL_FIXED_POINT_H
#define COPENSSL_FIXED_POINT_H
#include <stddef.h>
#include <stdint.h>

/* Verifies ECDSA signatures of one P-256 or P-384 key with tables that are made once for its point. OpenSSL adds points and multiplies;
   an inverse that is computed here (ModularInverse.h) counts only if OpenSSL has computed that the product is one. Verification uses no
   secret, so the time may depend on the values. The object is immutable, so any number of threads may use it at once. */
typedef struct copenssl_fixed_point copenssl_fixed_point;

enum { COPENSSL_FIXED_P256 = 256, COPENSSL_FIXED_P384 = 384 };

/* Makes tables from the key's encoded point on the curve with that number of bits. Returns NULL if it is no point of the curve, or if
   OpenSSL makes no tables for it. */
copenssl_fixed_point *copenssl_fixed_point_new(int bits, const uint8_t *point, size_t length);
void copenssl_fixed_point_free(copenssl_fixed_point *self);

/* Verifies signatures. Those that are verified together share a modular inverse. An answer is 1 if the digest was signed, 0 if not, -1 if
   OpenSSL fails (no memory). A signature is r and s, each with the curve's width, big endian. All digests have the same length. Of a
   longer digest, only the leftmost bytes count, as many as the curve's width (FIPS 186-5, section 6.4.2). */
void copenssl_fixed_point_verify(
    const copenssl_fixed_point *self, size_t count, const uint8_t *digests, size_t digest_length, const uint8_t *signatures,
    int8_t *answers);

/* Verifies a signature of a P-384 key without tables, with only the generator's table. It takes a tenth less time than OpenSSL's own
   verification. */
int copenssl_p384_verify(
    const uint8_t *point, size_t length, const uint8_t *digest, size_t digest_length, const uint8_t *signature);
#endif
