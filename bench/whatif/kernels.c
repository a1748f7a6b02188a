/* What the kernels of src/whatif are compared to: the same work by the same algorithms in C. Reads a trace, prints figures as one line of
 * JSON. Times are those of the processor, as on the other side: who shares the machine is not measured.
 *
 *   kernels curve   TRACE ROUNDS
 *   kernels replay  TRACE ROUNDS DELAY_MS LATENCY_MS
 *   kernels coupled TRACE ROUNDS DELAY_MS LATENCY_MS PREPARED_MS POOL REFILL_MS CONCURRENT
 *
 * TRACE: doubles. Number of computes, start and end of the period, number of requests of each compute; then all arrivals, then all durations. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONGEST_S = 604800, BINS = LONGEST_S + 2 };

typedef struct {
  long computes, requests;
  double start_at, end_at;
  long *first; /* of each compute, and one behind the last */
  double *at, *duration;
} Trace;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static Trace read_trace(const char *path) {
  FILE *file = fopen(path, "rb");
  Trace trace;
  double head[3];
  if (file == NULL || fread(head, 8, 3, file) != 3) exit(2);
  trace.computes = (long)head[0];
  trace.start_at = head[1];
  trace.end_at = head[2];
  trace.first = malloc((trace.computes + 1) * sizeof(long));
  trace.first[0] = 0;
  for (long c = 0; c < trace.computes; c++) {
    double count;
    if (fread(&count, 8, 1, file) != 1) exit(2);
    trace.first[c + 1] = trace.first[c] + (long)count;
  }
  trace.requests = trace.first[trace.computes];
  trace.at = malloc(trace.requests * 8);
  trace.duration = malloc(trace.requests * 8);
  if (fread(trace.at, 8, trace.requests, file) != (size_t)trace.requests) exit(2);
  if (fread(trace.duration, 8, trace.requests, file) != (size_t)trace.requests) exit(2);
  fclose(file);
  return trace;
}

/* ---- The gap histogram: every delay at once. ---- */

static double curve(const Trace *trace, double *bins, double *cold_at_300) {
  memset(bins, 0, 2 * BINS * 8);
  double span = 0;
  for (long c = 0; c < trace->computes; c++) {
    const double *at = trace->at, *duration = trace->duration;
    long i = trace->first[c], end = trace->first[c + 1];
    if (i == end) continue;
    double first_at = at[i], busy_end = at[i];
    for (; i < end; i++) {
      double gap = at[i] - busy_end, until = at[i] + duration[i];
      if (gap > 0) {
        long bin = gap > LONGEST_S * 1000.0 ? LONGEST_S + 1 : (long)ceil(gap * 0.001);
        bins[2 * bin] += 1;
        bins[2 * bin + 1] += gap;
      }
      if (until > busy_end) busy_end = until;
    }
    span += busy_end - first_at;
  }
  *cold_at_300 = 0;
  for (long bin = 301; bin < BINS; bin++) *cold_at_300 += bins[2 * bin];
  return span;
}

/* ---- Each compute by itself, under one delay. ---- */

typedef struct { double cold, active, starting, waited, wait_sum, *by_day, hits, events; } Outcome;

enum { DAY = 86400000, LONGEST_WAIT = 600000 };

static Outcome no_outcome(const Trace *t) {
  Outcome o = {0};
  o.by_day = calloc((long)ceil((t->end_at - t->start_at) / DAY) + 1, 8);
  return o;
}

static void book_awake(Outcome *o, const Trace *t, double from, double ready_at, double to) {
  double end = fmin(to, t->end_at);
  o->active += end - from;
  o->starting += fmin(ready_at, end) - from;
  while (from < end) {
    long day = (long)((from - t->start_at) / DAY);
    double next = fmin(end, t->start_at + (day + 1.0) * DAY);
    o->by_day[day] += next - from;
    from = next;
  }
}

