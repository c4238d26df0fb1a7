#include "ctransfer_inflate.h"
#include <stdlib.h>
#include <zlib.h>

struct ctransfer_inflate {
  z_stream stream;
  int ended;
  // No byte has been read yet, so another format may be tried.
  int untouched;
};

struct ctransfer_inflate *ctransfer_inflate_create(void) {
  struct ctransfer_inflate *inflater = calloc(1, sizeof *inflater);
  if (inflater == NULL) return NULL;
  // A window of 15 bits; 32 detects gzip or zlib.
  if (inflateInit2(&inflater->stream, 15 + 32) != Z_OK) {
    free(inflater);
    return NULL;
  }
  inflater->untouched = 1;
  return inflater;
}

void ctransfer_inflate_free(struct ctransfer_inflate *inflater) {
  if (inflater == NULL) return;
  inflateEnd(&inflater->stream);
  free(inflater);
}

int32_t ctransfer_inflate_step(struct ctransfer_inflate *inflater, const uint8_t *bytes,
                               size_t count, size_t *taken, uint8_t *result, size_t room,
                               size_t *given) {
  z_stream *stream = &inflater->stream;
  *taken = 0;
  *given = 0;
  if (inflater->ended) {
    if (count == 0) return CTRANSFER_INFLATE_END;
    // A gzip file may consist of several members.
    if (inflateReset(stream) != Z_OK) return CTRANSFER_INFLATE_BROKEN;
    inflater->ended = 0;
  }
  stream->next_in = (Bytef *)bytes;
  stream->avail_in = (uInt)count;
  stream->next_out = result;
  stream->avail_out = (uInt)room;
  int code = inflate(stream, Z_NO_FLUSH);
  if (code == Z_DATA_ERROR && inflater->untouched && inflateReset2(stream, -15) == Z_OK) {
    // Without a gzip or zlib header, try raw deflate, which many servers send as "deflate".
    stream->next_in = (Bytef *)bytes;
    stream->avail_in = (uInt)count;
    stream->next_out = result;
    stream->avail_out = (uInt)room;
    code = inflate(stream, Z_NO_FLUSH);
  }
  inflater->untouched = 0;
  *taken = count - stream->avail_in;
  *given = room - stream->avail_out;
  if (code == Z_STREAM_END) {
    inflater->ended = 1;
    return CTRANSFER_INFLATE_END;
  }
  if (code == Z_OK || code == Z_BUF_ERROR) return CTRANSFER_INFLATE_MORE;
  return CTRANSFER_INFLATE_BROKEN;
}
