/* The elements of a tensor that was handed over. */
static void* kiln_data(const TVMValue* value) {
  return ((const DLTensor*)value->v_handle)->data;
}