static void book_wait(Outcome *o, double *waits, double wait) {
  waits[wait < LONGEST_WAIT ? (long)wait : LONGEST_WAIT] += 1;
  o->waited += 1;
  o->wait_sum += wait;
}

static Outcome replay(const Trace *trace, double delay, double latency, double *waits) {
  Outcome o = no_outcome(trace);
  for (long c = 0; c < trace->computes; c++) {
    double awake_since = 0, ready_at = 0, busy_end = -INFINITY;
    for (long i = trace->first[c]; i < trace->first[c + 1]; i++) {
      double at = trace->at[i], duration = trace->duration[i];
      if (at > busy_end + delay) {
        if (busy_end > 0) {
          book_awake(&o, trace, awake_since, ready_at, busy_end + delay);
          o.cold += 1;
        }
        awake_since = at;
        busy_end = ready_at = at + latency;
      }
      double begin = at;
      if (at < ready_at) {
        begin = ready_at;
        book_wait(&o, waits, ready_at - at);
      }
      if (begin + duration > busy_end) busy_end = begin + duration;
    }
    if (busy_end > 0) book_awake(&o, trace, awake_since, ready_at, busy_end + delay);
  }
  free(o.by_day);
  return o;
}

/* ---- All on one clock: a pool of prepared computes and a limit of concurrent starts. ---- */

enum { ASLEEP, QUEUED, STARTING, ACTIVE };

typedef struct { double *at; int *node, *position; int length; } Heap;

static inline int before(double at, int node, double other_at, int other) { return at < other_at || (at == other_at && node < other); }

static void heap_set(Heap *h, int node, double at) {
  int position = h->position[node];
  double old = h->at[position];
  if (at < old) {
    while (position > 0) {
      int parent = (position - 1) >> 2;
      if (!before(at, node, h->at[parent], h->node[parent])) break;
      h->at[position] = h->at[parent];
      h->node[position] = h->node[parent];
      h->position[h->node[position]] = position;
      position = parent;
    }
  } else {
    for (int child = 4 * position + 1; child < h->length; child = 4 * position + 1) {
      int least = child, end = child + 4 < h->length ? child + 4 : h->length;
      for (int other = child + 1; other < end; other++)
        if (before(h->at[other], h->node[other], h->at[least], h->node[least])) least = other;
      if (before(at, node, h->at[least], h->node[least])) break;
      h->at[position] = h->at[least];
      h->node[position] = h->node[least];
      h->position[h->node[position]] = position;
      position = least;
    }
  }
  h->at[position] = at;
  h->node[position] = node;
  h->position[node] = position;
}

