/* What a packed function expects of a tensor: dimensions of these sizes, dense, on the CPU. */
struct kiln_tensor_type {
  const int64_t* shape;
  int32_t ndim;
  DLDataType dtype;
};
