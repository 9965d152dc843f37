/* test_hash.c -- published vectors, every short length in odd pieces, threads, and a task left in the middle.
 *
 * SPDX-License-Identifier: MIT */
#include "core/hash.h"

#include <check.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>

#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

enum { PLENTY = MIB };

static void assert_digest(sha256_digest got, const char *hex)
{
    char text[SHA256_HEX + 1];
    str  s = hash_hex(&got, text);
    ck_assert_uint_eq(s.len, SHA256_HEX);
    ck_assert_ptr_eq(s.at, text);
    ck_assert_str_eq(text, hex);
}

static str repeat(arena *a, char c, size_t len)
{
    char *at = arena_alloc(a, len + 1);
    memset(at, c, len);
    return (str){at, len};
}

/* FIPS 180-4 examples, and the digest of nothing. */
static const struct {
    const char *text, *hex;
} sha_vectors[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
     "mnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

START_TEST(sha256_gives_the_published_digests)
{
    assert_digest(hash_sha256(str_of(sha_vectors[_i].text)), sha_vectors[_i].hex);
}
END_TEST

START_TEST(a_million_letters_give_the_published_digest)
{
    arena *a = arena_new(2 * MIB);
    assert_digest(hash_sha256(repeat(a, 'a', 1000000)),
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    arena_free(a);
}
END_TEST

/* RFC 4231 §4, all but the truncated case 5. A NULL key or data is one byte, repeated. */
static const struct {
    const char   *key;
    unsigned char key_fill;
    size_t        key_len;
    const char   *data;
    unsigned char data_fill;
    size_t        data_len;
    const char   *hex;
} hmac_vectors[] = {
    {NULL, 0x0b, 20, "Hi There", 0, 8, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
    {"Jefe", 0, 4, "what do ya want for nothing?", 0, 28,
     "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
    {NULL, 0xaa, 20, NULL, 0xdd, 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
    {"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19",
     0, 25, NULL, 0xcd, 50, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
    {NULL, 0xaa, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 0, 54,
     "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
    {NULL, 0xaa, 131,
     "This is a test using a larger than block-size key and a larger than block-size data. The key needs to "
     "be "
     "hashed before being used by the HMAC algorithm.",
     0, 152, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
    {"", 0, 0, "", 0, 0, "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"},
    /* A key of exactly one block is used as it is; one byte more, and it is hashed. */
    {NULL, 'k', 64, "block", 0, 5, "1b7ee2f78bbad5f9d29e0b4e5f639ae046d13e1763f1ebc7a439089c128f294a"},
    {NULL, 'k', 65, "block", 0, 5, "205da1093ea96b1859b451191f3a71c6c93ec675f0872d8018cedab033bc8986"},
};

START_TEST(hmac_gives_the_published_codes)
{
    arena *a = arena_new(PLENTY);
    str    key = hmac_vectors[_i].key != NULL
                     ? (str){hmac_vectors[_i].key, hmac_vectors[_i].key_len}
                     : repeat(a, (char)hmac_vectors[_i].key_fill, hmac_vectors[_i].key_len);
    str    data = hmac_vectors[_i].data != NULL
                      ? (str){hmac_vectors[_i].data, hmac_vectors[_i].data_len}
                      : repeat(a, (char)hmac_vectors[_i].data_fill, hmac_vectors[_i].data_len);
    assert_digest(hash_hmac_sha256(key, data), hmac_vectors[_i].hex);
    arena_free(a);
}
END_TEST

START_TEST(an_empty_str_without_a_pointer_hashes_as_nothing)
{
    str none = {NULL, 0};
    assert_digest(hash_sha256(none), sha_vectors[0].hex);
    assert_digest(hash_hmac_sha256(none, none), hmac_vectors[6].hex);
}
END_TEST

START_TEST(pieces_of_any_size_give_the_digest_of_the_whole)
{
    enum { LONGEST = 130 };
    static const size_t steps[] = {1, 3, 7, 63, 64, 65};
    char                bytes[LONGEST];
    arena              *a = arena_new(PLENTY);
    for (size_t i = 0; i < LONGEST; i++)
        bytes[i] = (char)(i * 37 + 11);

    for (size_t len = 0; len <= LONGEST; len++) {
        sha256_digest whole = hash_sha256((str){bytes, len});
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            hash_state *h = hash_begin(a);
            for (size_t at = 0; at < len; at += steps[s])
                hash_add(h, str_slice((str){bytes, len}, at, at + steps[s]));
            sha256_digest joined = hash_end(h);
            ck_assert_mem_eq(joined.at, whole.at, SHA256_BYTES);
        }
    }
    arena_free(a);
}
END_TEST

START_TEST(other_hashes_between_two_pieces_do_not_disturb)
{
    arena      *a = arena_new(PLENTY);
    hash_state *one = hash_begin(a), *two = hash_begin(a);
    hash_add(one, STR("a"));
    hash_add(two, STR("ab"));
    (void)hash_sha256(STR("noise"));
    (void)hash_hmac_sha256(STR("noise"), STR("noise"));
    hash_add(one, STR("bc"));
    hash_add(two, STR("c"));
    assert_digest(hash_end(one), sha_vectors[1].hex);
    assert_digest(hash_end(two), sha_vectors[1].hex);
    arena_free(a);
}
END_TEST

/* The leak sanitizer tells, at the end of the test's process, whether a context was left behind. */
static jmp_buf out_of_task;

static void leave_task(void *ctx)
{
    (void)ctx;
    longjmp(out_of_task, 1);
}

START_TEST(a_task_left_at_any_allocation_leaves_no_context_behind)
{
    volatile long nth = 0;
    for (;;) {
        nth++;
        arena *volatile a = arena_new(PLENTY);
        arena_on_exhausted(a, leave_task, NULL);
        if (setjmp(out_of_task) == 0) {
            arena_fail_at(nth);
            hash_state *h = hash_begin(a);
            hash_add(h, STR("never ended"));
        }
        bool reached = !arena_fail_pending();
        arena_fail_at(0);
        arena_free(a);
        if (!reached)
            break;
    }
    ck_assert_int_ge(nth, 3); /* the state and its cleanup are two allocations */
}
END_TEST

START_TEST(without_memory_outside_a_task_there_is_no_state)
{
    arena *a = arena_new(PLENTY);
    for (long nth = 1; nth <= 2; nth++) {
        arena_fail_at(nth);
        ck_assert_ptr_null(hash_begin(a));
        arena_fail_at(0);
    }
    arena_free(a);
}
END_TEST

static void *hash_in_thread(void *arg)
{
    char          seed = *(const char *)arg;
    char          bytes[300];
    long          wrong = 0;
    sha256_digest first = {{0}}, first_code = {{0}};
    memset(bytes, seed, sizeof bytes);
    for (int i = 0; i < 2000; i++) {
        sha256_digest d = hash_sha256((str){bytes, sizeof bytes}),
                      c = hash_hmac_sha256(STR("key"), (str){bytes, 9});
        if (i == 0) {
            first = d;
            first_code = c;
        }
        wrong += memcmp(&d, &first, sizeof d) != 0 || memcmp(&c, &first_code, sizeof c) != 0;
    }
    sha256_digest abc = hash_sha256(STR("abc"));
    wrong += abc.at[0] != 0xba || abc.at[31] != 0xad;
    return (void *)wrong;
}

START_TEST(threads_that_hash_at_once_do_not_mix_up)
{
    enum { THREADS = 4 };
    pthread_t   all[THREADS];
    static char seeds[THREADS] = {'a', 'b', 'c', 'd'};
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&all[i], NULL, hash_in_thread, &seeds[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong = NULL;
        pthread_join(all[i], &wrong);
        ck_assert_ptr_null(wrong);
    }
}
END_TEST

START_TEST(hex_is_lower_case_and_keeps_leading_zeroes)
{
    sha256_digest d = {{0x00, 0x0f, 0xf0, 0xAB}};
    char          out[SHA256_HEX + 1];
    memset(out, 'x', sizeof out);
    str s = hash_hex(&d, out);
    ck_assert_uint_eq(s.len, 64);
    ck_assert_int_eq(strncmp(out, "000ff0ab0000", 12), 0);
    ck_assert_int_eq(out[64], '\0');
}
END_TEST

START_TEST(equal_means_the_same_bytes_and_length)
{
    char left[100], right[100];
    memset(left, 7, sizeof left);
    memset(right, 7, sizeof right);
    ck_assert(hash_equal((str){left, 100}, (str){right, 100}));
    ck_assert(hash_equal((str){NULL, 0}, STR("")));
    ck_assert(!hash_equal((str){left, 100}, (str){right, 99}));
    ck_assert(!hash_equal((str){left, 0}, (str){right, 1}));
    for (size_t i = 0; i < sizeof right; i++) {
        right[i] = 8;
        ck_assert_msg(!hash_equal((str){left, 100}, (str){right, 100}), "byte %zu was not compared", i);
        right[i] = 7;
    }
}
END_TEST

Suite *suite_hash(void)
{
    Suite *s = suite_create("hash");
    TCase *c = tcase_create("hash");
    tcase_add_loop_test(c, sha256_gives_the_published_digests, 0, COUNT(sha_vectors));
    tcase_add_test(c, a_million_letters_give_the_published_digest);
    tcase_add_loop_test(c, hmac_gives_the_published_codes, 0, COUNT(hmac_vectors));
    tcase_add_test(c, an_empty_str_without_a_pointer_hashes_as_nothing);
    tcase_add_test(c, pieces_of_any_size_give_the_digest_of_the_whole);
    tcase_add_test(c, other_hashes_between_two_pieces_do_not_disturb);
    tcase_add_test(c, a_task_left_at_any_allocation_leaves_no_context_behind);
    tcase_add_test(c, without_memory_outside_a_task_there_is_no_state);
    tcase_add_test(c, threads_that_hash_at_once_do_not_mix_up);
    tcase_add_test(c, hex_is_lower_case_and_keeps_leading_zeroes);
    tcase_add_test(c, equal_means_the_same_bytes_and_length);
    suite_add_tcase(s, c);
    return s;
}
