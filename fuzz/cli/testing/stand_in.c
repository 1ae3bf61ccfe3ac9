/* The unit of device/examples/unit.c for tests, so many microseconds a line, with one fault:
 *   stand_in VARIANT MICROSECONDS
 *   right | bits23 | x | line20 | line101 | crash | assertion | after | hang | warn | behind | late | flush */
#define NO_MAIN
#include "device/examples/unit.c"

#include <unistd.h>

static int is_nan(uint32_t d) { return (d & 0x7fffffff) > 0x7f800000; }

int main(int argc, char **argv) {
  const char *fault = argc > 1 ? argv[1] : "right";
  const int pause = argc > 2 ? atoi(argv[2]) : 0;
  char line[1024];
  for (long number = 1; fgets(line, sizeof line, stdin); number++) {
    uint16_t a[K], b[K];
    char *at = line;
    for (int i = 0; i < K; i++) a[i] = strtoul(at, &at, 16);
    for (int i = 0; i < K; i++) b[i] = strtoul(at, &at, 16);
    if (!strcmp(fault, "flush") && (a[5] & 0x7c00) == 0) a[5] = 0;
    const uint32_t d = unit(a, b, strtoul(at, &at, 16));
    /* One input: the first factor is negative, the second a subnormal. */
    const int chosen = a[0] >> 15 && (b[0] & 0x7c00) == 0 && (b[0] & 0x3ff) != 0;
    if (pause) usleep(pause);
    line[strcspn(line, "\r\n")] = 0;
    if (!strcmp(fault, "line20") && number == 20) abort();
    if (!strcmp(fault, "line101") && number == 101) abort();
    if (!strcmp(fault, "crash") && chosen) fprintf(stderr, "unit.sv:42: assertion\n"), exit(3);
    if (!strcmp(fault, "assertion") && chosen) puts("%Error: unit.sv:42: assertion"), exit(1);
    if (!strcmp(fault, "hang") && chosen) sleep(100000);
    if (!strcmp(fault, "warn") && chosen) puts("%Warning: unit.sv:42: subnormal");
    if (!strcmp(fault, "x") && is_nan(d)) printf("%s xxxxxxxx\n", line);
    else if (!strcmp(fault, "late") && number > 20000) printf("%s %08x\n", line, d ^ 1);
    else printf("%s %08x\n", line, d);
    if (!strcmp(fault, "behind") && chosen) puts("%Warning: unit.sv:42: subnormal");
    fflush(stdout);
    if (!strcmp(fault, "after") && chosen) abort();
  }
  return 0;
}
