/* probe PATH: whether it is a character device, whether it may be read and written, its size. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct stat found;
    if (argc != 2)
        return 2;
    if (stat(argv[1], &found)) {
        printf("stat: %d\n", errno);
    } else {
        printf("%s %ld\n", S_ISCHR(found.st_mode) ? "character" : "other", (long)found.st_size);
    }
    printf("access: %d\n", access(argv[1], R_OK | W_OK) ? errno : 0);
    return 0;
}
