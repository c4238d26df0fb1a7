#define _GNU_SOURCE
#include "clinux_thread_pool.h"
#include "masked_thread.h"
#include "notify.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct job {
  struct job *next;
  uint64_t ticket;
  void (*work)(void *);
  void *context;
};

struct list {
  struct job *first;
  struct job **end;
};

struct clinux_thread_pool {
  pthread_mutex_t lock;
  pthread_cond_t asked;
  int32_t most;
  size_t stack_bytes;
  int32_t notify;
  pthread_t *threads;
  // The lock protects the rest.
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

static void *run(void *argument) {
  struct clinux_thread_pool *pool = argument;
  pthread_mutex_lock(&pool->lock);
  while (1) {
    struct job *job = take_first(&pool->waiting);
    if (job != NULL) {
      pthread_mutex_unlock(&pool->lock);
      job->work(job->context);
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

struct clinux_thread_pool *clinux_thread_pool_create(int32_t most, size_t stack_bytes,
                                                     int32_t notify) {
  struct clinux_thread_pool *pool = calloc(1, sizeof *pool);
  if (pool == NULL) return NULL;
  pool->threads = calloc((size_t)most, sizeof *pool->threads);
  if (pool->threads == NULL) {
    free(pool);
    return NULL;
  }
  pool->most = most;
  pool->stack_bytes = stack_bytes;
  pool->notify = notify;
  pool->waiting.end = &pool->waiting.first;
  pool->done.end = &pool->done.first;
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->asked, NULL);
  return pool;
}

// Starts a thread; called with the lock held. Returns 0 or an errno.
static int start_thread(struct clinux_thread_pool *pool) {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error != 0) return error;
  pthread_attr_setstacksize(&attributes, pool->stack_bytes);
  error = clinux_create_masked(&pool->threads[pool->started], &attributes, run, pool);
  pthread_attr_destroy(&attributes);
  if (error == 0) pool->started++;
  return error;
}

int32_t clinux_thread_pool_submit(struct clinux_thread_pool *pool, uint64_t ticket,
                                  void (*work)(void *), void *context) {
  struct job *job = calloc(1, sizeof *job);
  if (job == NULL) return -1;
  *job = (struct job){.ticket = ticket, .work = work, .context = context};
  int error = 0;
  pthread_mutex_lock(&pool->lock);
  if (pool->idle == 0 && pool->started < pool->most) error = start_thread(pool);
  // If no further thread can start, the existing threads do the work.
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

int32_t clinux_thread_pool_take(struct clinux_thread_pool *pool, uint64_t *ticket) {
  pthread_mutex_lock(&pool->lock);
  struct job *job = take_first(&pool->done);
  pthread_mutex_unlock(&pool->lock);
  if (job == NULL) return 0;
  *ticket = job->ticket;
  free(job);
  return 1;
}

void clinux_thread_pool_destroy(struct clinux_thread_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  pool->stopping = 1;
  pthread_cond_broadcast(&pool->asked);
  pthread_mutex_unlock(&pool->lock);
  for (int32_t index = 0; index < pool->started; index++) pthread_join(pool->threads[index], NULL);
  struct job *job;
  while ((job = take_first(&pool->done)) != NULL) free(job);
  pthread_cond_destroy(&pool->asked);
  pthread_mutex_destroy(&pool->lock);
  free(pool->threads);
  free(pool);
}
