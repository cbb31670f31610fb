#include "CZlib.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int attribution_gunzip(const unsigned char *bytes, size_t count, size_t limit, unsigned char *out, size_t *out_count) {
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  *out_count = 0;
  // 16 selects the gzip format.
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return -1;
  stream.next_in = (unsigned char *)bytes;
  stream.avail_in = (unsigned)count;
  stream.next_out = out;
  stream.avail_out = (unsigned)(limit + 1);
  int code = inflate(&stream, Z_FINISH);
  size_t filled = limit + 1 - stream.avail_out;
  // Bytes after the stream are an error too.
  int result = filled > limit ? -2 : code == Z_STREAM_END && stream.avail_in == 0 ? 0 : -1;
  inflateEnd(&stream);
  if (result == 0) *out_count = filled;
  return result;
}

int attribution_gzip(const unsigned char *bytes, size_t count, unsigned char **out, size_t *out_count) {
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  // Level 1 is the fastest one; 16 selects the gzip format; 8 is zlib's default for its memory.
  if (deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) return -1;
  size_t capacity = deflateBound(&stream, count);
  unsigned char *buffer = malloc(capacity);
  if (!buffer) { deflateEnd(&stream); return -1; }
  stream.next_in = (unsigned char *)bytes;
  stream.avail_in = (unsigned)count;
  stream.next_out = buffer;
  stream.avail_out = (unsigned)capacity;
  int code = deflate(&stream, Z_FINISH);
  *out_count = capacity - stream.avail_out;
  deflateEnd(&stream);
  if (code != Z_STREAM_END) { free(buffer); return -1; }
  *out = buffer;
  return 0;
}

void attribution_gzip_free(unsigned char *bytes) { free(bytes); }
