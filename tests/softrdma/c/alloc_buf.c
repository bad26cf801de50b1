/* Memory from ibv_alloc_buf (rdma-core's IBVERBS_1.17): ordinary memory to its owner, registered whole or in parts, reached
 * by peers as any other, and by nobody once it is given back. */
#include "process.h"

#include <dlfcn.h>

struct ibv_buf;

/* Newer than the headers this is compiled against: looked up by name. */
static struct {
    void *(*allocate)(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);
    void (*release)(struct ibv_buf *buf);
    struct ibv_mr *(*register_part)(struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length, int access);
} calls;

enum { BYTES = 3 << 20, PART = 1 << 20 };

static void look_up(void)
{
    *(void **)&calls.allocate = dlsym(RTLD_DEFAULT, "ibv_alloc_buf");
    *(void **)&calls.release = dlsym(RTLD_DEFAULT, "ibv_free_buf");
    *(void **)&calls.register_part = dlsym(RTLD_DEFAULT, "ibv_reg_buf_mr");
    if (!calls.allocate || !calls.release || !calls.register_part)
        unsupported("ibv_alloc_buf");
}

static void target(int stream)
{
    struct world world;
    struct side side;
    char go;
    world_open(&world);
    side_open(&world, &side, &usual);
    struct ibv_buf *buf;
    char *memory = calls.allocate(world.pd, BYTES, &buf);
    REQUIRE(memory && (uintptr_t)memory % 4096 == 0, "alloc_buf");
    memset(memory, 1, BYTES);
    struct ibv_mr *usual_mr = side.mr;
    char *usual_buffer = side.buffer;
    side.buffer = memory + PART;
    side.mr = calls.register_part(world.pd, buf, side.buffer, PART, usual.access);
    REQUIRE(side.mr, "reg_buf_mr");
    REQUIRE(!calls.register_part(world.pd, buf, memory + PART, BYTES, usual.access), "past the end of the buffer");
    struct card peer = exchange(stream, &side, 0);
    connect_to(&side, &usual, peer.qp_num);
    REQUIRE(receive(&side, 9, 4096, 64) == 0, "receive into it");
    tell(stream, "r", 1);
    hear(stream, &go, 1);
    REQUIRE(memory[PART - 1] == 1 && memory[PART] == 'w' && memory[2 * PART - 1] == 'w' && memory[2 * PART] == 1, "data");
    expect(side.receive_cq, 9, IBV_WC_SUCCESS);
    REQUIRE(ibv_dereg_mr(side.mr) == 0, "dereg_mr");
    calls.release(buf);
    tell(stream, "f", 1);
    hear(stream, &go, 1);
    side.mr = usual_mr;
    side.buffer = usual_buffer;
    side_close(&side);
    world_close(&world);
}

int main(void)
{
    look_up();
    struct world world;
    struct side side;
    int stream, child = part(&stream);
    char word;
    if (!child) {
        target(stream);
        return 0;
    }
    world_open(&world);
    side_open(&world, &side, &usual);
    struct card peer = exchange(stream, &side, 0);
    connect_to(&side, &usual, peer.qp_num);
    hear(stream, &word, 1);
    memset(side.buffer, 'w', PART);
    struct ibv_sge whole = piece(&side, 0, PART), few = piece(&side, 0, 8);
    struct ibv_send_wr write = request_to(&whole, &peer, 1, IBV_WR_RDMA_WRITE);
    struct ibv_send_wr send = request_to(&few, &peer, 2, IBV_WR_SEND);
    write.next = &send;
    REQUIRE(post_one(&side, &write) == 0, "post");
    expect(side.send_cq, 1, IBV_WC_SUCCESS);
    expect(side.send_cq, 2, IBV_WC_SUCCESS);
    tell(stream, "g", 1);
    hear(stream, &word, 1);
    REQUIRE(word == 'f', "freed");
    write.next = NULL;
    REQUIRE(post_one(&side, &write) == 0, "post");
    expect(side.send_cq, 1, IBV_WC_REM_ACCESS_ERR);
    tell(stream, "g", 1);
    join_child(child);
    side_close(&side);
    world_close(&world);
    return ok("alloc_buf");
}
