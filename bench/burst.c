/* burst: N messages of one tag, received in order: the ability to hold N requests (Denis 2019 §VI-B). */
#include "requests.h"

int main(int argc, char **argv)
{
    const struct pattern burst = {.name = "burst"};
    return requests_main(argc, argv, "burst", &burst, 1);
}
