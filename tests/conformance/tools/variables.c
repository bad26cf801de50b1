/* The tool interface before MPI_Init and after MPI_Finalize; every variable and category by index and by name; strings
 * and lengths; control variables read and written. MPI-5.0 §15.3. */
#include "check_tools.h"

static void initialise(int times)
{
    for (int i = 0; i < times; i++) {
        int provided = -1;
        int required = i % 2 ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
        CHECK_EQUAL(MPI_T_init_thread(required, &provided), MPI_SUCCESS, "MPI-5.0 §15.3.4");
        CHECK_EQUAL(provided, required, "MPI-5.0 §15.3.4");
    }
}

/* Finalised as often as initialised: usable until the last. */
static void counted(void)
{
    int count = -1;
    CHECK_EQUAL(MPI_T_cvar_get_num(&count), MPI_T_ERR_NOT_INITIALIZED, "MPI-5.0 §15.3.10");
    CHECK_EQUAL(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED, "MPI-5.0 §15.3.10");
    initialise(2);
    MPI_T_finalize();
    CHECK_EQUAL(MPI_T_cvar_get_num(&count), MPI_SUCCESS, "MPI-5.0 §15.3.4");
    MPI_T_finalize();
    CHECK_EQUAL(MPI_T_cvar_get_num(&count), MPI_T_ERR_NOT_INITIALIZED, "MPI-5.0 §15.3.4");
}

