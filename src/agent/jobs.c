/* Runs file operations in threads. */
#define _GNU_SOURCE
#include "jobs.h"

#include "files.h"

#define THREADS 4 /* permanent ones */
#define THREADS_MAX 16
#define JOBS_MAX 1024

static struct job *jobs;
static int job_count, untaken_jobs, idle_threads, thread_count;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER; /* signals a job for an idle thread */

int fail(struct failure *f, const char *during) {
  f->error = errno;
  f->during = during;
  return -1;
}

int fail_with(struct failure *f, int error, const char *during) {
  errno = error;
  return fail(f, during);
}

/* Waits, holding `lock`, until data may be sent. */
static int await_credit(struct job *j, struct failure *f) {
  while (!j->cancelled && (j->credit <= 0 || filled(&out) >= QUEUE_SOFT)) await_flow();
  return j->cancelled ? fail_with(f, ECANCELED, "cancel") : 0;
}

int job_send(struct job *j, uint8_t type, const void *bytes, size_t n, struct failure *f) {
  pthread_mutex_lock(&lock);
  int failed = await_credit(j, f);
  if (!failed) {
    size_t frame = frame_begin(type, j->id);
    if (type == OUTPUT) put8(&out, 1);
    put(&out, bytes, n);
    frame_end(frame);
    j->credit -= (int64_t)n;
  }
  pthread_mutex_unlock(&lock);
  wake_main();
  return failed;
}

ssize_t job_receive(struct job *j, uint8_t *into, size_t max, struct failure *f) {
  pthread_mutex_lock(&lock);
  while (!j->cancelled && filled(&j->input) == 0 && !j->input_end) await_flow();
  ssize_t n = -1;
  if (j->cancelled) fail_with(f, ECANCELED, "cancel");
  else {
    n = (ssize_t)filled(&j->input);
    if ((size_t)n > max) n = (ssize_t)max;
    if (n > 0) {
      memcpy(into, j->input.data + j->input.start, (size_t)n);
      consume(&j->input, (size_t)n);
      send_number(INPUT_CREDIT, j->id, (uint32_t)n);
    }
  }
  pthread_mutex_unlock(&lock);
  if (n > 0) wake_main();
  return n;
}

static void job_run(struct job *j) {
  static operation *const ops[] = {
      [OP_INFO] = op_info,   [OP_REALPATH] = op_realpath, [OP_LIST] = op_list, [OP_WALK] = op_walk, [OP_READ] = op_read,
      [OP_WRITE] = op_write, [OP_REMOVE] = op_remove,     [OP_COPY] = op_copy, [OP_MOVE] = op_move, [OP_MKDIR] = op_mkdir,
  };
  if (j->op < OP_INFO || j->op > OP_MKDIR) die("unknown file operation");
  struct reader r = {j->params.data, j->params.data + j->params.end};
  struct buffer response = {0};
  struct failure f = {0};
  int failed = ops[j->op](j, &r, &response, &f);
  pthread_mutex_lock(&lock);
  if (failed) send_failed(j->id, f.error, f.during);
  else {
    size_t frame = frame_begin(DONE, j->id);
    put(&out, response.data, response.end);
    frame_end(frame);
  }
  for (struct job **at = &jobs; *at; at = &(*at)->next)
    if (*at == j) {
      *at = j->next;
      break;
    }
  job_count--;
  pthread_mutex_unlock(&lock);
  release(&response);
  release(&j->params);
  release(&j->input);
  free(j);
  wake_main();
}

static struct job *waiting_job(void) {
  struct job *oldest = NULL;
  for (struct job *j = jobs; j; j = j->next)
    if (!j->taken) oldest = j; /* new ones are in front */
  return oldest;
}

/* Runs jobs; extra threads end when there are none. */
static void *file_thread(void *extra) {
  for (;;) {
    pthread_mutex_lock(&lock);
    struct job *j;
    idle_threads++;
    while (!(j = waiting_job()) && !extra) pthread_cond_wait(&work, &lock);
    idle_threads--;
    if (!j) {
      thread_count--;
      pthread_mutex_unlock(&lock);
      return NULL;
    }
    j->taken = true;
    untaken_jobs--;
    pthread_mutex_unlock(&lock);
    job_run(j);
  }
}

static bool start_thread(bool extra) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  static char extra_thread;
  bool ok = pthread_create(&thread, &attributes, file_thread, extra ? &extra_thread : NULL) == 0;
  pthread_attr_destroy(&attributes);
  if (ok) thread_count++;
  return ok;
}

void start_threads(void) {
  for (int i = 0; i < THREADS; i++)
    if (!start_thread(false)) die("no threads");
}

void job_start(uint32_t id, struct reader *r) {
  uint8_t op = get8(r);
  if (job_count >= JOBS_MAX) {
    send_failed(id, EAGAIN, "file operation");
    return;
  }
  struct job *j = calloc(1, sizeof *j);
  if (!j) die("out of memory");
  *j = (struct job){.next = jobs, .id = id, .op = op, .credit = OUTPUT_WINDOW};
  put(&j->params, r->at, (size_t)(r->end - r->at));
  r->at = r->end;
  jobs = j;
  job_count++;
  untaken_jobs++;
  /* Streams wait for their readers, which must not block other jobs, unless no thread can be created. */
  if (untaken_jobs > idle_threads && thread_count < THREADS_MAX) start_thread(true);
  pthread_cond_signal(&work);
}

struct job *job_of(uint32_t id) {
  for (struct job *j = jobs; j; j = j->next)
    if (j->id == id) return j;
  return NULL;
}
