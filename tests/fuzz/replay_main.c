/* replay_main.c -- runs a fuzz target over stored inputs: its corpus, and every input that once broke
 * something.
 *
 * The arguments are directories; every file in them is one test. There is nothing to compare: the target
 * aborts, or a sanitizer ends the program, and then the closing line is missing and the last file named on
 * stderr is the culprit.
 *
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_MAX_BYTES = 16 * 1024 * 1024, PATH_MAX_BYTES = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The copy is exactly as long as the input, so that a read beyond its end is seen by the sanitizer. */
static uint8_t *read_input(const char *path, size_t *ret_len)
{
    uint8_t *data = NULL;
    FILE    *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;

    if (fseek(file, 0, SEEK_END) != 0)
        goto out;
    long len = ftell(file);
    if (len < 0 || len > INPUT_MAX_BYTES || fseek(file, 0, SEEK_SET) != 0)
        goto out;
    data = malloc(len > 0 ? (size_t)len : 1);
    if (data != NULL && fread(data, 1, (size_t)len, file) != (size_t)len) {
        free(data);
        data = NULL;
    }
    *ret_len = (size_t)len;
out:
    (void)fclose(file); /* it was only read */
    return data;
}

static int replay_file(const char *path)
{
    size_t   len = 0;
    uint8_t *data = read_input(path, &len);
    if (data == NULL) {
        fprintf(stderr, "%s: cannot be read, or is longer than %d bytes\n", path, INPUT_MAX_BYTES);
        return 1;
    }
    fprintf(stderr, "%s\n", path);
    (void)LLVMFuzzerTestOneInput(data, len); /* libFuzzer reserves the value; 0 is all a target returns */
    free(data);
    return 0;
}

/* Files whose name begins with a dot keep a directory alive in git, and are no input. */
static void replay_directory(const char *path, int *passed, int *failed)
{
    DIR *dir = opendir(path);
    if (dir == NULL) {
        fprintf(stderr, "%s: no such directory\n", path);
        (*failed)++;
        return;
    }
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char name[PATH_MAX_BYTES];
        int  len = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.')
            continue;
        if (len < 0 || (size_t)len >= sizeof name || replay_file(name) != 0)
            (*failed)++;
        else
            (*passed)++;
    }
    closedir(dir);
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    for (int i = 1; i < argc; i++)
        replay_directory(argv[i], &passed, &failed);

    if (passed == 0) {
        fprintf(stderr, "no input was replayed: a target without a corpus tests nothing\n");
        failed++;
    }
    printf("fuzz-%s: %d passed, %d failed\n", FUZZ_TARGET, passed, failed);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
