/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>
#include <tvm/runtime/crt/internal/common/argument_types.h>
#include <tvm/runtime/crt/internal/common/handles.h>
#include <tvm/runtime/crt/internal/minrpc/time_evaluator.h>
#include <tvm/runtime/crt/internal/timer/quotient.h>
#include <tvm/runtime/crt/platform.h>

#define MOST_NUMBER ((uint64_t)INT32_MAX)
#define MOST_REPEAT (INT32_MAX / (int32_t)sizeof(double)) /* Their results are addressable on every core. */
#define MOST_INDEX 0x7fffu

/* What graphs call where an output has the memory of its input: nothing. TVM's debug executor asks for the time of such nodes too. */
#define NOTHING "__nop"

/* Times of one try are compared in units of 2^-30 s, about a nanosecond. */
#define UNITS_LOG2 30

static const DLDevice cpu = {kDLCPU, 0};

static struct {
  TVMFunctionHandle function; /* NULL for none */
  uint32_t number; /* of calls in one try */
  uint32_t repeat;
  uint64_t min_repeat_ms;
  uint64_t limit_zero_time_iterations;
  tvm_function_index_t index; /* in the handle of the newest evaluator; 0 if there was none */
} evaluator;

/* A time as mantissa * 2^exponent; times are not negative. */
struct time {
  uint64_t mantissa;
  int32_t exponent;
};

static struct time time_of(double seconds) {
  uint64_t bits = 0;
  memcpy(&bits, &seconds, sizeof(bits));
  uint32_t biased = (uint32_t)(bits >> TVM_DOUBLE_FRACTION_BITS) & 0x7ffu;
  uint64_t fraction = bits & (((uint64_t)1 << TVM_DOUBLE_FRACTION_BITS) - 1u);
  struct time time = {0, 0};
  if (biased != 0u && bits >> 63 == 0u) {
    time.mantissa = fraction | (uint64_t)1 << TVM_DOUBLE_FRACTION_BITS;
    time.exponent = (int32_t)biased - TVM_DOUBLE_BIAS - TVM_DOUBLE_FRACTION_BITS;
  }
  return time;
}

/* At least 1, unless it is no time at all. */
static uint64_t units_of(struct time time) {
  int32_t shift = -(time.exponent + UNITS_LOG2);
  if (time.mantissa == 0u) {
    return 0;
  }
  uint64_t units = shift < 0 ? UINT64_MAX : shift > 63 ? 0u : time.mantissa >> shift;
  return units == 0u ? 1u : units;
}

/* How many calls are likely to take as long as a try shall take: by what the last one took, but 1.618 times as many at least. */
static uint32_t next_number(uint64_t wanted, uint64_t taken) {
  uint64_t number = evaluator.number;
  uint64_t grown = number * 1618u / 1000u;
  uint64_t likely = wanted > UINT64_MAX / number ? MOST_NUMBER : wanted * number / taken + 1u;
  uint64_t next = likely > grown ? likely : grown;
  return (uint32_t)(next < MOST_NUMBER ? next : MOST_NUMBER);
}

struct call {
  TVMValue* args;
  int* type_codes;
  int num_args;
};

static int call_once(const struct call* call) {
  TVMValue value;
  int type_code = kTVMNullptr;
  if (evaluator.function == NULL) {
    return 0;
  }
  memset(&value, 0, sizeof(value));
  return TVMFuncCall(evaluator.function, call->args, call->type_codes, call->num_args, &value, &type_code);
}

/* One try. The timer stops whatever happens. */
static int measure(const struct call* call, struct time* taken) {
  double seconds = 0;
  int error = (int)TVMPlatformBeforeMeasurement();
  if (error != 0) {
    return error;
  }
  error = (int)TVMPlatformTimerStart();
  if (error == 0) {
    for (uint32_t i = 0; i < evaluator.number && error == 0; ++i) {
      error = call_once(call);
    }
    int stopped = (int)TVMPlatformTimerStop(&seconds);
    error = error == 0 ? stopped : error;
  }
  int after = (int)TVMPlatformAfterMeasurement();
  *taken = time_of(seconds);
  return error == 0 ? after : error;
}

/* Tries until one takes long enough, and tells the mean. */
static int measure_repeat(const struct call* call, double* mean) {
  uint64_t wanted = (evaluator.min_repeat_ms << UNITS_LOG2) / 1000u;
  uint64_t zeros = 0;
  uint64_t units = 0;
  struct time taken;
  do {
    if (units > 0u) {
      evaluator.number = next_number(wanted, units);
    }
    int error = measure(call, &taken);
    if (error != 0) {
      return error;
    }
    units = units_of(taken);
    zeros += units == 0u;
  } while (units < wanted && zeros < evaluator.limit_zero_time_iterations);
  *mean = TVMQuotient(taken.mantissa, taken.exponent, evaluator.number);
  return 0;
}

