/* File operations as jobs of threads, with flow control in both directions. */
#pragma once

#include <sys/types.h>

#include "protocol.h"

struct job {
  struct job *next; /* in the list of all jobs */
  uint32_t id;
  uint8_t op;
  bool taken, input_end, cancelled;
  int64_t credit;
  struct buffer params, input;
};

/* Error of an operation: error number and failed call. */
struct failure {
  int error;
  const char *during;
};

/* Both return -1 after noting an error: errno, or the given one. */
int fail(struct failure *f, const char *during);
int fail_with(struct failure *f, int error, const char *during);

/* Sends a frame of a job as soon as its credit allows. */
int job_send(struct job *j, uint8_t type, const void *bytes, size_t n, struct failure *f);
/* Receives the next bytes from the engine; 0 at their end. */
ssize_t job_receive(struct job *j, uint8_t *into, size_t max, struct failure *f);

void start_threads(void);
/* Queues the job of a FILE_OP frame. */
void job_start(uint32_t id, struct reader *r);
/* Returns the job of a call, or NULL. */
struct job *job_of(uint32_t id);
