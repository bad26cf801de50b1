/* The handler of the signal by which a launcher asks what a process waits for leaves errno as it is: the program may be between a call
 * and its look at errno. Standard error is closed meanwhile, so that the handler's own calls fail. */
#include "check.h"
#include <errno.h>
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    check_start(&argc, &argv, "report_signal");
    int kept = dup(STDERR_FILENO), after;
    close(STDERR_FILENO);
    errno = 77;
    raise(SIGUSR2);
    after = errno;
    dup2(kept, STDERR_FILENO);
    close(kept);
    CHECK(after == 77, "a signal handler keeps errno", "it is %d", after);
    return check_finish();
}
