/* Wrong arguments of the tool interface: each has its own code, and no error handler is called, not even the fatal one.
 * MPI-5.0 §15.3.10.
 * ranks: 1,2 */
#include "expect.h"

/* These codes are no classes of MPI_Error_class's concern here: compared as they are. */
#define EXPECT_CODE(expected, call) \
    expect_class(__FILE__, __LINE__, #call, "", sigsetjmp(crash_point, 1) ? CRASHED : (call), expected, expected)

static void never(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    (void)instance, (void)registration, (void)safety, (void)data;
    abort();
}

/* There are no events, so no index, registration or instance is valid, whatever its bits. MPI-5.0 §15.3.8 */
static void events_that_are_none(void)
{
    MPI_T_event_registration made = NULL, registrations[] = {NULL, (MPI_T_event_registration)0x7777};
    MPI_T_event_instance instances[] = {NULL, (MPI_T_event_instance)0x7777};
    MPI_Info info;
    MPI_Count ticks;
    int number;
    char buffer[64];
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &made));
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_event_handle_alloc(-1, NULL, MPI_INFO_NULL, &made));
    for (int i = 0; i < 2; i++) {
        MPI_T_event_registration registration = registrations[i];
        MPI_T_event_instance instance = instances[i];
        EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_handle_set_info(registration, MPI_INFO_NULL));
        EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_handle_get_info(registration, &info));
        EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE,
            MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, never));
        EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL));
        EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info));
        EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_set_dropped_handler(registration, NULL));
        EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_handle_free(registration, NULL, NULL));
        EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_read(instance, 0, buffer));
        EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_copy(instance, buffer));
        EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_get_timestamp(instance, &ticks));
        EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_get_source(instance, &number));
    }
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, NULL));
}

int main(int argc, char **argv)
{
    int index, count, provided, length = 0, list[4];
    unsigned long long value = 0;
    MPI_T_cvar_handle control;
    MPI_T_pvar_session session, no_session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle handle, null = MPI_T_PVAR_HANDLE_NULL;
    MPI_Count ticks;
    expect_start(&argc, &argv, "tool_arguments");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    EXPECT_CODE(MPI_T_ERR_NOT_INITIALIZED, MPI_T_pvar_get_num(&count));
    EXPECT_CODE(MPI_T_ERR_NOT_INITIALIZED, MPI_T_pvar_session_create(&session));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_init_thread(MPI_THREAD_SINGLE, NULL));
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);

    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_cvar_get_num(NULL));
    MPI_T_cvar_get_num(&count);
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_cvar_get_info(count, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_cvar_get_info(-1, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    EXPECT_CODE(MPI_T_ERR_INVALID_NAME, MPI_T_cvar_get_index("weft_no_such_thing", &index));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_cvar_get_index(NULL, &index));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_cvar_get_index("weft_lanes", NULL));
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_cvar_handle_alloc(count, NULL, &control, &length));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_cvar_handle_alloc(0, NULL, NULL, &length));
    EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, &value));
    EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_cvar_write((MPI_T_cvar_handle)0x7777, &value));
    control = MPI_T_CVAR_HANDLE_NULL;
    EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_cvar_handle_free(&control));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_cvar_handle_free(NULL));
    MPI_T_cvar_handle_alloc(0, NULL, &control, &length);
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_cvar_read(control, NULL));
    EXPECT_CODE(MPI_T_ERR_CVAR_SET_NEVER, MPI_T_cvar_write(control, &value));

    MPI_T_pvar_get_num(&count);
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_pvar_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    EXPECT_CODE(MPI_T_ERR_INVALID_NAME, MPI_T_pvar_get_index("weft_messages_eager", MPI_T_PVAR_CLASS_TIMER, &index));
    EXPECT_CODE(MPI_T_ERR_INVALID_NAME, MPI_T_pvar_get_index("", MPI_T_PVAR_CLASS_COUNTER, &index));
    EXPECT_CODE(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_handle_alloc(no_session, 0, NULL, &handle, &length));
    EXPECT_CODE(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_session_free(&no_session));
    MPI_T_pvar_session_create(&session);
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_pvar_handle_alloc(session, count, NULL, &handle, &length));
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_pvar_handle_alloc(session, -1, NULL, &handle, &length));
    EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_read(session, null, &value));
    EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value));
    EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_readreset(session, MPI_T_PVAR_ALL_HANDLES, &value));
    EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_start(session, null));
    EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_handle_free(session, &null));
    EXPECT_CODE(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_start(no_session, MPI_T_PVAR_ALL_HANDLES));
    MPI_T_pvar_get_index("weft_posted_length", MPI_T_PVAR_CLASS_LEVEL, &index);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &length);
    EXPECT_CODE(MPI_T_ERR_PVAR_NO_STARTSTOP, MPI_T_pvar_start(session, handle));
    EXPECT_CODE(MPI_T_ERR_PVAR_NO_STARTSTOP, MPI_T_pvar_stop(session, handle));
    EXPECT_CODE(MPI_T_ERR_PVAR_NO_WRITE, MPI_T_pvar_write(session, handle, &value));
    EXPECT_CODE(MPI_T_ERR_PVAR_NO_WRITE, MPI_T_pvar_reset(session, handle));
    EXPECT_CODE(MPI_T_ERR_PVAR_NO_WRITE, MPI_T_pvar_readreset(session, handle, &value));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_pvar_read(session, handle, NULL));

    EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_enum_get_info(MPI_T_ENUM_NULL, &count, NULL, NULL));
    EXPECT_CODE(MPI_T_ERR_INVALID_HANDLE, MPI_T_enum_get_item((MPI_T_enum)0x30, 0, &count, NULL, NULL));
    MPI_T_category_get_num(&count);
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_cvars(-1, 4, list));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_category_get_cvars(0, -1, list));
    EXPECT_CODE(MPI_T_ERR_INVALID_NAME, MPI_T_category_get_index("none", &index));
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_num_events(count, &length));
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_pvars(count, 4, list));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_category_get_pvars(0, -1, list));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_category_get_pvars(0, 4, NULL));
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_categories(-1, 4, list));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_category_get_categories(0, -4, list));
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_events(count, 4, list));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_category_get_events(0, -4, list));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_category_get_num(NULL));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_category_get_index(NULL, &index));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_category_changed(NULL));

    EXPECT_CODE(MPI_T_ERR_INVALID_NAME, MPI_T_event_get_index("none", &index));
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_event_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_source_get_timestamp(0, &ticks));
    EXPECT_CODE(MPI_T_ERR_INVALID_INDEX, MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_event_get_num(NULL));
    EXPECT_CODE(MPI_T_ERR_INVALID, MPI_T_source_get_num(NULL));
    events_that_are_none();
    MPI_T_finalize();
    EXPECT_CODE(MPI_T_ERR_NOT_INITIALIZED, MPI_T_event_copy(NULL, list));
    EXPECT_CODE(MPI_T_ERR_NOT_INITIALIZED, MPI_T_finalize());
    EXPECT_CODE(MPI_T_ERR_NOT_INITIALIZED, MPI_T_pvar_read(session, handle, &value));
    EXPECT_CODE(MPI_T_ERR_NOT_INITIALIZED, MPI_T_category_changed(&count));
    return expect_finish();
}