/* There is room for so many means, whatever evaluator the calls themselves create. */
static int measure_all(const struct call* call, uint8_t* means, uint32_t repeat) {
  int error = call_once(call); /* caches and memory as they will be */
  for (uint32_t i = 0; i < repeat && error == 0; ++i) {
    double mean = 0;
    error = measure_repeat(call, &mean);
    memcpy(means + i * sizeof(mean), &mean, sizeof(mean));
  }
  return error;
}

/* The arguments by their places, and their types. */
enum { kModule, kFunction, kDeviceType, kDeviceId, kNumber, kRepeat, kMinRepeat, kLimitZero, kCooldown, kRepeatsToCooldown, kCacheFlush, kPreprocess, kArguments };

static bool are_types_right(const int* type_codes) {
  for (int i = 0; i < kArguments; ++i) {
    bool is_text = i == kFunction || i == kPreprocess;
    bool is_right = i == kModule ? type_codes[i] == kTVMModuleHandle
                    : is_text    ? type_codes[i] == kTVMStr
                                 : TVMCrt_IsInteger(type_codes[i]);
    if (!is_right) {
      return false;
    }
  }
  return true;
}

static bool is_between(int64_t value, int64_t least) {
  return value >= least && value <= INT32_MAX;
}

int TVMTimeEvaluator_Create(TVMValue* args, int* type_codes, int num_args, TVMValue* ret_val,
                            int* ret_type_code) {
  TVMFunctionHandle function = NULL;
  if (num_args != kArguments) {
    return kTvmErrorFunctionCallNumArguments;
  }
  if (!are_types_right(type_codes)) {
    return kTvmErrorFunctionCallWrongArgType;
  }
  if (!is_between(args[kNumber].v_int64, 1) || !is_between(args[kRepeat].v_int64, 1) ||
      args[kRepeat].v_int64 > MOST_REPEAT || !is_between(args[kMinRepeat].v_int64, 0) || args[kCooldown].v_int64 != 0) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  int error = TVMModGetFunction(args[kModule].v_handle, args[kFunction].v_str, 0, &function);
  if (error != 0 && (error != kTvmErrorFunctionNameNotFound || strcmp(args[kFunction].v_str, NOTHING) != 0)) {
    return error;
  }
  evaluator.function = function;
  evaluator.number = (uint32_t)args[kNumber].v_int64;
  evaluator.repeat = (uint32_t)args[kRepeat].v_int64;
  evaluator.min_repeat_ms = (uint64_t)args[kMinRepeat].v_int64;
  evaluator.limit_zero_time_iterations = args[kLimitZero].v_int64 < 0 ? 0u : (uint64_t)args[kLimitZero].v_int64;
  evaluator.index = (tvm_function_index_t)(evaluator.index % MOST_INDEX + 1u);
  ret_val->v_handle = TVMCrt_FunctionHandle(TVM_CRT_TIME_EVALUATOR_MODULE_INDEX, evaluator.index);
  *ret_type_code = kTVMPackedFuncHandle;
  return 0;
}

int TVMTimeEvaluator_Run(tvm_function_index_t function_index, TVMValue* args, int* type_codes,
                         int num_args, TVMValue* ret_val, int* ret_type_code) {
  const struct call call = {args, type_codes, num_args};
  uint32_t repeat = evaluator.repeat;
  size_t size = (size_t)repeat * sizeof(double);
  void* array = NULL;
  void* means = NULL;
  if (evaluator.index == 0u || function_index != evaluator.index) {
    return kTvmErrorTimeEvaluatorBadHandle;
  }
  int error = (int)TVMPlatformMemoryAllocate(sizeof(TVMByteArray), cpu, &array);
  if (error != 0) {
    return error;
  }
  error = (int)TVMPlatformMemoryAllocate(size, cpu, &means);
  if (error == 0) {
    error = measure_all(&call, means, repeat);
    if (error != 0) {
      (void)TVMPlatformMemoryFree(means, cpu);
    }
  }
  if (error != 0) {
    (void)TVMPlatformMemoryFree(array, cpu);
    return error;
  }
  TVMByteArray* bytes = array;
  bytes->data = means;
  bytes->size = size;
  ret_val->v_handle = bytes;
  *ret_type_code = kTVMBytes;
  return 0;
}
