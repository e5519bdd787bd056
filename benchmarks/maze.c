/* The Maze trained by Algorithm 1 with the Gini deviation: the loop that benchmarks/maze.py is measured against.
   Usage: maze UPDATES RUNS; prints steps taken and the mean return of the last update. Uniform red reward. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 50
#define T 100
#define S 36
static const char *GRID = "......" ".####G" "....#." "....#." "....#." "S...R.";
static const uint64_t GOLDEN = 0x9E3779B97F4A7C15ULL;
static int next_state[S][4];
static double pay[S][4];
static char red[S][4], goal[S][4];
static double theta[S][4], pi[S][4], cumulative[S][4], value[S];
static int states[N][T], actions[N][T], lengths[N];
static double rewards[N][T], to_go[N][T], returns[N], c[N];

static uint64_t mix(uint64_t w) {
    w = (w ^ (w >> 30)) * 0xBF58476D1CE4E5B9ULL;
    w = (w ^ (w >> 27)) * 0x94D049BB133111EBULL;
    return w ^ (w >> 31);
}
static uint64_t child(uint64_t parent, uint64_t step) { return mix((parent ^ mix(step + 0x94D049BB133111EBULL)) + GOLDEN); }
static double uniform(uint64_t key, uint64_t k) { return ((double)(mix(key + (k + 1) * GOLDEN) >> 12) + 0.5) * 0x1p-52; }

static void build(void) {
    const int dr[4] = {-1, 1, 0, 0}, dc[4] = {0, 0, -1, 1};
    for (int s = 0; s < S; s++)
        for (int a = 0; a < 4; a++) {
            int r = s / 6 + dr[a], k = s % 6 + dc[a], to = r * 6 + k;
            if (GRID[s] == '#' || r < 0 || r > 5 || k < 0 || k > 5 || GRID[to] == '#') to = s;
            next_state[s][a] = to;
            red[s][a] = to != s && GRID[to] == 'R';
            goal[s][a] = to != s && GRID[to] == 'G';
            pay[s][a] = red[s][a] ? 0.0 : goal[s][a] ? 10.0 : -1.0;
        }
}

static void softmax(void) {
    for (int s = 0; s < S; s++) {
        double top = theta[s][0], sum = 0.0;
        for (int a = 1; a < 4; a++) if (theta[s][a] > top) top = theta[s][a];
        for (int a = 0; a < 4; a++) sum += pi[s][a] = exp(theta[s][a] - top);
        double running = 0.0;
        for (int a = 0; a < 4; a++) { pi[s][a] /= sum; cumulative[s][a] = running += pi[s][a]; }
    }
}

static long play(uint64_t seed, uint64_t iteration) {
    long steps = 0;
    uint64_t root = mix(seed + GOLDEN);
    uint64_t environment = child(child(root, 1), iteration), acting = child(child(root, 2), iteration);
    for (int i = 0; i < N; i++) {
        uint64_t noise = child(mix((child(environment, i) >> 32) + GOLDEN), 7), key = child(acting, i);
        int s = 30, t = 0, drawn = 0, over = 0;
        while (!over) {
            double u = uniform(key, t);
            int a = (cumulative[s][0] <= u) + (cumulative[s][1] <= u) + (cumulative[s][2] <= u);
            double r = pay[s][a];
            if (red[s][a]) r += -25.0 + 48.0 * uniform(noise, drawn++);
            states[i][t] = s; actions[i][t] = a; rewards[i][t] = r;
            over = goal[s][a]; s = next_state[s][a];
            if (++t == T) over = 1;
        }
        lengths[i] = t; steps += t;
    }
    return steps;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void gini(void) {
    double sorted[N], prefix = 0.0, total = 0.0, sum = 0.0, distance[N];
    memcpy(sorted, returns, sizeof sorted);
    qsort(sorted, N, sizeof(double), by_value);
    double below[N];
    for (int k = 0; k < N; k++) total += sorted[k];
    for (int k = 0; k < N; k++) { prefix += sorted[k]; below[k] = sorted[k] * (2 * (k + 1) - N) - 2 * prefix + total; }
    for (int i = 0; i < N; i++) {
        double *at = bsearch(&returns[i], sorted, N, sizeof(double), by_value);
        sum += distance[i] = below[at - sorted];
    }
    for (int i = 0; i < N; i++) c[i] = (N * distance[i] - sum) / ((N - 1.0) * (N - 2.0));
}

static void update(double gamma, double lam, double policy_rate, double value_rate) {
    double taken[S][4] = {{0}}, seen[S] = {0};
    for (int i = 0; i < N; i++) {
        double ahead = 0.0;
        for (int t = lengths[i] - 1; t >= 0; t--) to_go[i][t] = ahead = rewards[i][t] + gamma * ahead;
        returns[i] = ahead;
    }
    gini();
    for (int i = 0; i < N; i++) {
        double discount = 1.0, penalty = lam * c[i];
        for (int t = 0; t < lengths[i]; t++) {
            int s = states[i][t];
            double w = discount * (to_go[i][t] - value[s]) - penalty;
            taken[s][actions[i][t]] += w; seen[s] += w; discount *= gamma;
        }
    }
    for (int s = 0; s < S; s++)
        for (int a = 0; a < 4; a++) theta[s][a] += policy_rate / N * (taken[s][a] - seen[s] * pi[s][a]);
    for (int i = 0; i < N; i++) {
        double slope[S] = {0};
        for (int t = 0; t < lengths[i]; t++) slope[states[i][t]] += value[states[i][t]] - to_go[i][t];
        for (int s = 0; s < S; s++) value[s] -= value_rate * 2.0 / lengths[i] * slope[s];
    }
}

int main(int argc, char **argv) {
    int updates = argc > 1 ? atoi(argv[1]) : 200, runs = argc > 2 ? atoi(argv[2]) : 1;
    long steps = 0;
    double mean = 0.0;
    build();
    for (int run = 0; run < runs; run++) {
        memset(theta, 0, sizeof theta);
        memset(value, 0, sizeof value);
        for (int k = 0; k < updates; k++) {
            softmax();
            steps += play(run, k);
            update(0.999, 1.0, 1e-3, 1e-2);
        }
        for (int i = 0; i < N; i++) mean += returns[i] / N / runs;
    }
    printf("%ld %.6f\n", steps, mean);
    return 0;
}
