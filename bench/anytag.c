/* anytag: N messages of N tags, every receive with MPI_ANY_TAG, from the source (`anytag`) or from MPI_ANY_SOURCE
 * (`anyboth`). The order of the messages decides which receive gets which, so they are posted in order. */
#include "requests.h"

int main(int argc, char **argv)
{
    const struct pattern patterns[] = {
        {.name = "anytag", .distinct_tags = true, .any_tag = true},
        {.name = "anyboth", .distinct_tags = true, .any_tag = true, .any_source = true}};
    return requests_main(argc, argv, "anytag", patterns, 2);
}
