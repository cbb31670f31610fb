#ifndef CZLIB_H
#define CZLIB_H
#include <stddef.h>

// Inflates one gzip stream into `out`, which must have room for `limit` bytes and one more. Returns 0, -1 if the bytes are not one stream,
// or -2 if the result would exceed `limit`. `out_count` is 0 after an error.
int attribution_gunzip(const unsigned char *bytes, size_t count, size_t limit, unsigned char *out, size_t *out_count);
// Deflates into one gzip stream. Returns 0, or -1 without memory. `out` receives memory that attribution_gzip_free releases.
int attribution_gzip(const unsigned char *bytes, size_t count, unsigned char **out, size_t *out_count);
void attribution_gzip_free(unsigned char *bytes);

#endif
