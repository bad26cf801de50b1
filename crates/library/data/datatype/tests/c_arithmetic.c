/* Reads lines "KIND OP A B", operands as hexadecimal bytes in memory order, and prints the result of
 * C's own arithmetic in the same form. Kinds: h, l, q for _Float16, long double, __float128; capitals for
 * complex numbers of these; p for struct { long double; int }. */
#include <complex.h>
#include <stdio.h>
#include <string.h>

typedef __complex__ _Float16 complex_half;
typedef _Complex float complex_quad __attribute__((mode(TC)));
struct pair {
  long double value;
  int index;
};

static void decode(const char *text, void *bytes, size_t size) {
  unsigned value;
  for (size_t i = 0; i < size; i++) {
    sscanf(text + 2 * i, "%2x", &value);
    ((unsigned char *)bytes)[i] = (unsigned char)value;
  }
}

static void print(const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) printf("%02x", ((const unsigned char *)bytes)[i]);
  printf("\n");
}

#define REAL(TYPE, BYTES)                                  \
  {                                                        \
    TYPE a, b, r = 0;                                      \
    decode(left, &a, sizeof a);                            \
    decode(right, &b, sizeof b);                           \
    switch (op) {                                          \
      case '+': r = a + b; break;                          \
      case '*': r = a * b; break;                          \
      case '>': r = a > b ? a : b; break;                  \
      case '<': r = a < b ? a : b; break;                  \
    }                                                      \
    print(&r, BYTES);                                      \
  }

#define COMPLEX(TYPE)                                      \
  {                                                        \
    TYPE a, b, r = 0;                                      \
    decode(left, &a, sizeof a);                            \
    decode(right, &b, sizeof b);                           \
    r = op == '+' ? a + b : a * b;                         \
    print(&r, sizeof r);                                   \
  }

int main(void) {
  char kind, op, left[80], right[80];
  while (scanf(" %c %c %79s %79s", &kind, &op, left, right) == 4) {
    switch (kind) {
      case 'h': REAL(_Float16, 2) break;
      case 'l': REAL(long double, 10) break;
      case 'q': REAL(__float128, 16) break;
      case 'H': COMPLEX(complex_half) break;
      case 'L': COMPLEX(long double complex) break;
      case 'Q': COMPLEX(complex_quad) break;
      case 'p': {
        struct pair a, b, r;
        decode(left, &a, sizeof a);
        decode(right, &b, sizeof b);
        int takes = op == '>' ? a.value > b.value : a.value < b.value;
        r = takes || (a.value == b.value && a.index < b.index) ? a : b;
        memcpy(left, &r.value, 10);
        print(left, 10);
        print(&r.index, 4);
        break;
      }
      default: return 1;
    }
  }
  return 0;
}
