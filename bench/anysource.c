/* anysource: shuffle with every receive from MPI_ANY_SOURCE: matching by tag alone. */
#include "requests.h"

int main(int argc, char **argv)
{
    const struct pattern anysource = {
        .name = "anysource", .distinct_tags = true, .shuffled = true, .any_source = true};
    return requests_main(argc, argv, "anysource", &anysource, 1);
}
