/* Resident memory of this process. */
#include <stdio.h>

/* In MiB; 0 where the kernel does not tell. */
static double resident_mib(void)
{
    char line[256];
    double kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status) && sscanf(line, "VmRSS: %lf", &kib) != 1)
        continue;
    if (status)
        fclose(status);
    return kib / 1024;
}