/* A name that is cut, whole, or not asked for: §15.3.3. */
static void strings(void)
{
    char name[256], short_name[8];
    int length = 0, all;
    MPI_T_cvar_get_info(0, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    all = length;
    CHECK(all > (int)sizeof short_name, "MPI-5.0 §15.3.3: the length that is needed");
    length = sizeof name;
    MPI_T_cvar_get_info(0, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    CHECK_EQUAL(strlen(name) + 1, all, "MPI-5.0 §15.3.3");
    CHECK_EQUAL(length, all, "MPI-5.0 §15.3.3");
    length = sizeof short_name;
    MPI_T_cvar_get_info(0, short_name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    CHECK_EQUAL(strlen(short_name), sizeof short_name - 1, "MPI-5.0 §15.3.3: cut");
    CHECK(strncmp(short_name, name, sizeof short_name - 1) == 0, "MPI-5.0 §15.3.3");
    CHECK_EQUAL(length, all, "MPI-5.0 §15.3.3: the whole length");
    strcpy(short_name, "kept");
    MPI_T_cvar_get_info(0, short_name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    CHECK(strcmp(short_name, "kept") == 0, "MPI-5.0 §15.3.3: no length, no string");
    length = 0;
    MPI_T_cvar_get_info(0, short_name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    CHECK(strcmp(short_name, "kept") == 0 && length == all, "MPI-5.0 §15.3.3: a length of zero");
}

static void controls(void)
{
    int count = 0;
    MPI_T_cvar_get_num(&count);
    CHECK(count > 0, "this library has some");
    for (int i = 0; i < count; i++) {
        char name[256], description[512];
        int name_length = sizeof name, description_length = sizeof description, index = -1, elements = -1;
        int verbosity = -1, bind = -1, scope = -1;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_enum enumeration;
        MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
        number value = 0;
        char text[4096];
        MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &enumeration, description,
                            &description_length, &bind, &scope);
        CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL, "MPI-5.0 §15.3.1");
        CHECK((type == MPI_UNSIGNED_LONG_LONG || type == MPI_CHAR) && enumeration == MPI_T_ENUM_NULL, "MPI-5.0 §15.3.5");
        CHECK_EQUAL(bind, MPI_T_BIND_NO_OBJECT, "MPI-5.0 §15.3.2");
        CHECK(description_length > 10, "a description");
        MPI_T_cvar_get_index(name, &index);
        CHECK_EQUAL(index, i, "MPI-5.0 §15.3.6");
        CHECK_EQUAL(MPI_T_cvar_handle_alloc(i, NULL, &handle, &elements), MPI_SUCCESS, "MPI-5.0 §15.3.6");
        if (type == MPI_CHAR) {
            CHECK(elements >= 1 && elements <= (int)sizeof text, "MPI-5.0 §15.3.6");
            memset(text, 'x', sizeof text);
            CHECK_EQUAL(MPI_T_cvar_read(handle, text), MPI_SUCCESS, "MPI-5.0 §15.3.6");
            CHECK(memchr(text, 0, elements) != NULL, "a string ends within its elements: MPI-5.0 §15.3.6");
            CHECK_EQUAL(scope, MPI_T_SCOPE_CONSTANT, "chosen before MPI_Init");
            CHECK_EQUAL(MPI_T_cvar_write(handle, text), MPI_T_ERR_CVAR_SET_NEVER, "MPI-5.0 §15.3.10");
            MPI_T_cvar_handle_free(&handle);
            continue;
        }
        CHECK_EQUAL(elements, 1, "MPI-5.0 §15.3.6");
        CHECK_EQUAL(MPI_T_cvar_read(handle, &value), MPI_SUCCESS, "MPI-5.0 §15.3.6");
        if (scope == MPI_T_SCOPE_CONSTANT) {
            CHECK(value > 0, "a setting", "%s is %llu", name, value);
            CHECK_EQUAL(MPI_T_cvar_write(handle, &value), MPI_T_ERR_CVAR_SET_NEVER, "MPI-5.0 §15.3.10");
        } else {
            /* one for all processes may be an algorithm's number, of which there are few */
            number changed = scope == MPI_T_SCOPE_ALL_EQ ? value + 1 : value / 2 + 17, seen = 0, beyond = 1ull << 40;
            CHECK_EQUAL(MPI_T_cvar_write(handle, &changed), MPI_SUCCESS, "MPI-5.0 §15.3.6");
            MPI_T_cvar_read(handle, &seen);
            CHECK_EQUAL(seen, changed, "MPI-5.0 §15.3.6");
            CHECK_EQUAL(MPI_T_cvar_write(handle, &beyond), MPI_T_ERR_INVALID, "MPI-5.0 §15.3.10");
            MPI_T_cvar_write(handle, &value);
        }
        MPI_T_cvar_handle stale = handle;
        MPI_T_cvar_handle_free(&handle);
        CHECK(handle == MPI_T_CVAR_HANDLE_NULL, "MPI-5.0 §15.3.6");
        CHECK_EQUAL(MPI_T_cvar_read(stale, &value), MPI_T_ERR_INVALID_HANDLE, "MPI-5.0 §15.3.10");
    }
}

static void performances(void)
{
    int count = 0, states = 0;
    MPI_T_pvar_get_num(&count);
    CHECK(count > 0, "this library has some");
    for (int i = 0; i < count; i++) {
        char name[256];
        int length = sizeof name, class = -1, readonly = -1, continuous = -1, atomic = -1, index = -1;
        MPI_Datatype type;
        MPI_T_enum enumeration;
        MPI_T_pvar_get_info(i, name, &length, NULL, &class, &type, &enumeration, NULL, NULL, NULL, &readonly,
                            &continuous, &atomic);
        MPI_T_pvar_get_index(name, class, &index);
        CHECK_EQUAL(index, i, "MPI-5.0 §15.3.7");
        CHECK(readonly >= 0 && readonly <= 1 && continuous >= 0 && continuous <= 1 && atomic >= 0 && atomic <= 1,
              "MPI-5.0 §15.3.7");
        CHECK((class == MPI_T_PVAR_CLASS_STATE) == (enumeration != MPI_T_ENUM_NULL), "MPI-5.0 §15.3.7: states only");
        CHECK(type == (class == MPI_T_PVAR_CLASS_STATE ? MPI_INT : MPI_UNSIGNED_LONG_LONG), "MPI-5.0 §15.3.7");
        if (enumeration == MPI_T_ENUM_NULL)
            continue;
        int items = 0, value = -1;
        states++;
        length = sizeof name;
        MPI_T_enum_get_info(enumeration, &items, name, &length);
        CHECK(items > 1 && length > 1, "MPI-5.0 §15.3.5");
        for (int item = 0; item < items; item++) {
            length = sizeof name;
            MPI_T_enum_get_item(enumeration, item, &value, name, &length);
            CHECK(value == item && length > 1, "MPI-5.0 §15.3.5");
        }
        CHECK_EQUAL(MPI_T_enum_get_item(enumeration, items, &value, NULL, NULL), MPI_T_ERR_INVALID_ITEM,
                    "MPI-5.0 §15.3.10");
    }
    CHECK_EQUAL(states, 1, "this library has one");
}

/* Every variable is in a category. */
static void categories(void)
{
    int count = 0, controls = 0, performances = 0, all_controls, all_performances, number_of_update = -1;
    MPI_T_category_get_num(&count);
    MPI_T_cvar_get_num(&all_controls);
    MPI_T_pvar_get_num(&all_performances);
    for (int i = 0; i < count; i++) {
        char name[256];
        int length = sizeof name, index = -1, cvars, pvars, within, events = -1, list[64];
        MPI_T_category_get_info(i, name, &length, NULL, NULL, &cvars, &pvars, &within);
        MPI_T_category_get_index(name, &index);
        CHECK_EQUAL(index, i, "MPI-5.0 §15.3.9");
        MPI_T_category_get_cvars(i, 64, list);
        for (int k = 0; k < cvars; k++)
            CHECK(list[k] >= 0 && list[k] < all_controls, "MPI-5.0 §15.3.9");
        MPI_T_category_get_pvars(i, 64, list);
        for (int k = 0; k < pvars; k++)
            CHECK(list[k] >= 0 && list[k] < all_performances, "MPI-5.0 §15.3.9");
        MPI_T_category_get_categories(i, 64, list);
        for (int k = 0; k < within; k++)
            CHECK(list[k] > i && list[k] < count, "MPI-5.0 §15.3.9");
        list[0] = list[1] = -7;
        MPI_T_category_get_pvars(i, pvars > 0, list);
        CHECK_EQUAL(list[1], -7, "MPI-5.0 §15.3.9: no more than there is room for");
        MPI_T_category_get_num_events(i, &events);
        CHECK_EQUAL(events, 0, "this library has no events");
        controls += cvars;
        performances += pvars;
    }
    CHECK_EQUAL(controls, all_controls, "each in one category");
    CHECK_EQUAL(performances, all_performances, "each in one category");
    CHECK_EQUAL(MPI_T_category_changed(&number_of_update), MPI_SUCCESS, "MPI-5.0 §15.3.9");
    CHECK_EQUAL(number_of_update, 0, "nothing changes");
}

static void all(void)
{
    strings();
    controls();
    performances();
    categories();
}

int main(int argc, char **argv)
{
    counted();
    initialise(1);
    all();
    check_start(&argc, &argv, "variables");
    all();
    check_report();
    MPI_Finalize();
    all();
    MPI_T_finalize();
    return 0;
}
