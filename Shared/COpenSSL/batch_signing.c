/* OpenSSL 3.0 deprecates the group arithmetic that these functions need, without a replacement. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "COpenSSL.h"
#include "BatchSigning.h"

#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>

/* An ECDSA signature (r, s) needs two inversions: of the nonce k modulo the curve's order, and of the Z coordinate of k G modulo the
   field's prime. They are a large part of its cost. Several numbers can be inverted together at the cost of one inversion and a few
   multiplications for each number (Montgomery's trick). So signatures that are requested at the same time are made together.

   OpenSSL's functions do all arithmetic on secrets:
   - BN_generate_dsa_nonce derives the nonce from the private key, the digest and fresh random bytes, as in every signature of OpenSSL.
   - EC_POINT_mul computes the multiple of the generator.
   - BN_mod_exp_mont_consttime inverts: the inverse is a power with a public exponent.
   - ECDSA_do_sign_ex does the last step, which uses the private key.
   Their time does not depend on the secrets, except that a number whose highest word is zero is shorter. With words of 64 bits, a number
   of 256 bits has such a word with a probability of 2^-64.

   No nonce outlives the call, and none is made before the digest is known. So a copy of this process, such as a restored snapshot of its
   machine, cannot sign two messages with one nonce. */

#if !defined(SIXTY_FOUR_BIT_LONG) && !defined(SIXTY_FOUR_BIT)
#error "OpenSSL's words must have 64 bits: with shorter words the time of a signature reveals more about its nonce"
#endif

/* For fewer signatures, inverting together costs more than it saves. */
static const size_t min_batch = 4;

struct modulus {
  BIGNUM *value;
  /* The modulus minus two. A number to the power of this is its inverse, because the modulus is prime. */
  BIGNUM *exponent;
  BN_MONT_CTX *montgomery;
};

/* These are made once, are then immutable, and live as long as the process. */
static struct modulus order_modulus, field_modulus;
static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;
static int moduli_made = 0;

/* The values of a batch. The arrays have one element for each signature. */
struct signing {
  BN_CTX *context;
  /* k G. */
  EC_POINT **points;
  /* The nonce, then its inverse; the signature's r; the Z coordinate of k G, then its inverse. */
  BIGNUM **k, **r, **z;
  /* For `invert`: the products of the numbers up to each one, and two numbers in between. */
  BIGNUM **products;
  BIGNUM *inverse, *power;
  size_t count;
};

EC_KEY *copenssl_batch_key(EVP_PKEY *key) {
  EC_KEY *ec = EVP_PKEY_get1_EC_KEY(key);
  if (ec != NULL && EC_KEY_get0_private_key(ec) != NULL && EC_GROUP_get_curve_name(EC_KEY_get0_group(ec)) == NID_X9_62_prime256v1 &&
      EC_KEY_get_method(ec) == EC_KEY_OpenSSL())
    return ec;
  EC_KEY_free(ec);
  ERR_clear_error();
  return NULL;
}

void copenssl_batch_key_free(EC_KEY *key) { EC_KEY_free(key); }

static int write_signature(const ECDSA_SIG *signature, uint8_t *bytes) {
  const BIGNUM *r, *s;
  ECDSA_SIG_get0(signature, &r, &s);
  return BN_bn2binpad(r, bytes, 32) == 32 && BN_bn2binpad(s, bytes + 32, 32) == 32;
}

static int sign_alone(EC_KEY *key, const uint8_t *digest, uint8_t *bytes) {
  ECDSA_SIG *signature = ECDSA_do_sign(digest, 32, key);
  int made = signature != NULL && write_signature(signature, bytes);
  ECDSA_SIG_free(signature);
  return made;
}

static int make_modulus(struct modulus *self, const BIGNUM *value, BN_CTX *context) {
  self->value = BN_dup(value);
  self->exponent = BN_dup(value);
  self->montgomery = BN_MONT_CTX_new();
  return self->value != NULL && self->exponent != NULL && self->montgomery != NULL && BN_sub_word(self->exponent, 2) &&
         BN_MONT_CTX_set(self->montgomery, value, context);
}

