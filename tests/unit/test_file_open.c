/* Opening a file for writing, and what happens meanwhile. */
#include "test_file.h"

#include <sys/syscall.h>

/* ---- something happens between reading the image and taking the lock ---- */

static void (*meanwhile)(void);

/* Asked for the folder, the library has read the image and has no lock yet. */
char *getcwd(char *out, size_t room)
{
    static char here[4096];
    void (*happens)(void) = meanwhile;
    meanwhile = NULL;
    if (happens)
        happens();
    if (syscall(SYS_getcwd, out ? out : here, out ? room : sizeof here) < 0)
        return NULL;
    return out ? out : strdup(here);
}

static void another_grows_it(void)
{
    seen_set *other = open_set("f", SEEN_ALONE);
    add_range(other, 1000, 1000);
    seen_close(other);
}

static void another_turns_it(void)
{
    seen_set *other = open_set("f", 0);
    for (int i = 0; i < 3; i++)
        OK(seen_rotate(other, error));
    add_range(other, 1000, 1000);
    seen_close(other);
}

/* Who has a file for itself does not look again whether it has grown: it must know all that there
 * is from the beginning, or it puts its next layer in the place of one that others have filled. */
static void test_changed_before_alone(void **state)
{
    (void)state;
    char here[1000];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(scratch_path), 0);
    for (int window = 0; window < 2; window++) {
        seen_options options = plain_options(SEEN_BLOOM, window ? SEEN_WINDOW : SEEN_GROWING,
                                             window ? 9000 : 50, 1e-6);
        seen_set *set = NULL;
        seen_close(create("f", options, 0));
        meanwhile = window ? another_turns_it : another_grows_it;
        OK(seen_open("f", NULL, SEEN_ALONE, &set, error));
        assert_null(meanwhile);
        assert_int_equal(count_there(set, 1000, 1000), 1000);
        add_range(set, 5000, MANY);
        assert_int_equal(count_there(set, 1000, 1000), 1000);
        seen_close(set);
        set = open_set("f", 0);
        assert_int_equal(count_there(set, 1000, 1000), 1000);
        assert_int_equal(count_there(set, 5000, MANY), MANY);
        seen_close(set);
        drop("f");
    }
    assert_int_equal(chdir(here), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changed_before_alone),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
