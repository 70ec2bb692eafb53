/* Frames between engine and agent (protocol.md): reading their bodies, and the queue of frames to send. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "buffer.h"

#define VERSION 2u
#define FRAME_MAX (2u << 20)
#define OUTPUT_WINDOW (1 << 20) /* bytes per stream that we may send before the engine grants more */
#define INPUT_WINDOW (256 << 10) /* bytes per stream that the engine may send before we grant more */
#define CHUNK (64 << 10)
#define QUEUE_SOFT (1 << 20) /* above this, streams wait for the engine to read */

enum { /* engine -> agent */
  EXEC = 1, DATA, END, CREDIT, SIGNAL, KILL, RESIZE, DISCARD, FILE_OP, CANCEL, PING, KILL_ALL
};
enum { /* agent -> engine */
  HELLO = 64, STARTED, FAILED, OUTPUT, EXITED, INPUT_CREDIT, INPUT_CLOSED, RESULT, DONE, PONG
};
enum { OP_INFO = 1, OP_REALPATH, OP_LIST, OP_WALK, OP_READ, OP_WRITE, OP_REMOVE, OP_COPY, OP_MOVE, OP_MKDIR };
enum { EXEC_PTY = 1, EXEC_STDIN = 2, EXEC_SCRIPT = 4 };
enum { WRITE_APPEND = 1, WRITE_PARENTS = 2, WRITE_OVERWRITE = 4 };
enum { READ_BENEATH = 1 };

/* Body of a frame. Malformed frames end the agent, because an engine would not send them. */
struct reader {
  const uint8_t *at, *end;
};

static inline const uint8_t *take(struct reader *r, size_t n) {
  if ((size_t)(r->end - r->at) < n) die("malformed frame");
  const uint8_t *p = r->at;
  r->at += n;
  return p;
}
static inline uint8_t get8(struct reader *r) { return *take(r, 1); }
static inline uint16_t get16(struct reader *r) {
  uint16_t v;
  memcpy(&v, take(r, 2), 2);
  return v;
}
static inline uint32_t get32(struct reader *r) {
  uint32_t v;
  memcpy(&v, take(r, 4), 4);
  return v;
}
static inline uint64_t get64(struct reader *r) {
  uint64_t v;
  memcpy(&v, take(r, 8), 8);
  return v;
}
static inline const uint8_t *get_bytes(struct reader *r, uint32_t *n) {
  *n = get32(r);
  return take(r, *n);
}
/* Returns a copy terminated by NUL; *n is its length without it. */
static inline char *get_string(struct reader *r, uint32_t *n) {
  uint32_t length;
  const uint8_t *bytes = get_bytes(r, &length);
  char *text = malloc((size_t)length + 1);
  if (!text) die("out of memory");
  memcpy(text, bytes, length);
  text[length] = 0;
  if (n) *n = length;
  return text;
}
/* Does the same for C strings, which must not contain NUL. */
static inline char *get_text(struct reader *r) {
  uint32_t length;
  char *text = get_string(r, &length);
  if (strlen(text) != length) die("NUL in a text");
  return text;
}

extern pthread_mutex_t lock; /* guards `out` and all jobs */
extern struct buffer out; /* frames to send */
extern int wake_fd; /* eventfd that wakes the main thread */

/* Starts a frame; returns its offset from the start of the queue, for frame_end. */
size_t frame_begin(uint8_t type, uint32_t id);
void frame_end(size_t frame);
void send_failed(uint32_t id, int error, const char *during);
void send_number(uint8_t type, uint32_t id, uint32_t number);
void send_empty(uint8_t type, uint32_t id);
/* Waits, holding `lock`, for flow_changed. */
void await_flow(void);
/* Wakes threads that wait for credit, input or room in the queue. */
void flow_changed(void);
/* Tells the main thread that another thread has queued output. */
void wake_main(void);
