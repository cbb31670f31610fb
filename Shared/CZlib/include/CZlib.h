#ifndef CZLIB_H
#define CZLIB_H
#include <stddef.h>

// Inflates one gzip stream into `out`, which must have space for `limit` + 1 bytes: the last one shows that the result is too long. Returns
// 0, -1 if the bytes are not exactly one stream, or -2 if the result exceeds `limit`. `out_count` is 0 after an error.
int attribution_gunzip(const unsigned char *bytes, size_t count, size_t limit, unsigned char *out, size_t *out_count);
// Deflates the bytes into one gzip stream. Returns 0, or -1 without memory. attribution_gzip_free must release `out`.
int attribution_gzip(const unsigned char *bytes, size_t count, unsigned char **out, size_t *out_count);
void attribution_gzip_free(unsigned char *bytes);

#endif