static void make_moduli(void) {
  BN_CTX *context = BN_CTX_new();
  EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
  moduli_made = context != NULL && group != NULL && make_modulus(&order_modulus, EC_GROUP_get0_order(group), context) &&
                make_modulus(&field_modulus, EC_GROUP_get0_field(group), context);
  EC_GROUP_free(group);
  BN_CTX_free(context);
}

/* A number for a secret: OpenSSL uses its constant-time functions for it. */
static BIGNUM *new_number(void) {
  BIGNUM *number = BN_secure_new();
  if (number != NULL) BN_set_flags(number, BN_FLG_CONSTTIME);
  return number;
}

static BIGNUM **new_numbers(size_t count) {
  BIGNUM **numbers = OPENSSL_zalloc(count * sizeof(*numbers));
  for (size_t i = 0; numbers != NULL && i < count; i++) numbers[i] = new_number();
  return numbers;
}

static void free_numbers(BIGNUM **numbers, size_t count) {
  for (size_t i = 0; numbers != NULL && i < count; i++) BN_clear_free(numbers[i]);
  OPENSSL_free(numbers);
}

static int all_allocated(BIGNUM *const *numbers, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (numbers == NULL || numbers[i] == NULL) return 0;
  return 1;
}

/* Replaces each number by its inverse. The numbers are in Montgomery form before and after. Fails if one of them is zero. */
static int invert(struct signing *self, const struct modulus *modulus, BIGNUM **numbers) {
  BN_MONT_CTX *montgomery = modulus->montgomery;
  /* products[i] is the product of the numbers from 0 to i. */
  if (BN_copy(self->products[0], numbers[0]) == NULL) return 0;
  for (size_t i = 1; i < self->count; i++)
    if (!BN_mod_mul_montgomery(self->products[i], self->products[i - 1], numbers[i], montgomery, self->context)) return 0;
  if (!BN_from_montgomery(self->inverse, self->products[self->count - 1], montgomery, self->context) ||
      !BN_mod_exp_mont_consttime(self->power, self->inverse, modulus->exponent, modulus->value, self->context, montgomery) ||
      !BN_to_montgomery(self->inverse, self->power, montgomery, self->context))
    return 0;
  /* `inverse` is the inverse of the product of the numbers from 0 to i. */
  for (size_t i = self->count - 1; i > 0; i--) {
    if (!BN_mod_mul_montgomery(self->products[i], self->inverse, self->products[i - 1], montgomery, self->context) ||
        !BN_mod_mul_montgomery(self->inverse, self->inverse, numbers[i], montgomery, self->context) ||
        BN_copy(numbers[i], self->products[i]) == NULL)
      return 0;
  }
  /* Now `inverse` should be the inverse of numbers[0]. Their product is one only if no number was zero and no step was wrong. A wrong step
     would make all signatures wrong. */
  return BN_mod_mul_montgomery(self->power, self->inverse, numbers[0], montgomery, self->context) &&
         BN_from_montgomery(self->power, self->power, montgomery, self->context) && BN_is_one(self->power) &&
         BN_copy(numbers[0], self->inverse) != NULL;
}

