/* unexpected: N messages of N tags, all arrived before the first receive is posted, then received in a random order. */
#include "requests.h"

int main(int argc, char **argv)
{
    const struct pattern unexpected = {
        .name = "unexpected", .distinct_tags = true, .shuffled = true, .unexpected = true};
    return requests_main(argc, argv, "unexpected", &unexpected, 1);
}