/* What arrives while a compute is awake changes nothing for any other: only starts and suspends are on the common clock. */
static Outcome coupled(const Trace *t, double delay, double latency, double prepared, int pool, double refill, int concurrent, double *waits) {
  Outcome o = no_outcome(t);
  int n = (int)t->computes;
  Heap h = {malloc(n * 8L), malloc(n * 4L), malloc(n * 4L), n};
  char *phase = calloc(n, 1), *used = calloc(n, 1);
  double *awake_since = calloc(n, 8), *ready_at = calloc(n, 8), *prepared_at = malloc((pool + 1) * 8L);
  long *cursor = malloc(n * sizeof(long));
  int *queue = malloc(n * 4L), queue_first = 0, queued = 0, under_way = 0, next_prepared = 0;
  for (int i = 0; i < n; i++) { h.at[i] = INFINITY; h.node[i] = h.position[i] = i; }
  for (int i = 0; i < pool; i++) prepared_at[i] = -INFINITY;
#define NEXT_AT(c) (cursor[c] < t->first[(c) + 1] ? t->at[cursor[c]] : INFINITY)
  for (int c = 0; c < n; c++) {
    cursor[c] = t->first[c];
    heap_set(&h, c, NEXT_AT(c));
  }
#define START(c) do { \
    double takes = latency; \
    if (pool > 0 && prepared_at[next_prepared] <= now) { \
      takes = prepared; prepared_at[next_prepared] = now + refill; next_prepared = (next_prepared + 1) % pool; o.hits += 1; \
    } \
    phase[c] = STARTING; awake_since[c] = now; ready_at[c] = now + takes; heap_set(&h, c, ready_at[c] - 0.25); \
  } while (0)
  while (h.at[0] < t->end_at - 0.5) {
    int c = h.node[0];
    double now = round(h.at[0]);
    if (phase[c] == ASLEEP) {
      if (used[c]) o.cold += 1;
      used[c] = 1;
      if (under_way < concurrent) { under_way++; START(c); }
      else { phase[c] = QUEUED; heap_set(&h, c, INFINITY); queue[(queue_first + queued++) % n] = c; }
    } else if (phase[c] == STARTING) {
      double busy_end = now;
      long i = cursor[c], end = t->first[c + 1];
      for (; i < end && t->at[i] < now; i++) {
        book_wait(&o, waits, now - t->at[i]);
        if (now + t->duration[i] > busy_end) busy_end = now + t->duration[i];
      }
      for (; i < end && t->at[i] <= busy_end + delay; i++)
        if (t->at[i] + t->duration[i] > busy_end) busy_end = t->at[i] + t->duration[i];
      o.events += 1 + i - cursor[c];
      cursor[c] = i;
      phase[c] = ACTIVE;
      heap_set(&h, c, busy_end + delay + 0.375);
      under_way--;
      if (queued > 0) { int next = queue[queue_first]; queue_first = (queue_first + 1) % n; queued--; under_way++; START(next); }
    } else {
      o.events += 1;
      phase[c] = ASLEEP;
      book_awake(&o, t, awake_since[c], ready_at[c], now);
      heap_set(&h, c, NEXT_AT(c));
    }
  }
  for (int c = 0; c < n; c++) {
    if (phase[c] == ASLEEP) continue;
    o.events += t->first[c + 1] - cursor[c];
    for (long i = cursor[c]; i < t->first[c + 1]; i++) book_wait(&o, waits, (phase[c] == STARTING ? ready_at[c] : t->end_at) - t->at[i]);
    if (phase[c] != QUEUED) book_awake(&o, t, awake_since[c], ready_at[c], t->end_at);
  }
  free(h.at); free(h.node); free(h.position); free(phase); free(used); free(awake_since); free(ready_at); free(prepared_at); free(cursor);
  free(queue); free(o.by_day);
  return o;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  Trace trace = read_trace(argv[2]);
  double argument[8] = {0};
  for (int i = 4; i < argc && i < 12; i++) argument[i - 4] = atof(argv[i]);
  double best = INFINITY, *bins = malloc(2 * BINS * 8L), cold = 0, span = 0, *waits = calloc(LONGEST_WAIT + 1, 8);
  Outcome o = {0};
  int is_curve = strcmp(argv[1], "curve") == 0, is_replay = strcmp(argv[1], "replay") == 0;
  for (int round = 0; round < atoi(argv[3]); round++) {
    double since = seconds();
    if (is_curve) span = curve(&trace, bins, &cold);
    else if (is_replay) o = replay(&trace, argument[0], argument[1], waits);
    else o = coupled(&trace, argument[0], argument[1], argument[2], (int)argument[3], argument[4], (int)argument[5], waits);
    double took = seconds() - since;
    if (took < best) best = took;
  }
  double amount = is_curve || is_replay ? trace.requests : o.events;
  if (is_curve) printf("{\"perSecond\":%.0f,\"cold\":%.0f,\"spanMs\":%.0f}\n", amount / best, cold, span);
  else
    printf("{\"perSecond\":%.0f,\"cold\":%.0f,\"activeMs\":%.0f,\"startingMs\":%.0f,\"waitMs\":%.0f,\"hits\":%.0f,\"events\":%.0f}\n", amount / best,
           o.cold, o.active, o.starting, o.wait_sum, o.hits, o.events);
  return 0;
}
