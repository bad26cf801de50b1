// What programs in C++ take from Open MPI 4's library: its header's classes, shortened, whose inline members are in the program.
#include <mpi.h>
#include <cstdio>
#include <cstdlib>

extern "C" void ompi_mpi_cxx_op_intercept(void *, void *, int *, MPI_Datatype *, MPI_User_function *);
extern "C" void ompi_op_set_cxx_callback(MPI_Op, MPI_User_function *);

namespace MPI {
struct Datatype {
    MPI_Datatype handle;
    explicit Datatype(MPI_Datatype of) : handle(of) {}
    inline virtual ~Datatype() {}
    virtual int Get_size() const;
    virtual void Free();
};
struct Comm_Null {
    MPI_Comm handle = MPI_COMM_NULL;
    inline virtual ~Comm_Null() {}
};
struct Comm : Comm_Null {
    Comm();
    inline virtual ~Comm() {}
    virtual int Get_rank() const { int rank; MPI_Comm_rank(handle, &rank); return rank; }
};
struct Intracomm : Comm {
    inline virtual ~Intracomm() {}
    virtual int Get_size() const { int size; MPI_Comm_size(handle, &size); return size; }
};
struct Win {
    MPI_Win handle;
    inline virtual ~Win() {}
    virtual void Fence(int) const;
    virtual void Free();
};
// Inline, but not in the class: so compilers put the classes' tables of virtual functions into the program.
inline int Datatype::Get_size() const { int size; MPI_Type_size(handle, &size); return size; }
inline void Win::Fence(int assertion) const { MPI_Win_fence(assertion, handle); }
typedef void User_function(const void *, void *, int, const Datatype &);
void InitializeIntercepts();
extern Intracomm COMM_WORLD;
extern Comm_Null COMM_NULL;
extern const Datatype INT, DOUBLE;
extern void *const IN_PLACE;
}

static int told_size = 0;

static void greatest(const void *in, void *inout, int length, const MPI::Datatype &datatype)
{
    told_size = datatype.Get_size();
    for (int i = 0; i < length; i++)
        if (((const int *)in)[i] > ((int *)inout)[i])
            ((int *)inout)[i] = ((const int *)in)[i];
}

static void check(bool right, const char *what)
{
    if (!right) {
        std::fprintf(stderr, "wrong: %s\n", what);
        std::exit(1);
    }
}

// Filled before constructors of the program's run.
static MPI_Comm seen_early = MPI::COMM_WORLD.handle;

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI::InitializeIntercepts();
    check(seen_early == MPI_COMM_WORLD && MPI::COMM_NULL.handle == MPI_COMM_NULL, "handles");
    MPI::Intracomm &world = MPI::COMM_WORLD;
    int rank = world.Get_rank(), size = world.Get_size(), values[2] = {rank, -rank};
    check(size == 2 && rank < 2, "virtual functions of a communicator");
    const MPI::Datatype &type = MPI::DOUBLE;
    check(type.Get_size() == 8 && MPI::INT.handle == MPI_INT, "virtual functions of a datatype");
    check(MPI::Intracomm().handle == MPI_COMM_NULL, "constructors");
    MPI_Op op;
    MPI_Op_create((MPI_User_function *)ompi_mpi_cxx_op_intercept, 1, &op);
    ompi_op_set_cxx_callback(op, (MPI_User_function *)greatest);
    MPI_Allreduce(MPI::IN_PLACE, values, 2, MPI_INT, op, world.handle);
    check(values[0] == 1 && values[1] == 0 && told_size == (int)sizeof(int), "an operation");
    MPI_Op_free(&op);
    MPI::Datatype pair(MPI_DATATYPE_NULL);
    MPI_Type_contiguous(2, MPI_INT, &pair.handle);
    pair.Free();
    MPI::Win window;
    MPI_Win_create(values, sizeof values, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window.handle);
    window.Fence(0);
    window.Free();
    check(pair.handle == MPI_DATATYPE_NULL && window.handle == MPI_WIN_NULL, "handles of what was freed");
    MPI_Finalize();
    if (rank == 0)
        std::puts("ok binding");
    return 0;
}
