/* shuffle: N messages of N tags, the receives posted in a random order: tag matching (Denis 2019 §VI-B). */
#include "requests.h"

int main(int argc, char **argv)
{
    const struct pattern shuffle = {.name = "shuffle", .distinct_tags = true, .shuffled = true};
    return requests_main(argc, argv, "shuffle", &shuffle, 1);
}