/* Computes r of each signature, and replaces each nonce by its inverse. */
static int prepare(struct signing *self, const EC_GROUP *group, EC_KEY *const *keys, const uint8_t *digests) {
  const struct modulus *order = &order_modulus, *field = &field_modulus;
  for (size_t i = 0; i < self->count; i++) {
    do {
      if (!BN_generate_dsa_nonce(self->k[i], order->value, EC_KEY_get0_private_key(keys[i]), digests + 32 * i, 32, self->context)) return 0;
    } while (BN_is_zero(self->k[i]));
    if (!EC_POINT_mul(group, self->points[i], self->k[i], NULL, NULL, self->context) ||
        !EC_POINT_get_Jprojective_coordinates_GFp(group, self->points[i], self->r[i], NULL, self->z[i], self->context) ||
        !BN_to_montgomery(self->k[i], self->k[i], order->montgomery, self->context) ||
        !BN_to_montgomery(self->r[i], self->r[i], field->montgomery, self->context) ||
        !BN_to_montgomery(self->z[i], self->z[i], field->montgomery, self->context))
      return 0;
  }
  if (!invert(self, order, self->k) || !invert(self, field, self->z)) return 0;
  for (size_t i = 0; i < self->count; i++) {
    /* x = X / Z^2. The array r has X at first. */
    if (!BN_mod_mul_montgomery(self->z[i], self->z[i], self->z[i], field->montgomery, self->context) ||
        !BN_mod_mul_montgomery(self->r[i], self->r[i], self->z[i], field->montgomery, self->context) ||
        !BN_from_montgomery(self->r[i], self->r[i], field->montgomery, self->context) ||
        !BN_from_montgomery(self->k[i], self->k[i], order->montgomery, self->context))
      return 0;
    /* r = x modulo the order. The field's prime is less than twice the order, so one subtraction is enough. */
    if (BN_cmp(self->r[i], order->value) >= 0 && !BN_sub(self->r[i], self->r[i], order->value)) return 0;
  }
  return 1;
}

static int sign_together(EC_KEY *const *keys, const uint8_t *digests, size_t count, uint8_t *signatures) {
  int made = 0;
  struct signing self = {.count = count};
  const EC_GROUP *group = EC_KEY_get0_group(keys[0]);
  self.context = BN_CTX_secure_new();
  if (self.context == NULL) return 0;
  self.points = OPENSSL_zalloc(count * sizeof(*self.points));
  self.k = new_numbers(count);
  self.r = new_numbers(count);
  self.z = new_numbers(count);
  self.products = new_numbers(count);
  self.inverse = new_number();
  self.power = new_number();
  if (self.points == NULL || !all_allocated(self.k, count) || !all_allocated(self.r, count) || !all_allocated(self.z, count) ||
      !all_allocated(self.products, count) || self.inverse == NULL || self.power == NULL)
    goto end;
  for (size_t i = 0; i < count; i++)
    if ((self.points[i] = EC_POINT_new(group)) == NULL) goto end;
  if (!prepare(&self, group, keys, digests)) goto end;
  made = 1;
  for (size_t i = 0; made && i < count; i++) {
    /* Neither r nor s may be zero. ECDSA_do_sign_ex checks only s. In both cases the signature is made alone, with another nonce. */
    ERR_set_mark();
    ECDSA_SIG *signature = BN_is_zero(self.r[i]) ? NULL : ECDSA_do_sign_ex(digests + 32 * i, 32, self.k[i], self.r[i], keys[i]);
    ERR_pop_to_mark();
    made = signature != NULL ? write_signature(signature, signatures + 64 * i) : sign_alone(keys[i], digests + 32 * i, signatures + 64 * i);
    ECDSA_SIG_free(signature);
  }
end:
  for (size_t i = 0; self.points != NULL && i < count; i++) EC_POINT_clear_free(self.points[i]);
  OPENSSL_free(self.points);
  free_numbers(self.k, count);
  free_numbers(self.r, count);
  free_numbers(self.z, count);
  free_numbers(self.products, count);
  BN_clear_free(self.inverse);
  BN_clear_free(self.power);
  BN_CTX_free(self.context);
  return made;
}

int copenssl_sign_batch(EC_KEY *const *keys, const uint8_t *digests, size_t count, uint8_t *signatures) {
  if (count >= min_batch && CRYPTO_THREAD_run_once(&once, make_moduli) && moduli_made)
    return sign_together(keys, digests, count, signatures);
  for (size_t i = 0; i < count; i++)
    if (!sign_alone(keys[i], digests + 32 * i, signatures + 64 * i)) return 0;
  return 1;
}
