/* OpenSSL 3.0 deprecates these functions. Their replacements allocate three objects for each digest, which takes longer than a short
   digest. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "COpenSSL.h"
#include "Digest.h"

int copenssl_sha256(const uint8_t *bytes, size_t length, uint8_t *digest) {
  SHA256_CTX state;
  int made = SHA256_Init(&state) && SHA256_Update(&state, bytes, length) && SHA256_Final(digest, &state);
  OPENSSL_cleanse(&state, sizeof(state));
  return made;
}

int copenssl_sha256_prefix_set(copenssl_sha256_prefix *self, const uint8_t *bytes, size_t length) {
  return SHA256_Init(&self->state) && SHA256_Update(&self->state, bytes, length);
}

int copenssl_sha256_after(const copenssl_sha256_prefix *prefix, const uint8_t *bytes, size_t length, uint8_t *digest) {
  SHA256_CTX state = prefix->state;
  int made = SHA256_Update(&state, bytes, length) && SHA256_Final(digest, &state);
  OPENSSL_cleanse(&state, sizeof(state));
  return made;
}

static int begin_with(SHA256_CTX *state, const uint8_t *block, uint8_t mask) {
  uint8_t padded[SHA256_CBLOCK];
  for (size_t place = 0; place < sizeof(padded); place++) padded[place] = (uint8_t)(block[place] ^ mask);
  int made = SHA256_Init(state) && SHA256_Update(state, padded, sizeof(padded));
  OPENSSL_cleanse(padded, sizeof(padded));
  return made;
}

int copenssl_hmac_key_set(copenssl_hmac_key *self, const uint8_t *block) {
  return begin_with(&self->inner, block, 0x36) && begin_with(&self->outer, block, 0x5C);
}

int copenssl_hmac_sha256(const copenssl_hmac_key *key, const uint8_t *bytes, size_t length, uint8_t *code) {
  SHA256_CTX state = key->inner;
  int made = SHA256_Update(&state, bytes, length) && SHA256_Final(code, &state);
  if (made) {
    state = key->outer;
    made = SHA256_Update(&state, code, SHA256_DIGEST_LENGTH) && SHA256_Final(code, &state);
  }
  OPENSSL_cleanse(&state, sizeof(state));
  return made;
}
