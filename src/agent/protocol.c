/* Queue of frames to the engine. */
#define _GNU_SOURCE
#include "protocol.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct buffer out;
int wake_fd = -1;

static pthread_cond_t flow = PTHREAD_COND_INITIALIZER;
static int flow_waiters;

size_t frame_begin(uint8_t type, uint32_t id) {
  size_t frame = filled(&out);
  put32(&out, 0);
  put8(&out, type);
  put32(&out, id);
  return frame;
}

void frame_end(size_t frame) {
  uint32_t length = (uint32_t)(filled(&out) - frame - 4);
  memcpy(out.data + out.start + frame, &length, 4);
}

void send_failed(uint32_t id, int error, const char *during) {
  size_t frame = frame_begin(FAILED, id);
  put32(&out, (uint32_t)error);
  put_string(&out, during, strlen(during));
  frame_end(frame);
}

void send_number(uint8_t type, uint32_t id, uint32_t number) {
  size_t frame = frame_begin(type, id);
  put32(&out, number);
  frame_end(frame);
}

void send_empty(uint8_t type, uint32_t id) { frame_end(frame_begin(type, id)); }

void await_flow(void) {
  flow_waiters++;
  pthread_cond_wait(&flow, &lock);
  flow_waiters--;
}

void flow_changed(void) {
  if (flow_waiters > 0) pthread_cond_broadcast(&flow);
}

void wake_main(void) {
  uint64_t one = 1;
  if (write(wake_fd, &one, 8) < 0 && errno != EAGAIN) die("eventfd");
}
