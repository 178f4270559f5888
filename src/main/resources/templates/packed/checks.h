/* What a packed function expects of its arguments: tensors, then integers from 0 to most. Further arguments are not looked at. */
struct kiln_signature {
  const char* function;
  const char* const* names; /* of tensors, then of integers */
  const struct kiln_tensor_type* tensors;
  int tensor_count;
  int integer_count;
  int further; /* how many more arguments there may be */
  int64_t most;
};

/* Adds a text to another one as far as there is room. Returns where it ends. */
static size_t kiln_append(char* to, size_t size, size_t at, const char* text) {
  while (*text != '\0' && at + 1u < size) {
    to[at++] = *text++;
  }
  to[at] = '\0';
  return at;
}

/* The decimal digits of a number that is not negative. */
static size_t kiln_append_number(char* to, size_t size, size_t at, int64_t number) {
  char digits[20];
  size_t first = sizeof(digits) - 1u;
  digits[first] = '\0';
  do {
    digits[--first] = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return kiln_append(to, size, at, &digits[first]);
}

/* An element type as TVM writes it, such as int8. */
static size_t kiln_append_dtype(char* to, size_t size, size_t at, DLDataType dtype) {
  if (dtype.bits == 1) {
    return kiln_append(to, size, at, "bool");
  }
  at = kiln_append(to, size, at, dtype.code == kDLInt ? "int" : dtype.code == kDLUInt ? "uint" : "float");
  return kiln_append_number(to, size, at, dtype.bits);
}

/* Keeps a message about an argument for TVMGetLastError: %f is the function, %p the argument, %t its element type, %k its index or that of
 * a dimension, %n a number. Returns what the function returns then. */
__attribute__((noinline)) static int32_t kiln_refuse(const struct kiln_signature* signature, const char* message, int argument, int k,
                                                     int64_t n) {
  char text[384];
  size_t at = 0;
  for (; *message != '\0'; ++message) {
    const char letter[2] = {*message, '\0'};
    if (*message != '%') {
      at = kiln_append(text, sizeof(text), at, letter);
      continue;
    }
    switch (*++message) {
      case 'f':
        at = kiln_append(text, sizeof(text), at, signature->function);
        break;
      case 'p':
        at = kiln_append(text, sizeof(text), at, signature->names[argument]);
        break;
      case 't':
        at = kiln_append_dtype(text, sizeof(text), at, signature->tensors[argument].dtype);
        break;
      default:
        at = kiln_append_number(text, sizeof(text), at, *message == 'k' ? k : n);
        break;
    }
  }
  TVMAPISetLastError(text);
  return -1;
}

/* Whether a tensor that says how far its elements are apart is dense; a dimension of 1 may say what it likes. */
static int kiln_is_compact(const DLTensor* tensor) {
  int64_t expected = 1;
  for (int32_t k = tensor->ndim - 1; k >= 0; --k) {
    if (tensor->shape[k] != 1 && tensor->strides[k] != expected) {
      return 0;
    }
    expected *= tensor->shape[k];
  }
  return 1;
}

/* Checks a tensor. Returns 0, or -1 with a message. */
static int32_t kiln_check_tensor(const struct kiln_signature* signature, int i, const DLTensor* tensor) {
  const struct kiln_tensor_type* type = &signature->tensors[i];
  if (tensor == NULL) {
    return kiln_refuse(signature, "%f.%p is expected to have non-NULL DLTensor* pointer", i, 0, 0);
  }
  if (tensor->ndim != type->ndim) {
    return kiln_refuse(signature, "%f.%p.ndim is expected to equal %n", i, 0, type->ndim);
  }
  if (tensor->dtype.code != type->dtype.code || tensor->dtype.bits != type->dtype.bits ||
      tensor->dtype.lanes != type->dtype.lanes) {
    return kiln_refuse(signature, "%f.%p.dtype is expected to be %t", i, 0, 0);
  }
  int64_t elements = 1;
  for (int32_t k = 0; k < type->ndim; ++k) {
    if (tensor->shape[k] != type->shape[k]) {
      return kiln_refuse(signature, "Argument %f.%p.shape[%k] has an unsatisfied constraint: %n == %p.shape[%k]", i, k,
                         type->shape[k]);
    }
    elements *= type->shape[k];
  }
  if (tensor->strides != NULL && !kiln_is_compact(tensor)) {
    return kiln_refuse(signature, "%f.%p.strides: expected to be compact array", i, 0, 0);
  }
  if (tensor->byte_offset != 0u) {
    return kiln_refuse(signature, "Argument %f.%p.byte_offset has an unsatisfied constraint: %n == %p.byte_offset", i, 0, 0);
  }
  if (tensor->device.device_type != kDLCPU) {
    return kiln_refuse(signature, "Argument %f.%p.device_type has an unsatisfied constraint: %n == %p.device_type", i, 0,
                       kDLCPU);
  }
  if (elements != 0 && tensor->data == NULL) {
    return kiln_refuse(signature, "%f.%p is expected to have non-NULL data pointer", i, 0, 0);
  }
  const unsigned bytes = (type->dtype.bits + 7u) / 8u;
  if (((uintptr_t)tensor->data & (bytes - 1u)) != 0u) {
    return kiln_refuse(signature, "Argument %f.%p.data has an unsatisfied constraint: 0 == %p.data modulo %n", i, 0, bytes);
  }
  return 0;
}

/* Checks all arguments in the order in which TVM's functions check theirs. Returns 0, or -1 with a message. */
static int32_t kiln_check_arguments(const struct kiln_signature* signature, const TVMValue* args, const int* type_codes, int num_args) {
  const int tensors = signature->tensor_count;
  const int count = tensors + signature->integer_count;
  if (num_args < count || num_args > count + signature->further) {
    return kiln_refuse(signature, "%f: num_args should be %n", 0, 0, count);
  }
  if (count != 0 && args == NULL) {
    return kiln_refuse(signature, "%f: TVMValue* arg pointer was NULL", 0, 0, 0);
  }
  if (count != 0 && type_codes == NULL) {
    return kiln_refuse(signature, "%f: int* type_codes was NULL", 0, 0, 0);
  }
  for (int i = 0; i < count; ++i) {
    const int code = type_codes[i];
    if (i >= tensors && code != kTVMArgInt) {
      return kiln_refuse(signature, "%f: Expect arg[%k] to be int", i, i, 0);
    }
    if (i < tensors && code != kTVMOpaqueHandle && code != kTVMNullptr && code != kTVMDLTensorHandle && code != kTVMNDArrayHandle) {
      return kiln_refuse(signature, "%f: Expect arg[%k] to be pointer", i, i, 0);
    }
  }
  for (int i = 0; i < tensors; ++i) {
    if (kiln_check_tensor(signature, i, (const DLTensor*)args[i].v_handle) != 0) {
      return -1;
    }
  }
  for (int i = tensors; i < count; ++i) {
    if (args[i].v_int64 < 0 || args[i].v_int64 > signature->most) {
      return kiln_refuse(signature, "Argument %f.%p has an unsatisfied constraint: 0 <= %p <= %n", i, 0, signature->most);
    }
  }
  return 0;
}
