// MPI from C++: the header is the C one; what C++ adds is that a vector's memory can be sent as it is.
//
//     mpicxx hello.cpp -o hello_cpp && mpiexec -n 4 hello_cpp
#include <mpi.h>

#include <iostream>
#include <numeric>
#include <vector>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    // Rank r contributes r + 1; everyone receives everyone's contribution.
    const int mine = rank + 1;
    std::vector<int> all(size);
    MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);

    const int sum = std::accumulate(all.begin(), all.end(), 0);
    const bool right = sum == size * (size + 1) / 2;
    if (rank == 0)
        std::cout << "hello from C++: the sum of 1 to " << size << " is " << sum << (right ? "" : " (wrong)") << std::endl;

    MPI_Finalize();
    return right ? 0 : 1;
}
