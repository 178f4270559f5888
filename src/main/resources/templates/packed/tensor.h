/* A tensor to hand over: its type, and where its elements lie. */
static DLTensor kiln_tensor(const struct kiln_tensor_type* type, const void* data) {
  DLTensor tensor = {
      .data = (void*)data,
      .device = {kDLCPU, 0},
      .ndim = type->ndim,
      .dtype = type->dtype,
      .shape = (int64_t*)type->shape,
  };
  return tensor;
}
