#define _GNU_SOURCE
#include "clinux_sync_pool.h"
#include "notify.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { STACK_BYTES = 64 * 1024 };

// Files that are synced one after the other.
struct job {
  struct job *next;
  uint64_t first_ticket;
  int32_t count;
  int32_t taken;
  struct {
    int32_t descriptor;
    int32_t error;
  } files[];
};

struct list {
  struct job *first;
  struct job **end;
};

struct clinux_sync_pool {
  pthread_mutex_t lock;
  pthread_cond_t asked;
  int32_t most;
  int32_t notify;
  pthread_t *threads;
  // Below: under the lock.
  int32_t started;
  int32_t idle;
  int32_t stopping;
  struct list waiting;
  struct list done;
};

static void append(struct list *list, struct job *job) {
  job->next = NULL;
  *list->end = job;
  list->end = &job->next;
}

static struct job *take_first(struct list *list) {
  struct job *job = list->first;
  if (job == NULL) return NULL;
  list->first = job->next;
  if (list->first == NULL) list->end = &list->first;
  return job;
}

static int sync_file(int descriptor) {
  int result;
  do {
    result = fsync(descriptor);
  } while (result < 0 && errno == EINTR);
  return result < 0 ? errno : 0;
}

// All that is to be written is under way before the first file is waited for: their blocks go out
// together, and what files share, such as a block of inodes or a commit of the file system's journal,
// is written once. What that start of it runs into is for the sync itself to tell.
static void sync_files(struct job *job) {
  for (int32_t index = 0; job->count > 1 && index < job->count; index++) {
    sync_file_range(job->files[index].descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
  }
  for (int32_t index = 0; index < job->count; index++) {
    job->files[index].error = sync_file(job->files[index].descriptor);
  }
}

static void *run(void *argument) {
  struct clinux_sync_pool *pool = argument;
  pthread_mutex_lock(&pool->lock);
  while (1) {
    struct job *job = take_first(&pool->waiting);
    if (job != NULL) {
      pthread_mutex_unlock(&pool->lock);
      sync_files(job);
      pthread_mutex_lock(&pool->lock);
      append(&pool->done, job);
      clinux_notify(pool->notify);
    } else if (pool->stopping) {
      break;
    } else {
      pool->idle++;
      pthread_cond_wait(&pool->asked, &pool->lock);
      pool->idle--;
    }
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

struct clinux_sync_pool *clinux_sync_pool_create(int32_t most, int32_t notify) {
  struct clinux_sync_pool *pool = calloc(1, sizeof *pool);
  if (pool == NULL) return NULL;
  pool->threads = calloc((size_t)most, sizeof *pool->threads);
  if (pool->threads == NULL) {
    free(pool);
    return NULL;
  }
  pool->most = most;
  pool->notify = notify;
  pool->waiting.end = &pool->waiting.first;
  pool->done.end = &pool->done.first;
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->asked, NULL);
  return pool;
}

// With the lock held. Returns 0, or an errno.
static int start_thread(struct clinux_sync_pool *pool) {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error != 0) return error;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  // No signal is these threads' business.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  error = pthread_create(&pool->threads[pool->started], &attributes, run, pool);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (error == 0) pool->started++;
  return error;
}

int32_t clinux_sync_pool_submit(struct clinux_sync_pool *pool, const int32_t *descriptors,
                                int32_t count, uint64_t first_ticket) {
  struct job *job = calloc(1, sizeof *job + (size_t)count * sizeof job->files[0]);
  if (job == NULL) return -1;
  job->first_ticket = first_ticket;
  job->count = count;
  for (int32_t index = 0; index < count; index++) job->files[index].descriptor = descriptors[index];
  int error = 0;
  pthread_mutex_lock(&pool->lock);
  if (pool->idle == 0 && pool->started < pool->most) error = start_thread(pool);
  // Where a further one cannot be had, those that are there do the work.
  if (pool->started > 0) {
    error = 0;
    append(&pool->waiting, job);
    pthread_cond_signal(&pool->asked);
  }
  pthread_mutex_unlock(&pool->lock);
  if (error == 0) return 0;
  free(job);
  errno = error;
  return -1;
}

int32_t clinux_sync_pool_take(struct clinux_sync_pool *pool, uint64_t *ticket, int32_t *error) {
  pthread_mutex_lock(&pool->lock);
  struct job *job = pool->done.first;
  if (job != NULL) {
    *ticket = job->first_ticket + (uint64_t)job->taken;
    *error = job->files[job->taken].error;
    job->taken++;
    if (job->taken == job->count) free(take_first(&pool->done));
  }
  pthread_mutex_unlock(&pool->lock);
  return job != NULL;
}

void clinux_sync_pool_destroy(struct clinux_sync_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  pool->stopping = 1;
  pthread_cond_broadcast(&pool->asked);
  pthread_mutex_unlock(&pool->lock);
  for (int32_t index = 0; index < pool->started; index++) pthread_join(pool->threads[index], NULL);
  struct job *job;
  while ((job = take_first(&pool->waiting)) != NULL) free(job);
  while ((job = take_first(&pool->done)) != NULL) free(job);
  pthread_cond_destroy(&pool->asked);
  pthread_mutex_destroy(&pool->lock);
  free(pool->threads);
  free(pool);
}
