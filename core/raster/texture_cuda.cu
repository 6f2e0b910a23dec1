// The texture units of a GPU interpolate: the grid is a CUDA array behind a texture object, a thread fetches
// one pixel.
#include "core/device/check.hpp"
#include "core/raster/bilinear.hpp"
#include "core/raster/raster.hpp"

namespace convoy::raster {

namespace {

constexpr unsigned across = 32, down = 8;  // threads of a block

// Cells on a GPU, with linear filtering between their middles and edges that go on.
class Texture {
  public:
    explicit Texture(const Grid& grid) {
        std::vector<float2> cells;
        cells.reserve(grid.values.size());
        for (const float value : grid.values) {
            const Cell cell = cell_of(value);
            cells.push_back({cell.value, cell.known});
        }
        const auto columns = static_cast<std::size_t>(grid.columns),
                   rows = static_cast<std::size_t>(grid.rows);
        const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
        device::check(cudaMallocArray(&array_, &format, columns, rows), "making a texture");
        const std::size_t bytes = columns * sizeof(float2);
        try {
            device::check(
                cudaMemcpy2DToArray(array_, 0, 0, cells.data(), bytes, bytes, rows, cudaMemcpyHostToDevice),
                "filling a texture");
            cudaResourceDesc resource{};
            resource.resType = cudaResourceTypeArray;
            resource.res.array.array = array_;
            cudaTextureDesc how{};
            how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
            how.filterMode = cudaFilterModeLinear;
            how.readMode = cudaReadModeElementType;
            how.normalizedCoords = 0;
            device::check(cudaCreateTextureObject(&texture_, &resource, &how, nullptr), "making a texture");
        } catch (...) {
            cudaFreeArray(array_);
            throw;
        }
    }
    Texture(const Texture&) = delete;
    Texture& operator=(const Texture&) = delete;
    ~Texture() {
        cudaDestroyTextureObject(texture_);
        cudaFreeArray(array_);
    }
    cudaTextureObject_t get() const { return texture_; }

  private:
    cudaArray_t array_ = nullptr;
    cudaTextureObject_t texture_ = 0;
};

struct Extent {
    int columns, rows;
};

__global__ void fetch(cudaTextureObject_t texture, Extent cells, Extent pixels, float* out) {
    const int x = static_cast<int>(blockIdx.x * across + threadIdx.x),
              y = static_cast<int>(blockIdx.y * down + threadIdx.y);
    if (x >= pixels.columns || y >= pixels.rows) return;
    const float2 sum = tex2D<float2>(texture, place_of(x, pixels.columns, cells.columns),
                                     place_of(y, pixels.rows, cells.rows));
    out[std::int64_t{y} * pixels.columns + x] = shown({sum.x, sum.y});
}

Grid run(const Grid& grid, Index columns, Index rows, const device::Device& device) {
    device::use(device);
    Grid result{columns, rows, std::vector<float>(static_cast<std::size_t>(columns * rows))};
    const std::size_t bytes = result.values.size() * sizeof(float);
    const Texture texture(grid);
    const device::Buffer out(device, bytes);
    const Extent cells{static_cast<int>(grid.columns), static_cast<int>(grid.rows)},
        pixels{static_cast<int>(columns), static_cast<int>(rows)};
    const dim3 blocks(static_cast<unsigned>((columns + across - 1) / across),
                      static_cast<unsigned>((rows + down - 1) / down));
    fetch<<<blocks, dim3(across, down)>>>(texture.get(), cells, pixels, reinterpret_cast<float*>(out.data()));
    device::check_launch("resampling a picture");
    device::check(cudaMemcpy(result.values.data(), out.data(), bytes, cudaMemcpyDeviceToHost),
                  "fetching a picture");
    return result;
}

}  // namespace

extern constinit const Resampler texture_cuda{"texture", device::Backend::cuda, run};

}  // namespace convoy::raster
