/* Growing byte buffers and helpers of all files. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ull

/* Ends the agent, and the container with it. */
__attribute__((noreturn)) static inline void die(const char *why) {
  dprintf(2, "bax-agent: %s\n", why);
  _exit(2);
}

/* Returns the monotonic clock in nanoseconds. */
static inline uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Closes a descriptor once. */
static inline void shut(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

struct buffer {
  uint8_t *data;
  size_t start, end, cap;
};

static inline size_t filled(const struct buffer *b) { return b->end - b->start; }

/* Makes room for n more bytes after `end`. */
static inline uint8_t *room(struct buffer *b, size_t n) {
  if (b->cap - b->end < n) {
    size_t length = filled(b);
    if (b->start > 0) memmove(b->data, b->data + b->start, length);
    b->start = 0;
    b->end = length;
    if (b->cap - length < n) {
      size_t cap = b->cap ? b->cap : 4096;
      while (cap - length < n) cap *= 2;
      uint8_t *data = realloc(b->data, cap);
      if (!data) die("out of memory");
      b->data = data;
      b->cap = cap;
    }
  }
  return b->data + b->end;
}

static inline void put(struct buffer *b, const void *bytes, size_t n) {
  if (n == 0) return;
  memcpy(room(b, n), bytes, n);
  b->end += n;
}

/* Both architectures and the protocol are little-endian. */
static inline void put8(struct buffer *b, uint8_t v) { put(b, &v, 1); }
static inline void put32(struct buffer *b, uint32_t v) { put(b, &v, 4); }
static inline void put64(struct buffer *b, uint64_t v) { put(b, &v, 8); }
static inline void put_string(struct buffer *b, const void *bytes, size_t n) {
  put32(b, (uint32_t)n);
  put(b, bytes, n);
}

static inline void consume(struct buffer *b, size_t n) {
  b->start += n;
  if (b->start == b->end) b->start = b->end = 0;
}

static inline void release(struct buffer *b) {
  free(b->data);
  *b = (struct buffer){0};
}
